"""Finding the answer: arrays are evaluated, judged, and searched for the fewest disks."""
