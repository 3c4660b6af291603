"""Things of a catalogue by part of their names, or by the model number that a system reports."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping
from functools import lru_cache

#: A maker's model number: seven letters and digits or more, both among them, and no unit at its end.
MODEL = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{7,}")
_SIZE = re.compile(r"(?<!\d)(\d+(?:\.\d+)?) ([gt]b)\b")
#: Words that say what a thing is made of and not which one it is: they choose nothing alone, nor does a maker's name.
#: "WD Black" are hard disks as well as SSDs, of which the catalogue has one.
_COMMON = set(
    "ssd ssds hdd hdds sas sata nvme flash disk disks drive drives rpm desktop generic archive pro max black".split()
)
_PARTS = re.compile(r"[^a-z0-9.]+")


def words_of(text: str) -> list[str]:
    """Return the words of a name in lower case; a size is one word: "16tb".

    Examples
    --------
    >>> words_of("Seagate Exos X16 ST16000NM001G 16 TB")
    ['seagate', 'exos', 'x16', 'st16000nm001g', '16tb']
    """
    return list(_words(text))


#: Every name of a catalogue is asked for its words whenever a text is looked up.
@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in _PARTS.split(_SIZE.sub(r"\1\2", text.lower())) if word)


def meant(text: str, known: Mapping[str, str]) -> list[str]:
    """Return the names of what a text may mean, in their order; one name where it is clear.

    A model number decides, with what a system adds to it ("ATA ST16000NM001G-2KK103"); where several drives share it,
    the other words do. Otherwise each word has to be one of the name or the title, and one of them has to say more than
    "ssd" or the name of a maker.

    Parameters
    ----------
    text : str
    known : mapping of str to str
        Titles, with model numbers in them, by name.

    Examples
    --------
    >>> known = {"seagate-exos-x16": "Exos X16 ST16000NM001G 16 TB", "seagate-exos-x18": "Exos X18 ST18000NM000J 18 TB"}
    >>> meant("exos x16", known), meant("ST18000NM000J-2TV103", known), meant("exos", known)
    (['seagate-exos-x16'], ['seagate-exos-x18'], ['seagate-exos-x16', 'seagate-exos-x18'])
    """
    asked = words_of(text)
    words = {name: {*_words(name), *_words(title)} for name, title in known.items()}
    numbers = {word for word in asked if MODEL.fullmatch(word)}
    by_number = [name for name, own in words.items() if numbers & own]
    if by_number:
        return [name for name in by_number if words[name].issuperset(asked)] or by_number
    together = "".join(asked)
    makers = {_words(name)[0] for name in known}
    if text not in known and _COMMON.union(makers).issuperset(asked):
        return []
    return [
        name for name, own in words.items() if asked and (own.issuperset(asked) or together == "".join(_words(name)))
    ]


def close_to(text: str, known: Mapping[str, str], most: int = 5) -> list[str]:
    """Return names that are spelled like a text, or whose model numbers are, nearest first."""
    lowered = text.lower()
    found = difflib.get_close_matches(lowered, known, n=most, cutoff=0.5)
    found += [name for name in known if lowered in name and name not in found]
    numbers = {word: name for name, title in known.items() for word in words_of(title) if MODEL.fullmatch(word)}
    like = [name for word in words_of(text) for name in _near(word, numbers)]
    return list(dict.fromkeys([*like, *found]))[:most]


def _near(word: str, numbers: Mapping[str, str]) -> list[str]:
    if not MODEL.fullmatch(word):
        return []
    return [numbers[number] for number in difflib.get_close_matches(word, numbers, n=3, cutoff=0.75)]


def several(found: Collection[str], most: int = 8) -> str:
    """Return the fix for a text that may mean any of these."""
    shown = ", ".join(list(found)[:most])
    more = f" and {len(found) - most} more" if len(found) > most else ""
    return f"write one of {shown}{more}"
