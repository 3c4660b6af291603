"""Workloads from recordings, jobs of benchmarks, and traces."""
