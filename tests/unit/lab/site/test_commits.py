"""Commits in the page are those of Python: row by row where the requests are the same, within the noise where drawn."""

import math
from typing import Any

import numpy as np
import pytest

from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.lab.commits import PLACES, CommitSettings, answer_at, commit_offers, place_of
from diskmodel.lab.site.tables import drive_tables, level_tables
from diskmodel.records import Requests, StreamRule
from tests.unit.lab.site.node import in_node

DRIVES = ("generic-7k2", "samsung-pm9a3-7680")
SETTINGS = CommitSettings(drive="generic-7k2", clients=8)
LOADED = CommitSettings(drive="generic-7k2", clients=4, work_ms=5.0, load_ratio=0.3)
MANY = CommitSettings(drive="generic-7k2", clients=128, load_ratio=0.1)

_BENCH = """
  const { unpacked } = modules["array.js"], { Bench } = modules["answers.js"], { Kernel } = modules["kernel.js"];
  const bench = new Bench(await Kernel.from(kernel), input.levels);
  for (const tables of input.drives) bench.add(unpacked(tables));
"""
_ROWS = (
    "async (modules, input, kernel) => {"
    + _BENCH
    + """
  const { placeOf, drawLog } = modules["durable.js"], { usableBytes } = modules["array.js"];
  const of = (settings, place) => {
    const { name, changes } = placeOf(bench, place, settings, input.about);
    const reads = settings.load_ratio ? { nReads: 200, readsPerS: 25 } : { nReads: 0 };
    const spanBytes = usableBytes(changes, bench.drives[name]);
    const { requests, streams } = drawLog(settings, input.about, { nLog: 500, ...reads, spanBytes });
    const { issueNs, doneNs, partsNs } = bench.kernel.run(bench.kept[name], { ...changes, streams }, requests);
    return { requests, streams, issueNs, doneNs, partsNs };
  };
  return input.asked.map(([settings, place]) => of(settings, place)); }"""
)
_ANSWERS = (
    "async (modules, input, kernel) => {"
    + _BENCH
    + """
  const { commitsAt } = modules["durable.js"];
  return input.asked.map(([settings, place]) => commitsAt(bench, place, settings, input.about)); }"""
)


def asked(main: str, pairs: list[tuple[CommitSettings, str]]) -> list[dict[str, Any]]:
    """What the page makes of settings and places."""
    plain = [(settings.to_dict(), place) for settings, place in pairs]
    data = {"levels": level_tables(), "drives": [drive_tables(name) for name in DRIVES], "about": commit_offers()}
    answers: list[dict[str, Any]] = in_node(main, data | {"asked": plain}, with_kernel=True)
    return answers


def test_the_page_runs_what_python_runs() -> None:
    pairs = [(settings, place) for settings in (SETTINGS, LOADED) for place, *_ in PLACES]
    for (settings, place), found in zip(pairs, asked(_ROWS, pairs), strict=True):
        drawn = found["requests"]
        rules = tuple(StreamRule("", **{k: v for k, v in rule.items()}) for rule in found["streams"])
        requests = Requests(
            when_ns=np.array(drawn["whenNs"], np.int64),
            op=np.array(drawn["op"], np.uint8),
            offset=np.array(drawn["offset"], np.int64),
            length=np.array(drawn["length"], np.int64),
            stream=np.array(drawn["stream"], np.int32),
            cache_draw=np.array(drawn["cacheDraw"], np.float64),
            streams=rules,
        )
        run = native.run(resolve(place_of(place, settings.drive), 1), requests)
        assert run.completions.issue_ns.tolist() == found["issueNs"], place
        assert run.completions.done_ns.tolist() == found["doneNs"], place
        assert run.completions.parts_ns.ravel().tolist() == found["partsNs"], place


@pytest.mark.parametrize("settings", [SETTINGS, LOADED, MANY])
def test_its_figures_are_those_of_diskmodel_lab(settings: CommitSettings) -> None:
    """Other requests, the same distributions: apart by no more than both intervals, each 95 %."""
    pairs = [(settings, place) for place, *_ in PLACES]
    for (_, place), page in zip(pairs, asked(_ANSWERS, pairs), strict=True):
        own = answer_at(settings, place)
        assert page["is_stable"] == own["is_stable"]
        [mean, low, high], [other, other_low, other_high] = page["mean_ms"], own["mean_ms"]
        apart = 2 * math.hypot(high - low, other_high - other_low)
        assert abs(mean - other) <= apart + 0.01 * other, place
        assert page["commits_per_s"] == pytest.approx(own["commits_per_s"], rel=0.1), place


def test_a_disk_commits_once_a_revolution_and_a_protected_cache_at_once() -> None:
    one = CommitSettings(drive="generic-7k2", clients=1)
    found = {place: answer_at(one, place) for place, *_ in PLACES}
    for place in ("off", "on", "mirror"):
        assert found[place]["commits_per_s"] == pytest.approx(120, rel=0.02)
    for place in ("protected", "device"):
        assert found[place]["mean_ms"][0] < 0.1
