"""Explanations for people: text of 80 columns, and a page."""
