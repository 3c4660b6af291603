"""Descriptions with extreme values in them give an answer, or the documented error; never a crash, a hang or a panic.

The tiers are those of `test_formats.py`: a hundred inputs each in the fast one, a million in the long one.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calibrate.measure import load
from diskmodel.array import Array
from diskmodel.drive import Flash, Hdd
from diskmodel.engine import native, simpy_engine
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError, FormatError, InputError
from diskmodel.plan import PlanDescription
from diskmodel.records import Run
from diskmodel.result.laws import check_laws
from diskmodel.workload import Workload
from tests.calibrate.test_measure_document import DOCUMENT
from tests.differential.cases import random_case
from tests.differential.compare import between
from tests.fuzz import extremes
from tests.fuzz.test_formats import LONG, SHORT

TIERS = [pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.long)]


@pytest.fixture(params=TIERS)
def fuzz(request: pytest.FixtureRequest) -> settings:
    """Settings with the tier's number of inputs; the same inputs in every run."""
    return settings(
        max_examples=request.param, deadline=None, derandomize=True, database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )  # fmt: skip


@st.composite
def changed(draw: st.DrawFn, change: Callable[..., dict[str, Any]], bases: list[dict[str, Any]]) -> dict[str, Any]:
    return change(draw(st.sampled_from(bases)), lambda options: draw(st.sampled_from(options)))


HDDS = [drive for drive in extremes.drives() if drive["kind"] == "hdd"]
FLASHES = [drive for drive in extremes.drives() if drive["kind"] == "flash"]
KINDS: dict[str, tuple[Any, list[dict[str, Any]]]] = {
    "array": (Array, extremes.arrays()),
    "workload": (Workload, extremes.workloads()),
    "plan": (PlanDescription, extremes.plans()),
    "hdd": (Hdd, HDDS),
    "flash": (Flash, FLASHES),
}


def say(error: InputError) -> str:
    """What a user is told; every fault has a place and a rule."""
    assert all(fault.field and fault.rule for fault in error.faults)
    assert error.faults
    return str(error)


@pytest.mark.parametrize("kind", KINDS)
def test_a_description_is_understood_or_refused(kind: str, fuzz: settings) -> None:
    """What is understood can be calculated with, and written and read back without a change."""
    form, bases = KINDS[kind]

    @fuzz
    @given(changed(extremes.damaged, bases) | changed(extremes.stretched, bases))
    def check(data: dict[str, Any]) -> None:
        try:
            description = form.parse(data)
            if kind in ("hdd", "flash"):
                description.tables()
            elif kind == "array":
                assert 0 < description.usable_bytes <= description.raw_bytes
            elif kind == "workload":
                requests = description.requests(capacity_bytes=10**12, n=50)
                assert (requests.offset >= 0).all()
                assert (requests.offset + requests.length <= 10**12).all()
                assert (requests.when_ns >= 0).all()
        except DescriptionError as error:
            say(error)
            return
        assert form.parse(description.to_dict()) == description
        if kind != "plan":
            assert form.parse(tomllib.loads(description.to_toml())) == description

    check()


SMALL = [random_case(number)["array"] for number in range(60)]


def test_both_engines_agree_on_extremes_or_refuse_them(fuzz: settings) -> None:
    """No panic of the kernel: whatever is valid is run by both engines to the same nanosecond."""

    @fuzz
    @given(
        changed(extremes.stretched, SMALL) | changed(extremes.stretched, extremes.arrays()),
        changed(extremes.stretched, extremes.ANYWHERE) | st.sampled_from(extremes.ANYWHERE),
        st.sampled_from((1, 5, 20)),
    )
    def check(array_data: dict[str, Any], workload_data: dict[str, Any], n: int) -> None:
        outcomes: list[Run | str] = []
        try:
            array = Array.parse(array_data)
            scenario = resolve(array, 1)
            requests = Workload.parse(workload_data).requests(capacity_bytes=array.usable_bytes, n=n, seed=1)
        except DescriptionError:
            return
        if native.covers(scenario, requests):
            return
        for engine in (native, simpy_engine):
            try:
                outcomes.append(engine.run(scenario, requests))
            except DescriptionError as error:
                outcomes.append(say(error))
        kernel, simpy = outcomes
        if isinstance(kernel, str) or isinstance(simpy, str):
            assert kernel == simpy
            assert "417 days" in kernel
            return
        check_laws(requests, kernel)
        assert between(requests, simpy, kernel) is None

    check()


def test_a_measurement_is_understood_or_refused(fuzz: settings, tmp_path: Path) -> None:
    path = tmp_path / "measurement.json"

    @fuzz
    @given(changed(extremes.damaged, [DOCUMENT]) | changed(extremes.stretched, [DOCUMENT]))
    def check(data: dict[str, Any]) -> None:
        path.write_text(json.dumps(data))
        try:
            measurement = load(path)
        except FormatError as error:
            say(error)
            return
        assert measurement.elapsed_s >= 0
        for experiment in measurement.experiments:
            assert (experiment.samples.latency_ns >= 0).all()

    check()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": ' + "9" * 5000 + "}", '{"a":' * 50_000, "\ufeff{}", ""])
def test_a_document_that_is_hard_to_parse_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "measurement.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError):
        load(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("capacity = '1e999999999 B'", "use one of B, kB"),
        ("capacity = '" + "9" * 5000 + " B'", "must be a number with a unit"),
        ("capacity = '20 EB'", "unknown unit 'EB'"),
        ("capacity = '-1 TB'", "greater than or equal to 0"),
        ("capacity_bytes = inf", "must be a finite number"),
        ("capacity_bytes = nan", "must be a finite number"),
        ("capacity = '12'", "a unit is missing"),
        ("rpm = '0 rpm'", "greater than or equal to 1"),
        ("interface = '0 MB/s'", "greater than or equal to 1000"),
        ("interface_rate = '1 MB/s'", "is not a known field"),
        ("read_overhead = '2 h'", "less than or equal to 3600000000000"),
        ("a = " + "[" * 20_000, "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(text: str, told: str, tmp_path: Path) -> None:
    """In time: a number with a billion digits is not written out first."""
    path = tmp_path / "drive.toml"
    path.write_text(f"kind = 'hdd'\nname = 'x'\nheads = 2\n{text}\n")
    with pytest.raises(DescriptionError) as caught:
        Hdd.load(path)
    assert told in str(caught.value)


def test_ten_thousand_disks_of_twenty_terabytes_and_strips_of_one_sector() -> None:
    """The largest and the finest that anybody would write gives an answer from both engines."""
    array = Array.parse(
        {"drive": "seagate-exos-x18", "layout": {"level": "raid10", "disks": 10_000, "strip_bytes": 512}}
    )  # fmt: skip
    assert array.usable_bytes == 5_000 * (array.drive.capacity_bytes // 512 * 512)
    scenario = resolve(array, 1)
    requests = Workload.parse({"size": "64 KiB", "clients": 8}).requests(capacity_bytes=array.usable_bytes, n=8)
    kernel, simpy = native.run(scenario, requests), simpy_engine.run(scenario, requests)
    check_laws(requests, kernel)
    assert between(requests, simpy, kernel) is None


def test_a_strip_of_one_byte_is_refused_with_a_way_out() -> None:
    with pytest.raises(DescriptionError, match="multiple of the sector size 512; try 512"):
        Array.parse({"drive": "generic-15k", "layout": {"level": "raid0", "disks": 2, "strip_bytes": 1}}).tables()


def test_spindles_that_drift_apart_until_they_stand_still_are_refused() -> None:
    """Found above: of 3000 disks, each 400 ppm faster than the one before, one took no time to turn."""
    array = {"drive": "generic-15k", "layout": {"level": "raid0", "disks": 3000}, "spindles": {"drift_ppm": 400}}
    with pytest.raises(DescriptionError, match=r"spindles.drift_ppm=400.0: .*; use at most 167"):
        resolve(Array.parse(array), 1)
    array["spindles"] = {"drift_ppm": 166}
    assert resolve(Array.parse(array), 1).revolution_ns[-1] > 2_000_000
