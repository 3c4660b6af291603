"""What a pool of OpenZFS does above its layout: reads, writes, the intent log, a resilver or a scrub."""
