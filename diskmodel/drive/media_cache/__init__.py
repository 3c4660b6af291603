"""The media cache of a hard disk: a log on its platters that takes short writes until they are cleaned (rules G)."""

from diskmodel.drive.media_cache.description import MediaCache
from diskmodel.drive.media_cache.tables import MediaCacheTables

__all__ = ["MediaCache", "MediaCacheTables"]
