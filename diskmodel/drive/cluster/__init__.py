"""A pool of a cluster: copies or erasure-coded fragments of blocks on the drives of several nodes (Ceph)."""
