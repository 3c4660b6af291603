"""A pool of a cluster in words: "ceph 6 nodes, 2x samsung-pm983-1920 each, replica 3"."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from diskmodel.drive.cluster.costs import RELEASES
from diskmodel.errors import DescriptionError, Fault

_CLUSTER = re.compile(
    r"\s*(?P<kind>ceph|proxmox(?:[\s-]ceph)?|rook(?:[\s-]ceph)?|vitastor|drbd|linstor|replicated|mirrored|ideal)(?:[\s,]+(?:on\s+|with\s+)?(?P<rest>.*))?",
    re.IGNORECASE | re.DOTALL,
)
#: Ways to set a cluster up that have names: what each is where nothing else is said.
#: Proxmox VE: three nodes are its least, 10 GbE what its manual recommends at least. Rook: the network of pods is an
#: overlay where host networking is off, as it is by default: half a round trip more. DRBD: a pair.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    "ceph": {},
    "proxmox": {"nodes": 3, "network": "10 Gbit/s"},
    "rook": {"nodes": 3, "network": "10 Gbit/s", "round_trip": "120 us"},
    "vitastor": {"software": "vitastor"},
    "drbd": {"software": "drbd", "nodes": 2},
    "linstor": {"software": "drbd"},
    "replicated": {"software": "ideal"},
    "mirrored": {"software": "ideal", "replicas": 2},
    "ideal": {"software": "ideal"},
}
_OWN = ("each", "a node", "per node", "in each node", "of each node")
_HOW = (
    'write for example "ceph 6 nodes, 2x samsung-pm983-1920 each, replica 3", and after commas "ec 4+2", '
    '"db on micron-7450-pro-1920", "25GbE", "32 cores", "16 clients", "one node failed", "recovering" or "deep scrubs"'
)
#: Releases and the store that are older than what is modeled.
_OLD = re.compile(r"\b(?:file\s?store|hammer|infernalis|jewel|kraken|firefly|giant)\b", re.IGNORECASE)
_NUMBERS = {"one": 1, "a": 1, "two": 2, "three": 3}


def _number(text: str) -> int:
    return _NUMBERS.get(text.lower()) or int(text)


def _drives(found: re.Match[str]) -> dict[str, Any]:
    words = " ".join(found["drive"].split())
    for own in _OWN:
        words = re.sub(rf"\s+{own}$", "", words, flags=re.IGNORECASE)
    return {"drives": int(found["n"]), "drive": "-".join(words.split())}


def _log(found: re.Match[str]) -> dict[str, Any]:
    more = {"db_drives": int(found["n"])} if found["n"] else {}
    return {"db": "-".join(found["drive"].split())} | more


_N = r"(?P<n>\d{1,6})"
#: What each part of the words may be, as a pattern, and the fields that it gives.
_PARTS: tuple[tuple[str, Callable[[re.Match[str]], dict[str, Any]]], ...] = (
    (rf"(?:on\s+)?{_N}\s+(?:nodes|hosts|servers)", lambda m: {"nodes": int(m["n"])}),
    (rf"{_N}\s+clients?", lambda m: {"clients": int(m["n"])}),
    (r"tuned|(?:no|without)\s+power[\s-]*saving|power[\s-]*saving\s+off", lambda m: {"power_saving": False}),
    (rf"(?:ceph\s+|release\s+)?(?P<name>{'|'.join(RELEASES)})", lambda m: {"release": m["name"].lower()}),
    (r"(?P<not>un|not\s+)?optimi[sz]ed(?:\s+(?:rocksdb|packages|build))?",
     lambda m: {"rocksdb_optimized": m["not"] is None}),
    (r"(?:with\s+)?(?:an?\s+|the\s+)?old\s+store", lambda m: {"costs": {"later_writes": 2}}),
    (rf"{_N}\s+cores(?:\s+(?:each|a node|per node))?",
     lambda m: {"cores": int(m["n"])}),
    (rf"{_N}\s+(?:pgs|placement groups)", lambda m: {"placement_groups": int(m["n"])}),
    (rf"{_N}\s+osds?\s+(?:per|a|each)\s*drive", lambda m: {"osds_per_drive": int(m["n"])}),
    (rf"(?:replicas?|replicated|size|copies)\s*=?\s*{_N}", lambda m: {"replicas": int(m["n"])}),
    (rf"{_N}\s*(?:x\s*)?(?:replicas?|copies|replicated)", lambda m: {"replicas": int(m["n"])}),
    (r"(?:ec|erasure(?:[\s-]?cod(?:e|ed|ing))?)\s*:?\s*(?P<k>\d+)\s*\+\s*(?P<m>\d+)",
     lambda m: {"data": int(m["k"]), "parity": int(m["m"])}),
    (r"(?:db|wal|db\s*(?:and|\+|/)\s*wal|rocksdb)\s+on\s+(?:(?P<n>\d{1,3})\s*[x×]\s*)?(?P<drive>\S.*)", _log),
    (r"(?P<rate>\d+(?:\.\d+)?)\s*(?:gbe|gbit(?:/s)?|gbps|g)(?:\s+(?:network|ethernet))?",
     lambda m: {"network": f"{m['rate']} Gbit/s"}),
    (r"round\s*trips?\s+(?:of\s+)?(?P<time>\d.*)", lambda m: {"round_trip": m["time"]}),
    (r"(?P<n>\d+|one|a|two)\s+(?:nodes?|hosts?|servers?)\s+(?:failed|down|missing|lost)",
     lambda m: {"failed_nodes": _number(m["n"])}),
    (r"(?:is\s+)?(?:recovering|recovery|backfill(?:ing)?)", lambda m: {"recovers": True}),
    (r"(?:deep[\s-]*)?scrub(?:s|bing)?", lambda m: {"scrubs": True}),
    (r"(?:one|an?|1)\s+osd\s+(?P<factor>\d{1,4}(?:\.\d{1,3})?)\s*(?:x|times)\s+slower",
     lambda m: {"slow_osd": float(m["factor"])}),
    (r"nearfull\s*(?:at|=)?\s*(?P<ratio>\d+(?:\.\d+)?\s*%?)", lambda m: {"nearfull_ratio": m["ratio"]}),
    (r"failure[\s-]*domain\s*=?\s*(?P<what>host|osd)", lambda m: {"failure_domain": m["what"].lower()}),
    (rf"{_N}\s*(?:[x×]\s*|\s)(?P<drive>\S.*)", _drives),
)  # fmt: skip


def is_cluster(words: str) -> bool:
    """Return whether words describe a pool of a cluster.

    Examples
    --------
    >>> is_cluster("ceph 6 nodes, 2x samsung-pm983-1920 each"), is_cluster("8x exos-x16 raid6")
    (True, False)
    """
    return _CLUSTER.fullmatch(words) is not None


def cluster_of_words(words: str) -> dict[str, Any]:
    """Return the fields of the pool that words describe.

    Raises
    ------
    DescriptionError
        When a part of them is none of what may be said, or the drives are missing.

    Examples
    --------
    >>> found = cluster_of_words("ceph 6 nodes, 2x samsung-pm983-1920 each, ec 4+2, 25GbE")
    >>> found["nodes"], found["drives"], found["drive"], found["data"], found["network"]
    (6, 2, 'samsung-pm983-1920', 4, '25 Gbit/s')
    """
    fields = _fields_of(words)
    if "drive" not in fields or "nodes" not in fields:
        missing = "how many drives of which kind each node has" if "nodes" in fields else "how many nodes there are"
        raise DescriptionError(Fault("array", words, f"does not say {missing}", _HOW))
    return fields


def _fields_of(words: str) -> dict[str, Any]:
    found = _CLUSTER.fullmatch(words)
    if found is None:
        raise DescriptionError(Fault("array", words, "describes no pool of a cluster", _HOW))
    kind = re.split(r"[\s-]", found["kind"].lower())[0]
    fields: dict[str, Any] = {"kind": "cluster", **PRESETS[kind]}
    said: dict[str, str] = {}
    for part in (found["rest"] or "").split(","):
        text = " ".join(part.split())
        if not text:
            continue
        own = _of_part(text)
        if own is None and (old := _OLD.search(text)) is not None:
            rule = f"names {old[0]!r}: releases before Luminous keep data in FileStore, which writes all of it twice"
            raise DescriptionError(
                Fault("array", words, f"{rule} and is not modeled", 'say "luminous", which is faster')
            )
        if own is None:
            raise DescriptionError(Fault("array", words, f"has {text!r}, which is not known of a cluster", _HOW))
        for name in own:
            if name in said:
                rule = f"says {name} twice, by {said[name]!r} and {text!r}"
                raise DescriptionError(Fault("array", words, rule, "leave one of them out"))
            said[name] = text
        fields |= own
    return fields


def _of_part(text: str) -> dict[str, Any] | None:
    for part, fields in _PARTS:
        if (found := re.fullmatch(part, text, re.IGNORECASE)) is not None:
            return fields(found)
    return None


def is_scheme(words: str) -> bool:
    """Return whether words describe a pool without its drives, as a plan chooses among: "ceph replica 3, 25GbE"."""
    found = _CLUSTER.fullmatch(words)
    if found is None:
        return False
    parts = [" ".join(part.split()) for part in (found["rest"] or "").split(",")]
    return all(own is not None and "drive" not in own for own in map(_of_part, filter(None, parts)))


def scheme_of_words(words: str) -> dict[str, Any]:
    """Return the fields of a pool whose drives, and perhaps nodes, are looked for.

    Raises
    ------
    DescriptionError
        When a part of the words is none of what may be said, or says what a plan looks for.

    Examples
    --------
    >>> scheme_of_words("ceph ec 4+2, 25GbE")
    {'kind': 'cluster', 'data': 4, 'parity': 2, 'network': '25 Gbit/s'}
    """
    fields = _fields_of(words)
    for name in ("failed_nodes", "recovers", "slow_osd", "drive"):
        if name in fields:
            rule = "says what failed, which a plan looks at itself" if name != "drive" else "names its drives"
            fix = "leave it out" if name != "drive" else "give them with --drive"
            raise DescriptionError(Fault("--level", words, rule, fix))
    return fields
