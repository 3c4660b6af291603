"""Public threads: what people measured, the cause that was found, and what the explanation says."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from diskmodel.explanation.explain import explain
from diskmodel.explanation.explanation import Explanation
from diskmodel.explanation.measured import SHAPE, Measured
from diskmodel.workload import Workload

THREADS = Path(__file__).parents[2] / "data" / "explained-threads.toml"


def threads() -> list[dict[str, Any]]:
    """Return the threads."""
    return list(tomllib.loads(THREADS.read_text(encoding="utf-8"))["thread"])


def explained(thread: dict[str, Any]) -> Explanation:
    """Return what the explanation makes of the figures in a thread."""
    return explain([_measured(thread["id"], point) for point in thread["points"]], thread["array"])


def _measured(name: str, point: dict[str, Any]) -> Measured:
    fields = {"size": point["size"], "read_ratio": point["reads"], "clients": point["depth"]}
    fields |= {key: point[key] for key in ("span", "sync") if key in point}
    if point.get("sequential"):
        fields["addresses"] = "sequential"
    # those who wait for safe writes time them with their flushes
    part = "reads" if point["reads"] else "commits" if "sync" in point else "writes"
    figures = {"iops": float(point["iops"])} if "iops" in point else {}
    # as results of fio are read: percentiles leave out the time of submission
    scale = {
        kind: point["mean_ms"] / point.get("clat_mean_ms", point["mean_ms"]) for kind in SHAPE if "mean_ms" in point
    }
    for kind in ("mean", *SHAPE):
        if f"{kind}_ms" in point:
            figures[f"{part}.{kind}"] = point[f"{kind}_ms"] * 1e6 * scale.get(kind, 1.0)
    return Measured(f"{name}, depth {point['depth']}", Workload.parse(fields), figures, {part: 10_000.0})


def agrees(thread: dict[str, Any], found: Explanation) -> str:
    """Return whether the explanation says what the thread found: "first", "among three", or "no".

    Where nothing was wrong, it has to be as expected; where it was nothing that is known here, none may be named.
    """
    if not thread["finds"]:
        return "first" if found.is_as_expected else "no"
    if thread["finds"] == ["none"]:
        return "first" if not found.causes and not found.is_as_expected else "no"
    for place, one in enumerate(found.causes):
        if set(thread["finds"]) & set(one.names):
            return "among three" if place else "first"
    return "no"


def in_words(found: Explanation) -> str:
    """Return the answer in one line."""
    if found.is_as_expected:
        return "nothing to explain"
    if not found.causes:
        return "none of what is known"
    return "; ".join(f"{' + '.join(one.names)} {one.probability:.0%}".replace("%", " %") for one in found.causes)


if __name__ == "__main__":
    for thread in threads():
        found = explained(thread)
        print(thread["id"], agrees(thread, found), in_words(found), f"{found.wall_s:.1f} s")
