"""What Linux md does beside planning requests: a pass over the members, its barrier, and logs of stripes."""
