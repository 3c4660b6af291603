"""Every reader of evidence: it answers, or raises the documented error."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import zstandard

from calibrate.evidence.requests import read_requests
from diskmodel.array import Array
from diskmodel.drive import load_drive, read_seek_file
from diskmodel.errors import DescriptionError, FormatError
from diskmodel.formats.arrays.as_array import volume_array, volume_words
from diskmodel.formats.arrays.blocks import volumes_of_lsblk
from diskmodel.formats.arrays.registry import read_arrays
from diskmodel.formats.arrays.volume import Volume
from diskmodel.formats.benchmarks.registry import jobs_of_text as jobs_of_benchmark
from diskmodel.formats.detect import KINDS, detect_evidence
from diskmodel.formats.device_load import DeviceLoad
from diskmodel.formats.faults import LineError
from diskmodel.formats.fio import reader as fio
from diskmodel.formats.fio.latency_log import read_latency_log
from diskmodel.formats.hardware import facts_of_text
from diskmodel.formats.latencies import latencies_of_text
from diskmodel.formats.opening import read_document
from diskmodel.formats.pools import arc_of_texts, pools_of_text
from diskmodel.formats.pools import kind_of as kind_of_pools
from diskmodel.formats.pools.array import pool_array, pool_words
from diskmodel.formats.pools.listing import pools_of_list
from diskmodel.formats.recorders import loads_of_text as loads_of_recording
from diskmodel.formats.sysstat import loads_of_text
from diskmodel.formats.trace.columns import TraceChunk
from diskmodel.formats.trace.reader import detect, read_trace
from diskmodel.formats.trace.registry import FORMATS
from diskmodel.formats.workloads.find import find_workload
from diskmodel.formats.workloads.jobs import from_jobs
from diskmodel.workload.description import Workload
from tests.fuzz import extremes, seeds
from tests.fuzz.check import Run, check, on_disk
from tests.fuzz.damage import ODD, as_text, damaged


def _mostly(choose: Random, own: Sequence[bytes]) -> bytes:
    """A damaged file of the reader's own kind, one time in ten of any."""
    return damaged(choose, seeds.ANY if choose.random() < 0.1 else own)


def _document(choose: Random, own: Sequence[bytes], documents: Sequence[bytes]) -> str:
    """Text of a JSON document that is damaged as text, or changed as data."""
    if choose.random() < 0.5:
        return extremes.as_json(choose, documents)
    return as_text(_mostly(choose, own))


def _parsed(own: Sequence[bytes]) -> list[bytes]:
    return extremes.packed(json.loads(seed) for seed in own)


#: What the members of arrays are taken to be: a drive that is quickly validated.
ANY_DRIVE = load_drive("aws-gp3")
#: One array in so many is written and read back, which takes longer than all the rest of an input.
_ROUND_TRIPS = 8
#: Longest message about one fault: a message must not quote a whole file.
MAX_TEXT = 3000


def say(error: FormatError | DescriptionError) -> str:
    """Check what a user reads: every fault has a place and a rule, and can be printed."""
    assert error.faults
    assert all(fault.field and fault.rule for fault in error.faults)
    text = str(error)
    assert len(text) < MAX_TEXT * len(error.faults)
    text.encode("utf-8", errors="surrogateescape" if "\udc80" <= max(text) <= "\udcff" else "strict")
    return text


def _trace(name: str) -> Run:
    def run(choose: Random) -> bool:
        errors = choose.choice(("raise", "count"))
        n = 0
        try:
            for chunk in read_trace(on_disk(_mostly(choose, seeds.TRACES[name])), format=name, errors=errors):
                _is_sound(chunk)
                n += len(chunk)
        except LineError as error:
            assert errors == "raise"
            say(error)
        except FormatError as error:
            say(error)  # the file as a whole: damaged compression, times that add up to centuries
        return n > 0

    return run


def _is_sound(chunk: TraceChunk) -> None:
    assert len(chunk) > 0
    assert chunk.length_bytes.min() > 0
    assert chunk.offset_bytes.min() >= 0
    assert chunk.response_ns.min() >= -1
    assert chunk.op.max() <= 1
    assert abs(chunk.time_ns).max() <= 2**62
    assert 0 <= chunk.device.min() <= chunk.device.max() < len(chunk.device_names)


for _name in FORMATS:
    check(f"trace-{_name}")(_trace(_name))

_LINES = {name: seeds.TRACES[name][0].decode().split("\n")[-2] for name in FORMATS if name in seeds.WORKED}
_LINES.pop("csv")  # its first line is a heading


@check("trace-lines")
def both_ways_through_a_block(choose: Random) -> bool:
    """A line is judged alike in a clean block (parsed at once) and beside a bad one (line by line)."""
    name = choose.choice(sorted(_LINES))
    line, place = _LINES[name], choose.randrange(30)
    piece = choose.choice(ODD) if choose.random() < 0.7 else choose.randbytes(choose.randrange(4))
    line = (line[:place] + piece.decode("latin-1") + line[place + choose.randrange(5) :]).replace("\n", "")
    line = line.replace("\r", "")
    seen = []
    for other in ("", "\n?"):
        reader = read_trace(on_disk((line + other).encode()), format=name, errors="count")
        columns = ("time_ns", "op", "offset_bytes", "length_bytes", "response_ns")
        rows = [tuple(getattr(chunk, n).tolist() for n in columns) for chunk in reader]
        seen.append((rows, reader.device_names if rows else (), reader.n_malformed - bool(other)))
    assert seen[0] == seen[1], line
    return bool(seen[0][0])


def _fio(kind: str | None, own: Sequence[bytes]) -> Run:
    documents = _parsed(own) if kind == "fio-json" else None

    def run(choose: Random) -> bool:
        text = _document(choose, own, documents) if documents else as_text(_mostly(choose, own))
        try:
            jobs = fio.jobs_of_text(text, "fuzz", kind)
        except FormatError as error:
            say(error)
            return False
        assert jobs
        for job in jobs:
            assert job.depth > 0
            assert job.n_jobs > 0
            for direction in job.directions.values():
                assert direction.iops >= 0
        return True

    return run


for _kind, _own in seeds.FIO.items():
    check(_kind)(_fio(_kind, _own))
check("fio-any")(_fio(None, [seed for own in seeds.FIO.values() for seed in own]))


def _loads(
    own: Sequence[bytes], documents: Sequence[bytes] | None, loads_of: Callable[[str], Sequence[DeviceLoad]]
) -> Run:
    """A check of a reader of loads: each load has samples, none of them below 0 or endless."""

    def run(choose: Random) -> bool:
        text = _document(choose, own, documents) if documents else as_text(_mostly(choose, own))
        try:
            loads = loads_of(text)
        except FormatError as error:
            say(error)
            return False
        assert loads
        for load in loads:
            assert len(load) > 0
            for series in (load.utilization_ratio, load.ios_per_s, load.read_bytes_per_s, load.await_ns):
                assert not (series < 0).any()
                assert not np.isinf(series).any()
        return True

    return run


def _sysstat(kind: str | None, own: Sequence[bytes]) -> Run:
    documents = _parsed(own) if kind and kind.endswith("json") else None
    return _loads(own, documents, lambda text: loads_of_text(text, "fuzz", kind=kind))


for _kind, _own in seeds.SYSSTAT.items():
    check(_kind)(_sysstat(_kind, _own))
check("sysstat-any")(_sysstat(None, [seed for own in seeds.SYSSTAT.values() for seed in own]))


def _recording(kind: str, own: Sequence[bytes]) -> Run:
    documents = _parsed(own) if kind in ("prometheus", "cloudwatch") else None
    return _loads(own, documents, lambda text: loads_of_recording(text, "fuzz", kind))


for _kind, _own in seeds.RECORDINGS.items():
    check(f"recording-{_kind}")(_recording(_kind, _own))


def _benchmark(kind: str, own: Sequence[bytes]) -> Run:
    def run(choose: Random) -> bool:
        try:
            jobs = jobs_of_benchmark(as_text(_mostly(choose, own)), "fuzz", kind)
        except FormatError as error:
            say(error)
            return False
        assert jobs
        for job in jobs:
            assert job.depth > 0
            assert job.n_jobs > 0
            assert all(direction.iops >= 0 for direction in job.directions.values())
        try:
            assert Workload.parse(from_jobs(jobs, kind, "fuzz", None).workload).streams
        except (FormatError, DescriptionError) as error:
            say(error)
        return True

    return run


for _kind, _own in seeds.BENCHMARKS.items():
    check(f"result-{_kind}")(_benchmark(_kind, _own))

_HARDWARE = _parsed(seeds.HARDWARE)


@check("hardware")
def smartctl_and_lsblk(choose: Random) -> bool:
    try:
        facts = facts_of_text(_document(choose, seeds.HARDWARE, _HARDWARE))
    except FormatError as error:
        say(error)
        return False
    assert facts
    assert all(fact.rpm is None or fact.rpm > 0 for fact in facts)
    assert all(fact.capacity_bytes is None or fact.capacity_bytes > 0 for fact in facts)
    return True


@check("pools")
def zpool_status(choose: Random) -> bool:
    try:
        pools = pools_of_text(as_text(_mostly(choose, seeds.POOLS)), "fuzz")
    except FormatError as error:
        say(error)
        return False
    assert pools
    for pool in pools:
        assert pool.in_words()
        assert pool.scan is None or 0 <= pool.scan.done_ratio <= 1
    return True


def _arrays(volumes_of: Callable[[str], Sequence[Volume]], own: Sequence[bytes]) -> Run:
    documents = _parsed(own) if own[0].startswith(b"{") else None

    def run(choose: Random) -> bool:
        text = _document(choose, own, documents) if documents else as_text(_mostly(choose, own))
        try:
            volumes = volumes_of(text)
        except FormatError as error:
            say(error)
            return False
        for volume in volumes:
            assert volume.members
            assert volume_words(volume, "generic-7k2")
            assert volume.running is None or 0 <= volume.running.done_ratio <= 1
            _is_built(choose, lambda volume=volume: volume_array(volume, ANY_DRIVE))  # type: ignore[misc]
        return bool(volumes)

    return run


def _is_built(choose: Random, build: Callable[[], Array]) -> bool:
    """Whether an array comes of what a file shows; otherwise it is refused."""
    try:
        array = build()
    except DescriptionError as error:
        say(error)
        return False
    if choose.random() * _ROUND_TRIPS < 1:
        assert Array.parse(array.to_dict()) == array
    return True


for _kind, _own in seeds.ARRAYS.items():
    check(f"array-{_kind}")(_arrays(partial(read_arrays, source="fuzz", kind=_kind), _own))
check("array-lsblk")(_arrays(partial(volumes_of_lsblk, source="fuzz"), seeds.LSBLK))


@check("array-pools")
def arrays_of_pools(choose: Random) -> bool:
    """Arrays of the pools of zpool status and zpool list -v."""
    text = as_text(_mostly(choose, seeds.LISTED_POOLS))
    read = pools_of_list if kind_of_pools(text) == "zpool-list" else pools_of_text
    try:
        pools = read(text, "fuzz")
    except FormatError as error:
        say(error)
        return False
    for pool in pools:
        if _is_built(choose, lambda pool=pool: pool_array(pool, ANY_DRIVE, {}, {})):  # type: ignore[misc]
            assert pool_words(pool, "generic-7k2")
    return bool(pools)


def _latencies(kind: str, own: Sequence[bytes]) -> Run:
    def run(choose: Random) -> bool:
        try:
            found = latencies_of_text(as_text(_mostly(choose, own)), "fuzz", kind)
        except FormatError as error:
            say(error)
            return False
        for part, counts in found.counts.items():
            assert all(0 <= low < high and n >= 0 for (low, high), n in counts.items())
            # rows of a damaged file may overlap
            ends = min(low for low, _ in counts), max(high for _, high in counts)
            for level in (0.5, 0.99):
                found_ns = found.quantile_ns(part, level)
                assert found_ns is not None
                assert ends[0] * (1 - 1e-9) <= found_ns <= ends[1] * (1 + 1e-9)
        return True

    return run


for _kind, _own in seeds.LATENCIES.items():
    check(f"latencies-{_kind}")(_latencies(_kind, _own))


@check("arcstats")
def arcstats(choose: Random) -> bool:
    try:
        arc = arc_of_texts([(as_text(_mostly(choose, seeds.ARCSTATS)), "fuzz")])
    except FormatError as error:
        say(error)
        return False
    assert arc.hit_ratio is None or 0 <= arc.hit_ratio <= 1
    assert all(one.n >= 0 for one in arc.reads.values())
    return True


@check("latency-log")
def latency_log(choose: Random) -> bool:
    try:
        log = read_latency_log(on_disk(_mostly(choose, seeds.LATENCY_LOGS)))
    except FormatError as error:
        say(error)
        return False
    assert len(log) > 0
    assert log.latency_ns.min() >= 0
    assert log.op.max() <= 1
    return True


@check("detect")
def detection(choose: Random) -> bool:
    """Of evidence as a whole, and of traces alone."""
    path = on_disk(damaged(choose, seeds.ANY))
    understood = False
    with contextlib.suppress(FormatError):
        assert detect(path) in FORMATS
    try:
        assert detect_evidence(path) in KINDS
        understood = True
    except FormatError as error:
        say(error)
    return understood


_ZSTD = zstandard.ZstdCompressor(level=1)
_PACKERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda data: gzip.compress(data, compresslevel=1, mtime=0),
    lambda data: bz2.compress(data, compresslevel=1),
    lambda data: lzma.compress(data, preset=0),
    lambda data: _ZSTD.compress(data),
)
_SHORT = [seed[:300] for seed in seeds.ANY]


def _packed(pack: Callable[[bytes], bytes]) -> tuple[bytes, ...]:
    return (*map(pack, _SHORT), pack(_SHORT[0]) + pack(_SHORT[1]), pack(b""), pack(pack(_SHORT[0])))


_PACKED = [seed for pack in _PACKERS for seed in _packed(pack)]


@check("compression")
def compression(choose: Random) -> bool:
    """Damaged while it was compressed: what is read is whole, or the error says that it is damaged."""
    try:
        text = read_document(on_disk(damaged(choose, _PACKED)), max_bytes=1 << 20)
    except FormatError as error:
        say(error)
        return False
    return bool(text)


@check("find-workload")
def workload_of_evidence(choose: Random) -> bool:
    """Whatever workload is found is one that the simulation takes."""
    path = on_disk(damaged(choose, seeds.ANY))
    try:
        found = find_workload(path, errors=choose.choice(("raise", "count")), level=choose.choice((0, 50, 95, 100)))
        assert Workload.parse(found.workload).streams
    except (FormatError, DescriptionError) as error:
        say(error)
        return False
    return True


_REQUESTS = (b"R Hit 3962268 12 6657.0 64047.0\nW Doub 8 4 607.5 10.25\nR Trip 0 1 1.0 0.0\n",)


@check("request-trace")
def requests_of_a_traced_drive(choose: Random) -> bool:
    data = _mostly(choose, _REQUESTS)
    try:
        trace = read_requests(on_disk(data))
    except FormatError as error:
        say(error)
        return False
    assert len(trace) > 0
    assert trace.lba.min() >= 0
    assert np.isfinite(trace.response_ms).all()
    assert np.isfinite(trace.pause_ms).all()
    assert trace.response_ms.min() > 0
    return True


_SEEKS = (b"distance,ms\n1,0.8\n10, 1.53\n100 2.5\n# far\n1000,4.75\n30000\t9.1\n", b"0,0\n1,0.5\n7,1e0\n")


@check("seek-table")
def seek_table(choose: Random) -> bool:
    path: Path = on_disk(_mostly(choose, _SEEKS))
    try:
        table = read_seek_file(path)
    except (FormatError, DescriptionError) as error:
        say(error)
        return False
    assert len(table.distance) == len(table.time_ms) >= 2
    return True
