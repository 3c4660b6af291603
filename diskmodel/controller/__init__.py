"""The RAID controller: caches and the link to the host."""

from diskmodel.controller.description import Controller, ReadCache, WriteCache

__all__ = ["Controller", "ReadCache", "WriteCache"]
