"""Pools of OpenZFS: where records lie, and how a pool reads, writes, logs and scans."""
