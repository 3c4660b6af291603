"""RAID as Linux md makes it, or a controller of its own: strips, copies and parity over several disks."""
