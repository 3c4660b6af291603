"""Readers of what others measured: one file a format."""
