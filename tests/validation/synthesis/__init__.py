"""How well a synthetic workload stands for the trace that it was fitted to: replays of both on the same arrays."""
