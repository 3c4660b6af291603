"""One access to the drive: bus, cache, seek, arrival at the blocks, handover, stalls."""
