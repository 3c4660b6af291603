"""Heat maps in the page have the cells of Python's, and the lab's server answers with Python's."""

from typing import Any

import numpy as np
import pytest

from diskmodel.lab.heat import heat_of
from diskmodel.lab.settings import Settings
from diskmodel.lab.site.tables import drive_tables, level_tables
from diskmodel.records import PARTS, Completions
from diskmodel.result.statistics.heat_map import heat_map
from tests.unit.lab.serving import ask, serving
from tests.unit.lab.site.node import in_node

_CELLS = """async (modules, input) => modules["cells.js"].heatMapOf(
  { issueNs: Float64Array.from(input.issue), doneNs: Float64Array.from(input.done),
    parts: input.parts, partsNs: input.spent.flat() }, input.revolution)"""
_HEAT = """async (modules, input, kernel) => {
  const { unpacked } = modules["array.js"], { Bench } = modules["answers.js"], { Kernel } = modules["kernel.js"];
  const bench = new Bench(await Kernel.from(kernel), input.levels);
  bench.add(unpacked(input.drive));
  return modules["cells.js"].heat(bench, input.settings); }"""


def test_the_cells_are_those_of_python() -> None:
    rng = np.random.default_rng(5)
    n = 4000
    parts = np.zeros((n, len(PARTS)), np.int64)
    for part, mean_ns in (("queue", 9e6), ("seek", 4e6), ("rotation", 3e6)):
        parts[:, PARTS.index(part)] = rng.exponential(mean_ns, n)
    issue = np.sort(rng.integers(0, 10**10, n))
    done = issue + parts.sum(axis=1)
    wanted = heat_map(Completions(issue, done, parts, np.zeros(n, bool)), revolution_ms=8.3)
    data = {"issue": issue.tolist(), "done": done.tolist(), "parts": list(PARTS), "spent": parts.tolist()}
    got = in_node(_CELLS, data | {"revolution": 8.3})
    assert got["start_s"] == pytest.approx(wanted.start_s.tolist(), rel=1e-12)
    assert got["latency_ms"] == pytest.approx(wanted.latency_ms.tolist(), rel=1e-12)
    assert got["counts"] == wanted.counts.tolist()
    assert set(got["parts_ms"]) == set(wanted.parts_ms)
    for part, values in wanted.parts_ms.items():
        assert np.allclose(got["parts_ms"][part], values, rtol=1e-9), part
    assert got["revolution_ms"] == 8.3


def _shares(found: dict[str, Any]) -> dict[str, float]:
    spent = {part: float(np.sum(values)) for part, values in found["parts_ms"].items()}
    return {part: value / sum(spent.values()) for part, value in spent.items()}


@pytest.mark.parametrize("arrivals", ["outstanding", "rate"])
def test_the_page_and_the_server_show_the_same_mechanisms(arrivals: str) -> None:
    settings = Settings.parse(
        {"drive": "generic-7k2", "arrivals": arrivals, "rate_per_s": 200, "drive_write_cache": "off"}
    )
    data = {"levels": level_tables(), "drive": drive_tables("generic-7k2"), "settings": settings.to_dict()}
    page, server = in_node(_HEAT, data, with_kernel=True), heat_of(settings)
    assert page["revolution_ms"] == server["revolution_ms"] == pytest.approx(60e3 / 7200, rel=1e-6)
    assert np.sum(page["counts"]) == page["n_requests"]
    # other requests of the same distribution
    shares = _shares(server)
    for part, share in _shares(page).items():
        assert share == pytest.approx(shares[part], abs=0.03), part


def test_the_server_answers_with_a_heat_map() -> None:
    with serving() as url:
        status, found = ask(url + "heat-map", {"drive": "generic-sas-ssd"})
        assert status == 200
        assert found["revolution_ms"] is None
        assert np.sum(found["counts"]) == found["n_requests"] > 1000
        status, faults = ask(url + "heat-map", {"drive": "floppy"})
        assert status == 422
        assert faults["faults"][0]["field"] == "drive"
