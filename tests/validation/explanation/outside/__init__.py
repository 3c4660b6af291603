"""Faults that are planted outside of the engine, by a small simulator of its own that shares no code with it."""
