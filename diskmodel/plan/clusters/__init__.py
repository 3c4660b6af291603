"""How many nodes and drives a pool of a cluster needs."""
