"""A traced drive in the terms of the simulation engines."""
