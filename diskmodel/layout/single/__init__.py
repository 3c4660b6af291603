"""A disk on its own."""
