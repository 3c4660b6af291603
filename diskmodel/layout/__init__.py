"""Striping, mirrors, parity: which disks serve a request, in which phases."""
