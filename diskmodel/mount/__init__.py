"""A described drive or array as a file that responds in real time, for any program that reads and writes files."""

from typing import TYPE_CHECKING

from diskmodel.mount.served import Served, Stopper, serve
from diskmodel.mount.store import DATA_KINDS, DataKind
from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.mount.store import describe

__all__ = ["DATA_KINDS", "DataKind", "Served", "Stopper", "serve"]

__getattr__ = face(
    __name__,
    {
        "store": "describe",
    },
)
