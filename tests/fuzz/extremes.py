"""Descriptions with extreme, odd and wrong values in them: what a user may write into a file."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from diskmodel.description import read_toml
from diskmodel.drive.catalogue import catalogue

Pick = Callable[[Sequence[Any]], Any]
Place = tuple[Any, str | int]

EXAMPLES = Path(__file__).parents[2] / "examples"

NUMBERS = (
    *(0, 1, -1, 2, 3, 5, 7, 100, 511, 512, 513, 4096, 10_000, 100_000, 10**6, 10**9, 20 * 10**12, 10**15),
    *(
        2**31 - 1,
        2**31,
        2**32,
        2**53 + 1,
        2**62,
        2**63 - 1,
        2**63,
        2**64,
        10**30,
        -(2**63),
        10**400,
        0.0,
        -0.0,
        0.5,
        1.0,
    ),
    *(1e-9, 5e-324, 1e-300, 1e18, 1e19, 1e308, math.nan, math.inf, -math.inf, 0.1 + 0.2, 1 / 3),
)
QUANTITIES = (
    *(
        "1 B",
        "0 B",
        "-1 B",
        "512 B",
        "1 KiB",
        "20 TB",
        "1e9 PB",
        "16 EiB",
        "64 kib",
        "64 KIB",
        "4.7ms",
        "4,7 ms",
        "0 s",
    ),
    *("1 ns", "1 y", "1e9 y", "1e-30 s", "-5 ms", "10k rpm", "0 rpm", "1 rpm", "1e5 rpm", "1e-300 rpm", "0 MB/s"),
    *("1 B/s", "1e30 MB/s", "1e-30 B/s", "1e400 MB/s", "1e999999999 B", "1e-999999999 s", "50%", "150%", "-1%", "nan%"),
    *(
        "NaN",
        "nan GB",
        "inf B",
        "١٢ GB",
        "½ TB",
        "３ ms",
        "1_0 GB",
        "1__0 GB",
        ",5 GB",
        "5, GB",
        "1.2.3 GB",
        "9" * 5000,
    ),
    *(
        "",
        " ",
        "\0",
        "\ud800",
        "🜁 GB",
        "ｋＢ",
        "fcfs",
        "raid5",
        "raid9",
        "generic-15k",
        "a" * 10_000,
        "../../etc/passwd",
    ),
    *("100/s", "0/s", "1e300 iops", "4 KiB", "4096", "4096.5 B", "1e3", "true"),
)
OTHERS = (None, True, False, [], {}, [0], [[]], [{}], [1, 1], ["4 KiB", "8 KiB"], {"": 0}, {"a": {"b": [1]}})


def damaged(choose: Random, bases: Sequence[bytes]) -> dict[str, Any]:
    """One of `packed` data with one place or a few changed: a value replaced, scaled, removed or repeated, or a field
    added."""
    pick = choose.choice
    changed: dict[str, Any] = pickle.loads(pick(bases))
    for _ in range(pick((1, 1, 1, 2, 3))):
        places = _places(changed)
        if not places:
            break
        parent, key = pick(places)
        how = pick(("number", "number", "quantity", "other", "scale", "scale", "scale", "remove", "add", "repeat"))
        if how == "remove":
            del parent[key]
        elif how == "add" and isinstance(parent, dict):
            parent[pick(_KEYS)] = pick(NUMBERS)
        elif how == "repeat" and isinstance(parent, list):
            parent.extend([copy.deepcopy(parent[key])] * pick((1, 10, 300)))
        else:
            parent[key] = _replacement(parent[key], how, pick)
    return changed


def stretched(choose: Random, bases: Sequence[bytes]) -> dict[str, Any]:
    """One of `packed` data in which one number or a few are much larger, much smaller, or at an end; most of these are
    valid."""
    pick = choose.choice
    changed: dict[str, Any] = pickle.loads(pick(bases))
    numbers = [(parent, key) for parent, key in _places(changed) if type(parent[key]) in (int, float)]
    for _ in range(pick((1, 1, 2, 3)) if numbers else 0):
        parent, key = pick(numbers)
        value, factor = parent[key], pick((2, 3, 7, 10, 1000, 10**6, 10**9))
        whole = isinstance(value, int)
        parent[key] = pick(
            (value * factor, value * factor, value // factor if whole else value / factor, 0, 1, value + 1)
        )
    return changed


def packed(bases: Iterable[Any]) -> list[bytes]:
    """Each as bytes that give a fresh copy of it, ten times as fast as `copy.deepcopy` does."""
    return [pickle.dumps(base) for base in bases]


def as_json(choose: Random, documents: Sequence[bytes]) -> str:
    """Text of a `packed` document that is changed as data: what no damage to its bytes would reach."""
    change = damaged if choose.random() < 0.7 else stretched
    return json.dumps(change(choose, documents))


def _replacement(value: Any, how: str, pick: Pick) -> Any:
    if how == "quantity":
        return pick(QUANTITIES)
    if how == "other":
        return copy.deepcopy(pick(OTHERS))
    if how == "scale" and isinstance(value, int | float) and not isinstance(value, bool):
        return value * pick((-1, 2, 10, 1000, 10**6)) if pick((True, False)) else value // pick((2, 10, 1000, 10**6))
    return pick(NUMBERS)


_KEYS = (
    *(
        "name",
        "kind",
        "strip",
        "strip_bytes",
        "disks",
        "failed",
        "spares",
        "capacity",
        "capacity_bytes",
        "rpm",
        "copies",
    ),
    *(
        "groups",
        "n_parity",
        "uncertainty",
        "zones",
        "seek",
        "cache",
        "queue",
        "read_cache",
        "clients",
        "rate",
        "span_ratio",
    ),
    *("weight", "think_ns", "age_ns", "drive_depth", "ﬁeld", "", "__class__", "model_config", "self"),
)


def _places(value: Any) -> list[Place]:
    """Every place in nested data where something stands."""
    found: list[Place] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[Place]) -> None:
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in inside:
        if key == "provenance":  # free text of a fit
            continue
        found.append((value, key))
        if isinstance(part, dict | list):
            _gather(part, found)


def drives() -> list[dict[str, Any]]:
    """Every kind of drive as plain data, one of them with each way to say how long a seek takes.

    Bundled ones are cut to a fraction of their size, since every cylinder of a large one costs time.
    """
    names = (
        "generic-7k2",
        "seagate-cheetah-15k5",
        "seagate-exos-2x14",
        "dec-rz26",
        "generic-sas-ssd",
        "intel-x25-e-64",
    )
    whole = [catalogue()[name].to_dict() for name in names]
    cut = [_cut(drive) if drive["kind"] == "hdd" else drive for drive in whole]
    return cut + [{**cut[1], "seek": seek} for seek in (_SEEK_CURVE, _SEEK_TABLE)] + [_VIRTUAL]


_VIRTUAL = {
    "kind": "virtual",
    "name": "behind a hypervisor",
    "capacity_bytes": 1 << 30,
    "sector_bytes": 512,
    "read_overhead_ns": 6_000,
    "write_overhead_ns": 7_000,
    "read_copy_bytes_per_s": 1.5e9,
    "write_copy_bytes_per_s": 5e9,
    "read_latency_ns": 0,
    "write_latency_ns": 20_000,
    "wake_ns": [20_000, 40_000, 90_000],
    "completion": "batch",
    "queue_depth": 256,
}
_SEEK_CURVE = {
    "kind": "curve",
    "a_ns": 300_000,
    "b_ns_per_root": 40_000.0,
    "e_ns_per_cylinder": 500.0,
    "joint_cylinders": 200,
}
_SEEK_TABLE = {"kind": "table", "distance": [1, 10, 100, 1000], "time_ms": [0.3, 0.8, 1.9, 4.0]}


def _cut(drive: dict[str, Any]) -> dict[str, Any]:
    described = {key: value for key, value in drive.items() if key not in ("notes", "source", "provenance")}
    if "zones" in described:
        return described
    return {**described, "capacity_bytes": described["capacity_bytes"] // 64 // 512 * 512}


def arrays() -> list[dict[str, Any]]:
    """The arrays of `examples/`, and with drives of their own."""
    examples = [read_toml(path) for path in sorted(EXAMPLES.glob("*.toml")) if "layout" in read_toml(path)]
    return examples + [{**example, "drive": drive} for example, drive in zip(examples, drives()[2:], strict=False)]


def workloads() -> list[dict[str, Any]]:
    """The workloads of `examples/`, and one with every kind of stream."""
    return [read_toml(EXAMPLES / name) for name in ("oltp.toml", "random-read.toml")] + [EVERY_STREAM]


def plans() -> list[dict[str, Any]]:
    """The plans of `examples/`."""
    return [read_toml(path) for path in sorted(EXAMPLES.glob("plan-*.toml"))]


EVERY_STREAM: dict[str, Any] = {
    "name": "every kind",
    "streams": [
        {"size": "4 KiB", "clients": 3, "think": "1 ms", "addresses": {"pattern": "zipf"}, "span": "50%"},
        {
            "sizes": [{"size": "8 KiB", "weight": 2}, {"size": "64 KiB", "weight": 1}],
            "rate": "100/s",
            "read_ratio": 0.3,
        },
        {"size": "64 KiB", "clients": 1, "addresses": {"pattern": "sequential"}, "offset": "1 GB"},
        {"size": "4 KiB", "rate": "10/s", "weight": 0.5},
        {
            "sizes": [{"size": "4 KiB", "weight": 4}, {"size": "8 KiB", "weight": 3}],
            "arrival": {"kind": "excerpts", "rate": "20/s"},
            "addresses": "excerpts",
            "excerpts": {
                "n_phases": 3,
                "n_excerpts": 2,
                "n_requests": 5,
                "phases": "c-muRU}RuoWMq_+7hz;zU;_XGRsdi",
                "ends": "c-muRVg>*J4FCr",
                "requests": "c-mufWMEWeWME(f0tPV6At1oP!Kk2Lz%U;G5T*hJ",
            },
        },
    ],
}

#: Workloads that fit any array.
ANYWHERE: list[dict[str, Any]] = [
    {"size_bytes": 4096, "clients": 4, "read_ratio": 0.5},
    {"size_bytes": 512, "rate_per_s": 200.0, "read_ratio": 1.0},
    {
        "sizes": [{"size_bytes": 512, "weight": 2.0}, {"size_bytes": 8192, "weight": 1.0}],
        "clients": 2,
        "think_ns": 100_000,
    },
    {"size_bytes": 512, "clients": 1, "read_ratio": 0.0, "addresses": {"pattern": "sequential"}},
]
