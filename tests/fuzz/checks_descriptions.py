"""Every loader of descriptions: what it takes can be used, written and read back; or it says what is wrong."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from random import Random
from typing import Any

from calibrate import fit
from calibrate.evidence.cells import answered_together, cells_of
from calibrate.evidence.files import read_evidence
from calibrate.flash.writes import buffer_of
from calibrate.hdd.cache import find_cache
from calibrate.hdd.sequential import find_stretches
from calibrate.hdd.tracks import single_reads
from calibrate.measure import load
from diskmodel import units
from diskmodel.array import Array
from diskmodel.description import Description, read_toml
from diskmodel.drive import Flash, Hdd, Virtual, load_drive
from diskmodel.errors import DescriptionError, FormatError
from diskmodel.plan import PlanDescription
from diskmodel.plan.answer.outcome import Outcome
from diskmodel.plan.trial.memory import read_outcomes, to_plain
from diskmodel.result import Interval
from diskmodel.workload import Workload
from tests.calibrate.evidence.test_measurement import DOCUMENT
from tests.calibrate.mock_device import MockDevice
from tests.fuzz import extremes, seeds
from tests.fuzz.check import Run, check, on_disk
from tests.fuzz.checks_formats import say
from tests.fuzz.damage import damaged

Form = type[Description]

_DRIVES = extremes.drives()
#: What each kind is, and descriptions of it as plain data.
KINDS: dict[str, tuple[Form, list[dict[str, Any]]]] = {
    "array": (Array, extremes.arrays()),
    "workload": (Workload, extremes.workloads()),
    "plan": (PlanDescription, extremes.plans()),
    "hdd": (Hdd, [drive for drive in _DRIVES if drive["kind"] == "hdd"]),
    "flash": (Flash, [drive for drive in _DRIVES if drive["kind"] == "flash"]),
    "virtual": (Virtual, [drive for drive in _DRIVES if drive["kind"] == "virtual"]),
}


def _can_be_used(description: Any) -> None:
    if isinstance(description, Hdd | Flash | Virtual):
        description.tables()
    elif isinstance(description, Array):
        assert 0 < description.usable_bytes <= description.raw_bytes
    elif isinstance(description, Workload):
        requests = description.requests(capacity_bytes=10**12, n=50)
        assert (requests.offset >= 0).all()
        assert (requests.offset + requests.length <= 10**12).all()
        assert (requests.when_ns >= 0).all()


def _as_data(form: Form, bases: list[bytes]) -> Run:
    def run(choose: Random) -> bool:
        change = choose.choice((extremes.damaged, extremes.stretched))
        # using and writing take ten times as long as reading: one in eight
        is_thorough = choose.random() < 0.125
        try:
            description = form.parse(change(choose, bases))
            if is_thorough:
                _can_be_used(description)
        except DescriptionError as error:
            say(error)
            return False
        if is_thorough:
            assert form.parse(description.to_dict()) == description
            if form is not PlanDescription:
                assert form.parse(tomllib.loads(description.to_toml())) == description
        return True

    return run


for _name, (_form, _bases) in KINDS.items():
    check(_name)(_as_data(_form, extremes.packed(_bases)))


_ODD_TOML = (
    *(b'"', b"'", b'"""', b"'''", b"[", b"]", b"[[", b"]]", b"{", b"}", b"=", b".", b"\n", b"\r", b"#", b"\\u0000"),
    *(b"\\ud800", b"nan", b"-inf", b"1e400", b"0x7f", b"0b1", b"1_0", b"9" * 5000, b"2026-11-21", b"07:32:00", b"true"),
    *(b"[layout]\n", b"[[streams]]\n", b"a.b.c=1\n", b'""=1\n', b"'kind'=1\n", b'"1 KiB"', b"20 TB", b"\xc2\xb5s"),
    *(b"drive = {}\n", b"x = [[[[1]]]]\n", b"\xef\xbb\xbf", b"\x00", b"\x7f", b"\xff"),
)


def _files(pattern: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted(seeds.EXAMPLES.glob(pattern))]


def _as_text(load_file: Callable[[Any], Description], texts: list[bytes]) -> Run:
    def run(choose: Random) -> bool:
        path = on_disk(damaged(choose, texts, _ODD_TOML), "input.toml")
        try:
            description = load_file(path)
        except DescriptionError as error:
            say(error)
            return False
        if choose.random() < 0.125:
            assert type(description).parse(description.to_dict()) == description
        return True

    return run


_DRIVE_FILES = [
    form.parse(base).to_toml().encode()
    for kind in ("hdd", "flash", "virtual")
    for form, bases in (KINDS[kind],)
    for base in bases
]
_ARRAYS = [text for text in _files("*.toml") if b"[layout]" in text]
_WORKLOADS = _files("oltp.toml") + _files("random-read.toml")
check("array-file")(_as_text(Array.load, _ARRAYS))
check("workload-file")(_as_text(Workload.load, _WORKLOADS))
check("plan-file")(_as_text(PlanDescription.load, _files("plan-*.toml")))
check("drive-file")(_as_text(load_drive, _DRIVE_FILES))


_STRANGE = [text.encode("utf-8", "surrogatepass") for text in extremes.QUANTITIES if len(text) < 100]
_QUANTITIES = [
    (units._BYTES, (b"64 KiB", b"300 GB", b"1.5TiB", b"4096 B", b"1,024 kB", *_STRANGE)),
    (units._TIME, (b"4.7 ms", b"100us", b"1e3 ns", b"2 \xc2\xb5s", b"10 y", b"90 min", *_STRANGE)),
    (units._RATE, (b"125 MB/s", b"6 Gb/s", b"1.5e3 kB/s", *_STRANGE)),
    (units._RPM, (b"10k rpm", b"7200 rpm", b"15k", b"5_400 rpm", *_STRANGE)),
    (units._PER_SECOND, (b"100/s", b"2.5 iops", b"1e6 IOPS", *_STRANGE)),
    (units._RATIO, (b"50%", b"0.5", b"99.9 %", *_STRANGE)),
    (units._PPM, (b"400 ppm", b"-20 ppm", b".5ppm", *_STRANGE)),
]
_ODD_NUMBERS = (
    b"-",
    b"+",
    b".",
    b",",
    b"_",
    b"e",
    b"E5",
    b"e-300",
    b"e999",
    b" ",
    b"\n",
    b"\0",
    b"\xc2\xb5",
    b"0" * 99,
)


@check("quantity")
def quantity(choose: Random) -> bool:
    """A number with a unit is exact, or refused; bounded in size, so that no sum of digits takes long."""
    known, texts = choose.choice(_QUANTITIES)
    text = damaged(choose, texts[: choose.choice((3, 99))], _ODD_NUMBERS).decode("utf-8", errors="surrogateescape")
    try:
        value = units.parse(text, known)
    except ValueError:
        return False
    assert value.denominator.bit_length() + value.numerator.bit_length() < 12_000
    return True


@check("quantity-back")
def quantity_back(choose: Random) -> bool:
    """What is written with a unit is read as the same."""
    value = choose.getrandbits(choose.randrange(1, 61))
    assert units.parse(units.pretty_bytes(value), units._BYTES) == value
    assert units.parse(units.pretty_ns(value), units._TIME) == value
    rate = float(value) * 10.0 ** choose.randrange(-3, 1)
    assert float(units.parse(units.pretty_rate(rate), units._RATE)) == rate
    return True


_DOCUMENTS = extremes.packed([DOCUMENT])
_DOCUMENT = (json.dumps(DOCUMENT).encode(),)


@check("measurement")
def measurement(choose: Random) -> bool:
    if choose.random() < 0.6:
        data = extremes.as_json(choose, _DOCUMENTS).encode("utf-8", "surrogatepass")
    else:
        data = damaged(choose, _DOCUMENT)
    try:
        found = load(on_disk(data))
    except FormatError as error:
        say(error)
        return False
    assert found.elapsed_s >= 0
    for experiment in found.experiments:
        assert (experiment.samples.latency_ns >= 0).all()
        for run in experiment.runs:
            assert run.queue_depth > 0
    return True


def _measured() -> dict[str, Any]:
    """A measurement by a device of known parameters, of every experiment a few requests."""
    device = MockDevice(load_drive("intel-x25-e-64"))
    device.random_reads((1, 8), n=24, repetitions=1)
    device.zones(positions=2, requests=10)
    device.begin("write_cache")
    device.experiments[-1]["summary"] = {"buffer_bytes": 1 << 20, "is_write_back": True}
    device.run(device.anywhere(6, 4096), 4096, is_write=True, part="plain and durable")
    device.begin("cache_segments")
    device.experiments[-1]["summary"] = {"segments_at_least": 8, "segments_below": 12}
    document: dict[str, Any] = json.loads(device.write(on_disk(b"", "measured")).read_bytes())
    document["target"]["device"] = {"model": "X", "disk": "sdx", "size_bytes": 10**9, "logical_sector_bytes": 512}
    document["warnings"] = [{"code": "busy", "message": "the machine was busy"}]
    return document


_MEASURED = extremes.packed([_measured()])


@check("evidence-of-a-fit")
def evidence_of_a_fit(choose: Random) -> bool:
    """Whatever is read as a measurement is taken apart by the calibration without a fault."""
    text = extremes.as_json(choose, _MEASURED)
    try:
        evidence = read_evidence(on_disk(text.encode("utf-8", "surrogatepass")))
    except FormatError as error:
        say(error)
        return False
    for measured in evidence.measurements:
        cells = cells_of(measured)
        assert all(cell.mean_ns > 0 for cell in cells.values())
        single_reads(measured)
        find_stretches(measured, 8e6, 512)
        find_cache(measured)
        capacity, _ = fit.capacity_of(measured)
        assert capacity >= 0
        fit._name(measured)
        fit._note_warnings(measured, [])
    buffer_of(evidence.measurements)
    answered_together(evidence.measurements)
    return True


_FIGURE = Interval(1.5, 1.0, 2.0)
_OUTCOME = Outcome(True, _FIGURE, _FIGURE, {"": {"mean": _FIGURE, "p99": _FIGURE}}, 0.5)
_LINE: dict[str, Any] = {"key": "00ff", "outcome": to_plain(_OUTCOME)}
_PACKED_LINE = extremes.packed([_LINE])
_LINES = (2 * (json.dumps(_LINE) + "\n").encode(),)


@check("memory-of-a-plan")
def memory_of_a_plan(choose: Random) -> bool:
    """Lines that are not whole are passed over; what is taken is an outcome."""
    if choose.random() < 0.6:
        data = extremes.as_json(choose, _PACKED_LINE).encode("utf-8", "surrogatepass")
    else:
        data = damaged(choose, _LINES)
    found = read_outcomes(on_disk(data))
    for outcome in found.values():
        assert isinstance(outcome, Outcome)
        to_plain(outcome)
    return bool(found)


@check("toml")
def toml(choose: Random) -> bool:
    """Any TOML at all: also what describes something else, and what is no description."""
    path = on_disk(damaged(choose, (*_ARRAYS, *_WORKLOADS), _ODD_TOML))
    try:
        read_toml(path, choose.choice(("", "array", "drive", "plan", "workload")))
    except DescriptionError as error:
        say(error)
        return False
    return True
