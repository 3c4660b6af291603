"""Striping, mirrors, parity: which disks serve a request, in which phases."""

from diskmodel.layout.description import Layout, Rebuild

__all__ = ["Layout", "Rebuild"]
