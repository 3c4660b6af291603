"""Profiles of controllers say what was measured, and a simulation with them comes to it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.controller import Controller

ROOT = Path(__file__).parents[2] / "diskmodel" / "controller" / "catalogue"
PROFILES = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("*.toml"))}


def rate(array: dict[str, Any], load: dict[str, Any]) -> float:
    """Return the requests per second."""
    result = simulate(Array.parse(array), Workload.parse(load), n_requests=6000, profile_draws=0)
    return float(result.iops.mean)


@pytest.mark.parametrize("name", list(PROFILES))
def test_a_profile_describes_a_controller(name: str) -> None:
    assert PROFILES[name]["source"]
    assert PROFILES[name]["volume"]["commands"] >= 1
    Controller.parse(PROFILES[name].get("controller", {}))


@pytest.mark.parametrize(("read_ratio", "measured"), [(1, "reads_per_s"), (0, "writes_per_s")])
def test_few_commands_for_one_volume_explain_the_h330(read_ratio: int, measured: str) -> None:
    profile = PROFILES["perc-h330"]
    array = {
        "drive": "seagate-exos-10e2400-1200",
        "layout": {"level": "raid0", "disks": 24, "strip": "64 KiB"},
    }
    load = {"size": "4 KiB", "clients": profile["volume"]["commands"], "span": "100 GB", "read_ratio": read_ratio}
    error = np.log(rate(array, load) / profile["evidence"][measured])
    assert abs(error) < profile["volume"]["commands_log_sd"]


@pytest.mark.parametrize("depth", [1, 16])
def test_few_destages_explain_the_h730(depth: int) -> None:
    profile = PROFILES["perc-h730"]
    layout = {"level": "jbod", "disks": 1}
    array = {"drive": "hgst-ultrastar-7k4000", "layout": layout, "controller": profile["controller"]}
    load = {"size": "4 KiB", "clients": depth, "span": "5.37 GB", "read_ratio": 0}
    assert rate(array, load) == pytest.approx(np.mean(profile["evidence"]["writes_per_s"]), rel=0.1)
