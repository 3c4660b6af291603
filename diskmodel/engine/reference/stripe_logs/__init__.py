"""Logs that stripes of a parity array are written to before they are written to its members."""
