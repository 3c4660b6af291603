"""A described drive or array as a file that responds in real time, for any program that reads and writes files."""

from diskmodel.mount.served import Served, Stopper, serve
from diskmodel.mount.store import DATA_KINDS, DataKind

__all__ = ["DATA_KINDS", "DataKind", "Served", "Stopper", "serve"]
