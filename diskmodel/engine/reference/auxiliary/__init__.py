"""Drives at places of their own beside the members of an array."""
