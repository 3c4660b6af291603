"""Answers on a screen, on paper and in a notebook."""
