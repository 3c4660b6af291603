"""A result on a screen and in a notebook."""
