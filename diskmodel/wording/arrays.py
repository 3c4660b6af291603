"""Arrays in words: "8x Seagate Exos X16 raid6, 1GiB cache" becomes the fields of an array."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from diskmodel.controller import load_controller, machine_of
from diskmodel.controller.catalogue import named as controller_named
from diskmodel.controller.catalogue import profiles as controllers
from diskmodel.drive import bought_in, catalogue, provisioned, volume_of_words
from diskmodel.errors import DescriptionError, Fault
from diskmodel.layout import MAX_VDEV_DISKS, POOLS, draid_counts, level_name
from diskmodel.layout.levels import KINDS
from diskmodel.naming import meant, signpost
from diskmodel.wording.vdevs import with_vdevs

#: "8x exos-x18 in a RAID 10".
_IN_A = re.compile(r"\s+in\s+an?\s+", re.IGNORECASE)
#: Numbers of vdevs and of the drives of each, drive and kind of vdev in words.
_POOL_WORDS = re.compile(
    r"(?P<vdevs>\d{1,6})\s*[x×]\s*(?P<width>\d{1,6})(?:\s*[x×]\s*|\s+)(?P<drive>\S+)(?:\s+(?:in\s+)?(?P<level>\S.*))?"
)
#: Number of drives, drive and RAID level in words.
_WORDS = re.compile(r"(?:(?P<disks>\d{1,6})(?:\s*[x×]\s*|\s+))?(?P<drive>\S+)(?:\s+(?:in\s+)?(?P<level>\S.*))?")
#: No array in words needs more. Names of drives are looked for in all of them, which takes a quarter of a second here.
_MOST_LETTERS = 500
#: The numbers before the drive, and what follows.
_COUNTED = re.compile(r"(?P<number>\d{1,6}(?:\s*[x×]\s*\d{1,6}(?=[\sx×]))?(?:\s*[x×]\s*|\s+))(?P<rest>\S.*)")
#: A number of drives and a name that begins with one.
_NUMBERED = re.compile(r"(?P<count>\d{1,6}(?:\s*[x×]\s*|\s+))(?P<first>\d{2,6})\s+(?P<rest>\S.*)")
#: The machine that volumes of a cloud are attached to: "on an r5b.2xlarge", "instance 40000 IOPS and 1187 MB/s".
_MACHINE = re.compile(
    r"(?:on\s+(?:an?\s+)?|(?:instance|machine)\s+(?:of\s+)?)(?P<which>\S.*?)(?:\s+instance)?", re.IGNORECASE
)
#: What may follow, each after a comma, beside a controller: "1GiB cache", "2GiB read cache", "strip 256KiB".
_CACHE = re.compile(r"(?P<size>\S+(?:\s[KMGT]i?B)?)\s+(?:(?P<kind>read|write)[\s-])?cache", re.IGNORECASE)
#: The same as makers write it: "BBU 2GB cache", "write-back cache 2GB", "cache of 2GB".
_BACKED = re.compile(
    r"(?:(?:an?\s+)?(?:bbu|bbwc|fbwc|battery[\s-]backed|flash[\s-]backed|write[\s-]?back)\s+)?"
    r"(?:(?P<first>\d\S*(?:\s[KMGT]i?B)?)\s+cache|cache\s+(?:of\s+)?(?P<last>\d\S*(?:\s[KMGT]i?B)?))",
    re.IGNORECASE,
)
#: Whether the drives' own caches are on: "drive write cache on", "drive caches off", "disk cache enabled".
_DRIVE_CACHE = re.compile(
    r"(?:drives?'?|disks?'?)[\s-]+(?:own\s+)?(?:write[\s-]+)?caches?(?:\s+(?P<state>on|off|enabled|disabled))?",
    re.IGNORECASE,
)
_RECORD = re.compile(r"(?:record(?:\s?size)?|volblocksize)s?\s+(?:of\s+)?(?P<size>\S.*)", re.IGNORECASE)
_ASHIFT = re.compile(r"ashift\s*=?\s*(?P<shift>\d+)", re.IGNORECASE)
_SYNC = re.compile(r"sync\s*=?\s*(?P<sync>standard|disabled)", re.IGNORECASE)
#: A log device by the time of its writes: "log 50us", "slog of 30 us".
_LOG = re.compile(r"(?:s?log|journal)(?:\s+device)?\s+(?:of\s+)?(?P<write>\d\S*(?:\s*[nuµm]?s)?)", re.IGNORECASE)
#: The same by its drive: "log micron-7450-pro-1920", "journal on micron-7450-pro-1920".
_LOG_DRIVE = re.compile(r"(?:s?log|journal)(?:\s+device)?\s+(?:on\s+)?(?P<drive>\S+)", re.IGNORECASE)
#: A special vdev by its drives: "special on 2x micron-7450-pro-1920".
_SPECIAL = re.compile(r"special(?:\s+(?:vdev|device)s?)?\s+(?:on\s+)?(?P<drives>\S.*)", re.IGNORECASE)
#: Cache devices of a pool: "cache on micron-7450-pro-1920", "cache on 2x micron-7450-pro-1920".
_CACHE_DEVICE = re.compile(
    r"(?:cache|l2arc)(?:\s+devices?)?\s+on\s+(?:(?P<count>\d{1,3})\s*[x×]\s*|(?P<number>\d{1,3})\s+)?(?P<drive>\S+)",
    re.IGNORECASE,
)
#: How full the drives are: "60% used", "used 60%", "60 % full".
_USED = re.compile(r"(?P<share>\d[\d.]*\s*%)\s*(?:used|full)|(?:used|full)\s+(?P<after>\d[\d.]*\s*%)", re.IGNORECASE)
#: Linux md calls a strip a chunk, and many controllers a stripe size; a bare k is a KiB there.
_STRIP = re.compile(
    r"(?:strips?|chunks?|stripes?)(?:\s+size)?\s+(?:of\s+)?(?P<size>\S.*?)(?P<bare>(?<=\d)\s*[km])?", re.IGNORECASE
)
#: Hot spares: "1 hot spare", "2 spares", "hot spare".
_SPARES = re.compile(r"(?:(?P<number>\d{1,4})\s*[x×]?\s*)?(?:hot[\s-]?)?spares?", re.IGNORECASE)
#: What people write for the comma before something beside drives and level: "with 1GiB cache", "behind a PERC H730".
_AND = re.compile(r"\s+(?:with(?:\s+an?)?|behind(?:\s+an?)?|\+(?!\s*0\b))\s+", re.IGNORECASE)
#: An erasure code by its data and parity strips, beside the level or behind a comma: "erasure 8+4", "EC 8+4"; or as
#: MinIO has it, by its parity alone: "EC:4".
_ERASURE = re.compile(
    r"[\s,]\s*(?:(?:in\s+)?(?:erasure(?:[\s-]?(?:code|coded|coding))?|ec)\s*:?\s*(?P<data>\d{1,4})\s*\+\s*(?P<parity>\d{1,4})"
    r"|ec:(?P<only>\d{1,4}))(?=\s*(?:,|$|\s(?:with|behind)\s))",
    re.IGNORECASE,
)
#: What people add to the level of an array with a failed disk.
_BROKEN = re.compile(r"raid\W*(?P<number>\d+e?)\b.*(degraded|fail|broken|lost|missing|rebuil)", re.IGNORECASE)

#: What may follow the level in words; of RAID and of pools.
_HOW_TO_ADD = (
    'after a comma write for example "1GiB cache", "1GiB read cache", "strip 256KiB", "1 hot spare", "ppl", '
    '"journal on micron-7450-pro-1920", "drive write cache off", "60% used" or a controller; of a volume of a cloud '
    '"6000 IOPS", "500MB/s", "500GB" or "on r5b.2xlarge"',
    'after a comma write for example "record 128KiB", "64GiB read cache", "cache on micron-7450-pro-1920", '
    '"log on micron-7450-pro-1920", "special on 2x micron-7450-pro-1920", "sync=disabled" or "ashift=12"',
)


#: What controllers are called: "PERC H710", "on P410", "LSI 9271-8i", "Smart Array P420i".
_CONTROLLER = re.compile(
    r"(?:on\s+)?(?:an?\s+)?(?P<name>(?:(?:dell|hpe?|lsi|broadcom|avago|adaptec|areca|intel|perc|mega\s?raid|smart[\s-]?array)\s+)*"
    r"[a-z]{0,4}\d{3,4}[a-z]{0,2}(?:-\w+)?)",
    re.IGNORECASE,
)


#: Layouts of other systems that do what a level does, with their defaults. Storage Spaces: an interleave of 256 KiB
#: (New-VirtualDisk, -Interleave), each copy on another disk, as many columns as there are disks for.
_SETUPS: Mapping[str, Mapping[str, Any]] = {
    "storage spaces simple": {"level": "raid0", "strip": "256 KiB"},
    "storage spaces mirror": {"level": "raid10", "strip": "256 KiB"},
    "storage spaces two-way mirror": {"level": "raid10", "strip": "256 KiB"},
    "storage spaces three-way mirror": {"level": "raid10", "strip": "256 KiB", "copies": 3},
}
_SETUP = re.compile(rf"\s+(?:in\s+)?(?:a\s+)?(?P<name>{'|'.join(_SETUPS)})(?=\s*(?:,|$))", re.IGNORECASE)


def _with_setup(words: str) -> tuple[str, dict[str, Any]]:
    """Return words with the level that a layout of another system is, and what else that layout has."""
    found = _SETUP.search(words)
    if found is None:
        return words, {}
    level, *own = _SETUPS[found["name"].lower()].items()
    return f"{words[: found.start()]} {level[1]}{words[found.end() :]}", dict(own)


def of_words(words: str) -> dict[str, Any]:
    """Return the fields of the array that words describe; DescriptionError where they have another form."""
    if len(words) > _MOST_LETTERS:
        fix = "give a file, which has room for everything"
        raise DescriptionError(Fault("array", f"{words[:60]}…", f"has more than {_MOST_LETTERS} letters", fix))
    if (volume := volume_of_words(words, of_words)) is not None:
        return {"name": words, "drive": volume, "layout": {"level": "jbod", "disks": 1}}
    known, setup = _with_setup(words)
    if post := signpost(known):
        raise DescriptionError(Fault("array", words, post.rule, post.fix))
    plain, code = _without_erasure(_IN_A.sub(" in ", known))
    drives, *beside = _AND.sub(", ", plain).split(",")
    first, *more = _with_comma(
        ",".join([with_vdevs(words, _with_number_in_name(" ".join(drives.split()))), *beside])
    ).split(",")
    counted = _with_drive_in_one(first.strip())
    pool = _POOL_WORDS.fullmatch(counted)
    if pool is not None:
        return _of_pool_words(words, pool, more)
    found = _WORDS.fullmatch(counted)
    if found is None or (found["level"] is None and int(found["disks"] or 1) > 1):
        missing = "array in words" if found is None else "array in words, which names its RAID level"
        fix = 'write for example "8x generic-15k raid5"'
        raise DescriptionError(Fault("array", words, f"is neither a file nor an {missing}", fix))
    alone = found["level"] is not None and level_name(found["level"]) == "jbod"
    if found["level"] is not None and found["disks"] is None and not alone:
        fix = 'write number, drive and level, for example "8x generic-15k raid5"'
        raise DescriptionError(Fault("array", words, "does not say how many drives", fix))
    level, disks = found["level"] or "jbod", int(found["disks"] or 1)
    if broken := _BROKEN.match(",".join([level, *more])):
        table = f'level = "raid{broken["number"].lower()}", disks = {disks}, failed = [0]'
        fix = f'write a file with drive = "{found["drive"]}" and layout = {{ {table} }}'
        raise DescriptionError(Fault("array", words, "only whole arrays can be written in words", fix))
    tables: dict[str, dict[str, Any]] = {"layout": {"level": level, "disks": disks} | setup, "controller": {}}
    if code is not None:
        tables["layout"] |= _erasure_fields(words, code, disks)
    return _whole(words, found["drive"], _with_more(words, tables, more))


def _whole(words: str, drive: str, tables: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the fields of an array from those of its parts."""
    said, own_cache = tables.pop("provisioned", {}), tables.pop("drive_write_cache", None)
    switch = {} if own_cache is None else {"drive_write_cache": own_cache["is_on"]}
    if used := tables.pop("used", None):
        switch |= {"used": used["ratio"]}
    return {"name": words, "drive": provisioned(drive, said), **switch, **tables}


def with_level(words: str, level: str) -> str:
    """Return the words of an array with another RAID level, or with one where they name none.

    Examples
    --------
    >>> with_level("8x exos-x16 raid5, 1GiB cache", "raid6"), with_level("2x6 exos-x18", "raidz2")
    ('8x exos-x16 raid6, 1GiB cache', '2x6 exos-x18 raidz2')
    """
    first, *more = words.split(",")
    plain = _with_drive_in_one(first.strip())
    found = _POOL_WORDS.fullmatch(plain) or _WORDS.fullmatch(plain)
    if found is None:
        return words
    return ",".join([f"{plain[: found.end('drive')]} {level}", *more])


def _without_erasure(words: str) -> tuple[str, re.Match[str] | None]:
    """Return words with the level "erasure" alone, and what they say of its strips; None where they say nothing."""
    code = _ERASURE.search(words)
    if code is None:
        return words, None
    return f"{words[: code.start()]} erasure{words[code.end() :]}", code


def _erasure_fields(words: str, code: re.Match[str], disks: int) -> dict[str, int]:
    """Return parity strips and groups of an erasure code: as many groups as sets of its strips fit on the drives."""
    if code["only"]:
        return {"n_parity": int(code["only"])}
    parity, width = int(code["parity"]), int(code["data"]) + int(code["parity"])
    if not width or disks % width:
        more = -(-disks // max(width, 1)) * width
        fix = f"write for example {more} drives" if width else 'write for example "erasure 8+4"'
        raise DescriptionError(
            Fault("array", words, f"has {disks} drives, in which no sets of {width} fit exactly", fix)
        )
    return {"n_parity": parity, "groups": disks // width}


def _with_drive_in_one(words: str) -> str:
    """Return words with the name of the drive joined by hyphens: "8x Seagate Exos X16 raid6" has three for it."""
    words = _with_number_in_name(words)
    counted = _COUNTED.fullmatch(words)
    number, parts = (counted["number"], counted["rest"].split()) if counted else ("", words.split())
    for at in range(1, len(parts)):
        level = " ".join(parts[at + (parts[at].lower() == "in") :])
        if _is_level(level):
            return words if at == 1 else f"{number}{'-'.join(parts[:at])} {level}"
    drive = "-".join(parts)
    return f"{number}{drive}" if len(parts) > 1 and len(meant(drive, catalogue().titles)) == 1 else words


def _with_number_in_name(words: str) -> str:
    """Return words with the number that a drive's name begins with joined to it: "2x 980 pro raid1".

    Of "2x 16 exos-x16 raidz2" it counts drives, which have a name without it.
    """
    found = _NUMBERED.fullmatch(words)
    if found is None:
        return words
    own, titles = found["rest"].split(), catalogue().titles
    # no vdev has 980 drives: that is a name
    is_count = int(found["first"]) <= MAX_VDEV_DISKS
    for at in range(1, len(own) + 1):
        name = "-".join(own[:at])
        if is_count and len(meant(name, titles)) == 1:
            return words
        if len(meant(f"{found['first']}-{name}", titles)) == 1:
            return f"{found['count']}{found['first']}-{' '.join(['-'.join(own[:at]), *own[at:]])}"
    return words


def _with_comma(words: str) -> str:
    """Return words with the comma that is missing behind the level: "6x exos-x16 raidz2 record 1MiB"."""
    first, *more = words.split(",")
    parts = first.split()
    levels = [
        end
        for at in range(1, len(parts))
        for end in range(at + 1, len(parts) + 1)
        if _is_level(" ".join(parts[at:end]))
    ]
    rest = parts[max(levels) :] if levels else []
    # "RAID-Z 0" has a number that no level has, not something beside it
    if not rest or (rest[0].isdecimal() and len(rest) == 1):
        return words
    return ",".join([" ".join(parts[: max(levels)]), " " + " ".join(rest), *more])


def _of_pool_words(words: str, found: re.Match[str], more: list[str]) -> dict[str, Any]:
    """Return the fields of the pool that words describe, as "2x6 seagate-exos-x18 raidz2" does."""
    level = _level_of(found["level"])
    vdevs, disks = int(found["vdevs"]), int(found["vdevs"]) * int(found["width"])
    if level not in POOLS:
        fix = f"name a kind of vdev ({', '.join(POOLS)}), or write one number of drives: {disks}x {found['drive']}"
        raise DescriptionError(Fault("array", words, "has numbers of vdevs and of drives, as only pools do", fix))
    tables: dict[str, dict[str, Any]] = {
        "layout": {"level": found["level"] if draid_counts(found["level"]) else level, "disks": disks, "vdevs": vdevs},
        "controller": {},
    }
    return _whole(words, found["drive"], _with_more(words, tables, more))


def _is_level(words: str) -> bool:
    """Return whether words are a level, and nothing beside it."""
    return _level_of(words) in KINDS or draid_counts(words) is not None


def _level_of(word: str) -> str:
    """Return the registry's name of a level, also of one with the counts of dRAID."""
    counted = draid_counts(word)
    return counted[0] if counted else str(level_name(word))


def _controller_of(part: str) -> dict[str, Any]:
    """Return the controller, or the machine, that a part of the words names; nothing where it names none."""
    text = part.strip()
    machine = _MACHINE.fullmatch(text)
    if machine and (limits := machine_of(machine["which"])):
        return {"name": f"a machine with {machine['which']}", **limits}
    name = controller_named(machine["which"] if machine else text)
    return dict(load_controller(name)) if name else {}


def _with_more(words: str, tables: dict[str, dict[str, Any]], more: list[str]) -> dict[str, dict[str, Any]]:
    """Return layout and controller with what follows after commas."""
    level = _level_of(tables["layout"]["level"])
    # a controller first, whose caches the others change
    for part in sorted(more, key=lambda part: not _controller_of(part)):
        if own := _DRIVE_CACHE.fullmatch(part.strip()):
            tables["drive_write_cache"] = {"is_on": (own["state"] or "on").lower() in ("on", "enabled")}
        elif cache := _CACHE.fullmatch(_BACKED.sub(r"\g<first>\g<last> cache", part.strip(), count=1)):
            kind = f"{(cache['kind'] or 'write').lower()}_cache"
            known = dict(tables["controller"].get(kind) or {})
            known.pop("size_bytes", None)
            tables["controller"][kind] = {**known, "size": cache["size"]}
        elif controller := _controller_of(part):
            tables["controller"] = controller | tables["controller"]
        elif said := bought_in(part):
            tables.setdefault("provisioned", {}).update(said)
        elif record := _RECORD.fullmatch(part.strip()):
            tables["layout"]["record"] = record["size"]
        elif ashift := _ASHIFT.fullmatch(part.strip()):
            tables["layout"]["ashift"] = int(ashift["shift"])
        elif sync := _SYNC.fullmatch(part.strip()):
            tables["layout"]["sync"] = sync["sync"].lower()
        elif log := _LOG.fullmatch(part.strip()):
            tables["layout"]["log"] = {"write": log["write"]}
        elif part.strip().lower() in ("ppl", "resync"):
            tables["layout"]["consistency_policy"] = part.strip().lower()
        elif log := _LOG_DRIVE.fullmatch(part.strip()):
            tables["layout"]["log"] = {"drive": log["drive"]}
        elif special := _SPECIAL.fullmatch(part.strip()):
            tables["layout"]["special"] = special["drives"]
        elif device := _CACHE_DEVICE.fullmatch(part.strip()):
            count = device["count"] or device["number"]
            tables["layout"]["cache"] = {"drive": device["drive"]} | ({"count": int(count)} if count else {})
        elif spares := _SPARES.fullmatch(part.strip()):
            tables["layout"]["spares"] = int(spares["number"] or 1)
        elif used := _USED.fullmatch(part.strip()):
            tables["used"] = {"ratio": (used["share"] or used["after"]).replace(" ", "")}
        elif strip := _STRIP.fullmatch(part.strip()):
            unit = "" if strip["bare"] is None else f" {strip['bare'].strip().upper()}iB"
            tables["layout"]["strip"] = strip["size"] + unit
        elif level not in POOLS and (adapter := _CONTROLLER.fullmatch(part.strip())):
            raise DescriptionError(_unknown_controller(words, adapter["name"]))
        else:
            raise DescriptionError(
                Fault("array", words, f"has {part.strip()!r} beside drives and level", _HOW_TO_ADD[level in POOLS])
            )
    return tables


def _unknown_controller(words: str, name: str) -> Fault:
    """Return what is wrong with an array behind a controller that is not in the catalogue."""
    known = [other for other in controllers() if not other.startswith("aws-")]
    fix = f'write what it has, for example "1GiB cache", or one of {", ".join(known)}'
    return Fault("array", words, f"is behind {name!r}, which is not a controller in the catalogue", fix)
