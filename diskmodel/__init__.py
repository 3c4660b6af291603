"""Storage capacity planning by simulation."""

__version__ = "0.1.0"
