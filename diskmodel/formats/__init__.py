"""Latency, load and hardware as other programs write them: readers and writers of their files."""
