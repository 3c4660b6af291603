"""The past of a workload, drawn as far back as it is asked for: what it has left in caches of any station."""
