"""Descriptions in a line of words."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.wording.arrays import of_words, with_level
    from diskmodel.wording.cache_devices import NamedCache, cache_device_of, with_cache_drive

__getattr__ = face(
    __name__,
    {
        "arrays": "of_words with_level",
        "cache_devices": "NamedCache cache_device_of with_cache_drive",
    },
)
