"""Random questions to the planner, each determined by a seed and its number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diskmodel.plan.question.presets import preset

DISKS = ("generic-7k2", "generic-10k", "generic-15k", "generic-5k4", "hgst-ultrastar-7k8", "hgst-ultrastar-c15k600")
FLASH = ("generic-sas-ssd", "samsung-pm893-960", "micron-7450-pro-1920")
#: Random operations per second that one drive of a kind serves at about half load, and the range of limits on p99, ms.
_USUAL = {"disk": (80.0, (18.0, 150.0)), "flash": (10_000.0, (0.4, 4.0))}
#: Kinds of questions with their shares: most arrays are plain ones or have a write cache.
KINDS = {
    "disks": 0.16,
    "drive caches": 0.08,
    "write cache": 0.16,
    "read cache": 0.06,
    "flash": 0.10,
    "full flash": 0.05,
    "closed": 0.09,
    "two streams": 0.06,
    "sequential": 0.05,
    "bursts": 0.05,
    "page cache": 0.04,
    "preset": 0.10,
}
#: Requests per second that one disk serves of each preset, roughly, writes to a mirror included.
_PRESETS = {
    "analytics": 25,
    "backup": 60,
    "file-server": 45,
    "log": 200,
    "mail": 50,
    "oltp": 60,
    "spc1-like": 60,
    "video": 30,
    "vm": 60,
    "web": 70,
}
#: Disk operations per write by level, as the rule of thumb counts them.
_PENALTY = {"raid0": 1, "raid1": 2, "raid10": 2, "raid5": 4, "raid6": 6}


@dataclass(frozen=True)
class Question:
    """A question and its kind.

    Attributes
    ----------
    number : int
    kind : str
        One of `KINDS`.
    plan : dict
        As `PlanDescription.parse` takes it.
    """

    number: int
    kind: str
    plan: dict[str, Any]


def draw(seed: int, number: int) -> Question:
    """Return a question."""
    rng = np.random.default_rng([seed, number])
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    is_flash = "flash" in kind or (kind == "closed" and rng.random() < 0.3)
    drives = _some(rng.choice(FLASH if is_flash else DISKS, size=int(rng.random() < 0.3) + 1, replace=False))
    levels = _some(rng.choice(["raid10", "raid5", "raid6", "raid0"], size=2, replace=False, p=[0.36, 0.32, 0.24, 0.08]))
    per_drive, (low_ms, high_ms) = _USUAL["flash" if is_flash else "disk"]
    size_kib = int(rng.choice([4, 8, 16, 32, 64], p=[0.25, 0.3, 0.2, 0.1, 0.15]))
    read_ratio = float(rng.choice([0.0, 0.3, 0.5, 0.7, 0.9, 1.0], p=[0.08, 0.12, 0.2, 0.35, 0.2, 0.05]))
    disks = float(np.exp(rng.uniform(np.log(5), np.log(20))))
    limit_ms = float(np.exp(rng.uniform(np.log(low_ms), np.log(high_ms))))
    # what waits longer may be busier; a write cache merges and sorts
    per_drive *= (limit_ms / low_ms) ** 0.4 * (1.6 if "cache" in kind else 1.0)
    rate = disks * per_drive / (read_ratio + (1 - read_ratio) * _PENALTY[levels[0]]) * rng.uniform(0.7, 1.2)
    stream: dict[str, Any] = {"size": f"{size_kib} KiB", "read_ratio": read_ratio, "addresses": _addresses(rng)}
    statistic = str(rng.choice(["p99", "p95", "mean"], p=[0.7, 0.15, 0.15]))
    scale = {"p99": 1.0, "p95": 0.6, "mean": 0.25}[statistic]
    objective: dict[str, Any] = {"latency": {statistic: f"{limit_ms * scale:.3g} ms"}}
    if rng.random() < 0.15:
        objective["utilization_ceiling"] = f"{rng.integers(50, 85)} %"
    objective["capacity"] = f"{rng.uniform(0.1, 0.8):.2f} TB"
    controller: dict[str, Any] = {}
    host: dict[str, Any] = {}
    most_disks = int(rng.choice([12, 24, 40]))
    workload: dict[str, Any] = stream | {"rate": f"{rate:.4g}/s"}
    if kind == "write cache" or (kind == "flash" and rng.random() < 0.3):
        controller["write_cache"] = {"size": str(rng.choice(["128 MiB", "256 MiB", "512 MiB", "1 GiB"]))}
    elif kind == "drive caches" and rng.random() < 0.3:
        controller["write_cache"] = {"size": "256 MiB"}
    elif kind == "read cache":
        controller["read_cache"] = {"size": str(rng.choice(["256 MiB", "1 GiB"]))}
        controller["write_cache"] = {"size": "256 MiB"}
    elif kind == "closed":
        clients = int(rng.integers(2, 64))
        workload = stream | {"clients": clients}
        objective["iops"] = float(f"{rate * rng.uniform(0.7, 1.5):.3g}")
        objective["latency"] = {"p99": f"{2 * limit_ms:.3g} ms"}
    elif kind == "two streams":
        log = {"name": "log", "size": "16 KiB", "read_ratio": 0.0, "addresses": "sequential"}
        log["rate"] = f"{0.1 * rate:.4g}/s"
        workload = {"streams": [stream | {"name": "data", "rate": f"{rate:.4g}/s"}, log]}
        if rng.random() < 0.5:
            controller["write_cache"] = {"size": "256 MiB"}
    elif kind == "sequential":
        reads = float(rng.choice([0.0, 1.0]))
        mb_s = rng.uniform(50, 300)
        workload = {"size": "256 KiB", "read_ratio": reads, "addresses": "sequential", "rate": f"{mb_s * 4:.4g}/s"}
        if rng.random() < 0.5:
            controller["write_cache"] = {"size": "512 MiB"}
    elif kind == "full flash":  # space decides, so that drives are as full as the limit allows
        objective["capacity"] = f"{rng.uniform(2, 12):.2f} TB"
        objective["fill_limit"] = f"{rng.integers(80, 100)} %"
    elif kind == "bursts":
        ratio, share = rng.uniform(2, 8), rng.uniform(0.1, 0.3)  # of the rates, and of the time that it is on
        cycle_s = float(np.exp(rng.uniform(np.log(0.5), np.log(300))))
        off = rate / (share * ratio + 1 - share)
        times = {"mean_on": f"{share * cycle_s:.3g} s", "mean_off": f"{(1 - share) * cycle_s:.3g} s"}
        workload = stream | {
            "arrival": {"kind": "bursts", "on_rate": f"{ratio * off:.4g}/s", "off_rate": f"{off:.4g}/s", **times}
        }
        if rng.random() < 0.5:
            controller["write_cache"] = {"size": "256 MiB"}
    elif kind == "page cache":
        host = {"is_buffered": True, "page_cache": {"memory": str(rng.choice(["256 MiB", "1 GiB", "4 GiB"]))}}
    elif kind == "preset":
        name = str(rng.choice(list(_PRESETS)))
        tables = preset(name).fields
        workload = tables["workload"]
        limits = tables["objective"]
        objective = {**limits, "iops": float(f"{_PRESETS[name] * disks:.3g}"), "capacity": objective["capacity"]}
        if rng.random() < 0.4:
            controller["write_cache"] = {"size": "512 MiB"}
    plan = {
        "name": f"audit {seed}/{number}, {kind}",
        "workload": workload,
        "objective": objective,
        "candidates": {"drives": drives, "levels": levels, "max_disks": most_disks},
        "controller": controller,
        "host": host,
        "drive_write_cache": kind == "drive caches" or None,
        "search": {"seed": int(rng.integers(0, 1000))},
    }
    return Question(number, kind, plan)


def _some(chosen: Any) -> list[str]:
    return [str(item) for item in chosen]


def _addresses(rng: np.random.Generator) -> Any:
    if rng.random() < 0.7:
        return "uniform"
    return {"pattern": "zipf", "theta": round(float(rng.uniform(0.6, 1.1)), 2), "granule": "64 KiB"}
