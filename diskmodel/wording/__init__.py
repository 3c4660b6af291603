"""Descriptions in a line of words."""
