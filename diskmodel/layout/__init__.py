"""Striping, mirrors, parity: which disks serve a request, in which phases."""

from diskmodel.layout.kinds import VOLUMES

# whoever imports a layout finds all of its kinds
__all__ = ["VOLUMES"]
