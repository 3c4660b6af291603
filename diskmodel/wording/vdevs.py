"""Pools in words: how many vdevs there are, and of how many drives each, as people say it."""

from __future__ import annotations

import re

from diskmodel.errors import DescriptionError, Fault

#: "3x exos-x18 mirrors" are one mirror of three; of more, several are meant.
_MOST_OF_A_MIRROR = 3
_VDEV = r"(?P<level>raid-?z-?[123]?|(?:striped\s+)?mirrors?)"
_WIDE = r"(?:(?P<wide>\d{1,6})[\s-]*(?:wide|way|disks?|drives?)\s+)?"
#: Vdevs as people write them: "24x exos-x20 as 3x raidz2 of 8", "… 3x 8-wide raidz2", "… in 2 raidz2 vdevs".
_IN_VDEVS = (
    # "6x2 …" says how many disks each has already
    r"(?P<disks>\d{1,6})(?:\s*[x×]\s*|\s+)(?!\d{1,6}[\sx×])(?P<drive>\S.*?)\s+(?:(?:as|in)\s+)?"
    rf"(?:(?P<vdevs>\d{{1,6}})\s*(?:[x×]\s*|\s(?=.*vdevs)))?{_WIDE}{_VDEV}(?:\s+vdevs?)?"
    r"(?:\s+of\s+(?P<each>\d{1,6})(?:\s+(?:disks?|drives?))?(?:\s+each)?)?"
)
#: The same with the drive behind them: "3x raidz2 of 8x exos-x20", "3x 8-wide raidz2 exos-x20".
_VDEVS_OF = (
    rf"(?P<vdevs>\d{{1,6}})\s*[x×]\s*{_WIDE}{_VDEV}\s+(?:of\s+(?P<each>\d{{1,6}})(?:\s*[x×]\s*|\s+))?(?P<drive>\S.*)"
)


def with_vdevs(words: str, first: str) -> str:
    """Return the drives of a pool with the numbers of vdevs and of disks in each before them: "3x8 exos-x20 raidz2".

    Mirrors, of which there are several, are of two disks where nothing else is said. Other words stay as they are.

    Examples
    --------
    >>> with_vdevs("", "24x exos-x20 as 3x raidz2 of 8"), with_vdevs("", "12x exos-x18 mirrors")
    ('3x8 exos-x20 raidz2', '6x2 exos-x18 mirror')

    Raises
    ------
    DescriptionError
        When the numbers do not add up; `words` is all that was said.
    """
    # compiled when first asked for: that takes 9 ms
    found = re.fullmatch(_IN_VDEVS, first, re.IGNORECASE) or re.fullmatch(_VDEVS_OF, first, re.IGNORECASE)
    if found is None:
        return first
    said = found.groupdict()
    disks, vdevs, width = (int(said.get(name) or 0) for name in ("disks", "vdevs", "wide"))
    width = width or int(said["each"] or 0)
    level = said["level"].lower()
    if level.endswith("mirrors") and disks > _MOST_OF_A_MIRROR and not vdevs:
        width = width or 2
    if not (width or (disks and vdevs)):
        return first
    vdevs, width = vdevs or disks // width, width or disks // vdevs
    level = "mirror" if "mirror" in level else level
    counted = f"{vdevs}x{width} {said['drive']} {level}"
    if disks and vdevs * width != disks:
        rule = f"has {disks} disks, which are not {vdevs} vdevs of {width}"
        raise DescriptionError(Fault("array", words, rule, f'write for example "{counted}"'))
    return counted if vdevs > 1 else f"{width}x {said['drive']} {level}"
