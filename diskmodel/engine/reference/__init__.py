"""The reference engine: event adapters over SimPy, one for each station on a request's path."""
