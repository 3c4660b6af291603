"""Figures: numbers that have their unit and their interval with them."""

from __future__ import annotations

import copy
import json
import math
import pickle
import sys
from fractions import Fraction

import numpy as np
import pytest

from diskmodel import Array, Result, Workload, simulate
from diskmodel.errors import MissingPackageError
from diskmodel.plain import plain
from diskmodel.result.figure import Figure


@pytest.fixture(scope="module")
def result() -> Result:
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "clients": 8})
    return simulate(Array("8x generic-15k raid5"), load, n_requests=4000)


def test_a_figure_calculates_and_compares_as_a_number() -> None:
    p99 = Figure(8.31, 8.02, 8.67, unit="ms")
    assert float(p99) == p99 == 8.31
    assert 8 < p99 < 9
    assert p99 + 1 == 9.31
    assert sum([p99, p99]) == max(p99, 16.62)
    assert type(p99 * 2) is float
    assert {p99: 1}[8.31] == 1  # type: ignore[index]
    assert np.array([p99]).dtype == np.float64
    assert Fraction(p99) == Fraction(8.31)
    assert sorted([p99, Figure(3.0)]) == [3.0, 8.31]
    assert not math.isnan(p99)


def test_a_format_is_that_of_the_number_and_text_has_unit_and_interval() -> None:
    p99 = Figure(8.312, 8.02, 8.67, unit="ms")
    assert f"{p99:.1f}" == f"{8.312:.1f}"
    assert f"{p99}" == str(p99) == "8.31 ms (8.02 to 8.67)"
    assert repr(p99) == "Figure(8.31 ms, 8.02 to 8.67)"
    assert p99.format(2, with_interval=False) == "8.3 ms"
    assert str(Figure(1234.5, 1000.0, 2000.0, unit="IOPS")) == "1,234 IOPS (1,000 to 2,000)"
    assert str(Figure(5.0, 4.0, math.inf, unit="ms")) == "5 ms (4 or more)"
    assert str(Figure(5.0, unit="ms")) == "5 ms"
    assert str(Figure(math.nan, unit="ms")) == "unknown"
    assert str(Figure(0.25)) == "0.25"
    assert str(Figure(8.312, 6.0, 11.2, unit="ms", find_bad=lambda: 9.62)) == "8.31 ms, 9.62 in one of ten"
    assert str(Figure(8.312, unit="ms", find_bad=lambda: math.inf)) == "8.31 ms, overloaded in one of ten"


def test_ends_are_found_once_when_they_are_looked_at() -> None:
    asked = []

    def find() -> tuple[float, float]:
        asked.append(1)
        return 1.0, 3.0

    figure = Figure(2.0, unit="ms", find=find)
    assert figure < 3
    assert not asked
    assert (figure.low, figure.high, figure.half_width, figure.relative) == (1.0, 3.0, 1.0, 0.5)
    assert len(asked) == 1


def test_copies_keep_everything() -> None:
    figure = Figure(2.0, unit="ms", n_batches=7, find=lambda: (1.0, 3.0), find_bad=lambda: 2.5)
    for other in (pickle.loads(pickle.dumps(figure)), copy.copy(figure), copy.deepcopy(figure)):
        assert (other, other.low, other.high, other.unit, other.n_batches) == (2.0, 1.0, 3.0, "ms", 7)
        assert other.in_one_of_ten == 2.5


def test_json_has_the_number() -> None:
    found = plain({"figure": Figure(2.5, 1.0, 3.0, unit="ms"), "unknown": Figure(math.nan)})
    assert found == {"figure": 2.5, "unknown": None}
    assert type(found["figure"]) is float
    assert json.dumps(Figure(2.5, 1.0, 3.0, unit="ms")) == "2.5"


def test_a_figure_has_the_interval_of_the_prediction_wherever_it_is_found(result: Result) -> None:
    prediction = result.prediction
    assert prediction is not None
    whole, statistics = prediction.intervals, ("mean", "p50", "p95", "p99")
    found = {f"all {name}": (owner, name, whole[name]) for name in statistics for owner in (result, result.latency)}
    found |= {f"observed {name}": (result.observed, name, whole[name]) for name in statistics}
    found |= {f"stream {name}": (*result.per_stream.values(), name, whole[name]) for name in statistics}
    for subset, latency in (("reads", result.reads), ("writes", result.writes)):
        found |= {f"{subset} {name}": (latency, name, prediction.subsets[subset][name]) for name in statistics}
    for where, (owner, name, known) in found.items():
        figure, run = owner.figure(name), owner.run_interval(name)
        assert figure == getattr(owner, name) == known.value / 1e6 == run.value / 1e6, where
        assert (figure.low, figure.high) == (known.low / 1e6, known.high / 1e6), where
        assert figure.unit == "ms"
        assert owner.interval_of(name) == known
        assert not run.low < known.low, where  # what is not known widens the interval of the run
        assert not run.high > known.high, where
    assert result.iops.low < result.run_iops.low < result.iops < result.run_iops.high < result.iops.high
    assert result.iops.unit == "IOPS"
    busy = result.utilization
    assert busy.low < result.run_interval("utilization").low < result.utilization_ratio == busy < busy.high <= 1
    assert result.reads.p99 < result.p99 < result.writes.p99
    rows = {row["requests"]: row for row in result.table_rows()}
    assert rows["writes"]["p99_low_ms"] == result.writes.p99.low
    assert rows["all"]["mean_high_ms"] == result.mean.high
    data = result.to_dict()
    assert data["interval"]["utilization_low"] == busy.low < data["run_interval"]["utilization_low"]
    assert data["reads"]["interval"]["mean_high_ms"] == result.reads.mean.high
    assert data["reads"]["run_interval"]["mean_high_ms"] == result.reads.run_interval("mean").high / 1e6


def test_asked_for_the_noise_of_the_run_alone_a_figure_has_that(result: Result) -> None:
    load = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "clients": 8})
    only = simulate(Array("8x generic-15k raid5"), load, n_requests=4000, profile_draws=0)
    for owner, other in ((only, result), (only.reads, result.reads), (only.latency, result.latency)):
        figure, run = owner.figure("mean"), other.run_interval("mean")
        assert (figure.low, figure.high) == (run.low / 1e6, run.high / 1e6)
        assert owner.run_interval("mean") == owner.interval_of("mean") == other.run_interval("mean")
    assert only.run_utilization == only.interval_of("utilization") == result.run_utilization


def test_copies_of_a_result_keep_what_is_not_known() -> None:
    drive = Array("1x generic-15k jbod")
    first = simulate(drive, Workload.parse({"size": "8 KiB", "clients": 2}), n_requests=1000, profile_draws=2)
    for other in (pickle.loads(pickle.dumps(first)), copy.deepcopy(first)):
        assert other.reads.p50.low == first.reads.p50.low < first.reads.run_interval("p50").low / 1e6


def test_no_scalars_of_numpy_leak(result: Result) -> None:
    seen: list[str] = []

    def walk(value: object, path: str) -> None:
        if isinstance(value, np.generic):
            seen.append(path)
        elif isinstance(value, dict):
            for key, item in value.items():
                walk(key, path)
                walk(item, f"{path}[{key!r}]")
        elif isinstance(value, list | tuple):
            for number, item in enumerate(value):
                walk(item, f"{path}[{number}]")
        elif hasattr(value, "__dataclass_fields__"):
            for name in value.__dataclass_fields__:
                if name not in ("requests", "run", "later"):  # columns, and all again without what is not known
                    walk(getattr(value, name), f"{path}.{name}")

    walk(result, "result")
    walk(result.table_rows(), "rows")
    assert not seen


def test_what_python_shows_is_short(result: Result) -> None:
    assert len(repr(result)) < 80
    shown = str(result).splitlines()
    assert len(shown) < 45
    assert max(map(len, shown)) <= 80
    assert all(line == line.rstrip() for line in shown)
    assert " in one of ten; mean " in shown[0]
    assert ["quantity", "value", "in", "one", "of", "ten"] in [line.split() for line in shown]


def test_a_result_is_drawn(result: Result) -> None:
    drawing = result.plot()
    assert [axes.get_xlabel() for axes in drawing.axes] == ["response, ms", "mean, ms"]
    assert drawing._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    from matplotlib.figure import Figure as Drawing

    own = Drawing()
    axes = own.subplots()
    assert result.plot(axes) is own
    assert len(axes.lines) == 3  # reads, writes and p99


def test_without_matplotlib_the_error_names_it(result: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib" or name == "diskmodel.drawing"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "diskmodel.result.show.plot", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match="needs the package matplotlib; pip install matplotlib"):
        result.plot()
