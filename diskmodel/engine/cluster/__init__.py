"""The engine of pools of clusters: clients, network, daemons and drives as stations."""
