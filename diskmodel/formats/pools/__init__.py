"""What a machine knows about its pools of OpenZFS: their shape (zpool status) and their cache (arcstats)."""

from diskmodel.formats.pools.arcstats import ArcFacts, arc_of_texts, is_arcstats
from diskmodel.formats.pools.status import Pool, Scan, Vdev, is_status, pools_of_text

KINDS = ("zpool-status", "arcstats")


def kind_of(text: str) -> str | None:
    """Which of the two a text is, or None."""
    if is_status(text):
        return "zpool-status"
    return "arcstats" if is_arcstats(text) else None


__all__ = ["KINDS", "ArcFacts", "Pool", "Scan", "Vdev", "arc_of_texts", "is_status", "kind_of", "pools_of_text"]
