"""What a machine knows about its pools of OpenZFS: their shape (zpool status, list -v) and their cache (arcstats)."""

from diskmodel.formats.pools.arcstats import ArcFacts, arc_of_texts, is_arcstats
from diskmodel.formats.pools.listing import is_list, pools_of_list
from diskmodel.formats.pools.status import Pool, Scan, Vdev, is_status, pools_of_text

KINDS = ("zpool-status", "zpool-list", "arcstats")

#: Reads the pools of a text, by its kind.
READERS = {"zpool-status": pools_of_text, "zpool-list": pools_of_list}


def kind_of(text: str) -> str | None:
    """Which of these a text is, or None."""
    if is_status(text):
        return "zpool-status"
    if is_list(text):
        return "zpool-list"
    return "arcstats" if is_arcstats(text) else None


__all__ = [
    "KINDS",
    "READERS",
    "ArcFacts",
    "Pool",
    "Scan",
    "Vdev",
    "arc_of_texts",
    "is_status",
    "kind_of",
    "pools_of_text",
]
