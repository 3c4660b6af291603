"""Finding the fewest disks of one family that meet an objective."""
