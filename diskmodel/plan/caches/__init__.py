"""Plans with caches on SSDs: with each, and without, the fewest disks behind."""
