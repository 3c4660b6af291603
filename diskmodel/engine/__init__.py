"""Run a request along its path."""
