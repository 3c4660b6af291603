"""Trying one array: it is evaluated, and its outcome compared with the objective."""
