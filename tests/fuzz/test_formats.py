"""No input makes a reader crash, hang or grow: it answers, or it raises the documented error.

Each reader gets a hundred inputs in the fast tier and a million in the long one (`pytest -m long`;
DISKMODEL_FUZZ_EXAMPLES overrides the hundred). Inputs are files that real programs wrote, damaged in ways that happen
(bits, cuts, repeats, foreign pieces), and noise.
"""

import contextlib
import os
import tracemalloc
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diskmodel.errors import DescriptionError, FormatError
from diskmodel.formats.detect import detect_evidence
from diskmodel.formats.faults import LineError
from diskmodel.formats.fio import reader as fio
from diskmodel.formats.fio.latency_log import read_latency_log
from diskmodel.formats.hardware import facts_of_text
from diskmodel.formats.sysstat import KINDS as SYSSTAT_KINDS
from diskmodel.formats.sysstat import loads_of_text
from diskmodel.formats.to_workload import find_workload
from diskmodel.formats.trace.reader import detect, read_trace
from diskmodel.formats.trace.registry import FORMATS
from diskmodel.workload.description import Workload
from tests.unit.formats.files import DATA
from tests.unit.formats.test_traces import WORKED

SHORT = int(os.environ.get("DISKMODEL_FUZZ_EXAMPLES", "100"))
LONG = 1_000_000


@pytest.fixture(params=[pytest.param(SHORT, id="short"), pytest.param(LONG, id="long", marks=pytest.mark.long)])
def fuzz(request):
    """Settings with the tier's number of inputs; the same inputs in every run."""
    return settings(
        max_examples=request.param, deadline=None, derandomize=True, database=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
    )  # fmt: skip


SEEDS = [path.read_bytes() for path in sorted(DATA.iterdir()) if path.is_file()] + [
    text.encode() for text, _ in WORKED.values()
]
#: Pieces that parsers tend to stumble over.
ODD = [
    *(b"-1", b"1e999", b"nan", b"inf", b"9" * 40, b"0x", b"1.0.0", b"\xc2\xb2", b"\0", b"\xff\xfe", b"\n\n", b"\r"),
    *(b'"', b"{}", b"[", b"null", b",,,,,,", b";;;;", b"%=", b"[" * 3000, b'{"jobs":' * 300),
    *(b"th=[", b"(g=0): rw=", b"[global]\n", b" wait 5 0\n"),
]


@st.composite
def damaged(draw):
    """A real file with a few pieces cut, repeated, replaced or overwritten; or plain noise."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.binary(max_size=300))
    data = bytearray(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(data)))
        end = min(place + draw(st.integers(0, 60)), len(data))
        how = draw(st.integers(0, 4))
        if how == 0:
            data[place:end] = b""
        elif how == 1:
            data[place:place] = data[place:end]
        elif how == 2:
            data[place:end] = draw(st.sampled_from(ODD))
        elif how == 3:
            data[place:end] = draw(st.binary(max_size=20))
        else:
            del data[place:]
    return bytes(data)


def as_text(data):
    return data.decode("utf-8", errors="replace")


@pytest.mark.parametrize("name", FORMATS)
def test_traces(name, fuzz, tmp_path):
    path = tmp_path / "trace"

    @fuzz
    @given(damaged(), st.sampled_from(["raise", "count"]))
    def check(data, errors):
        path.write_bytes(data)
        reader = read_trace(path, format=name, errors=errors)
        try:
            for chunk in reader:
                assert len(chunk) > 0
                assert (chunk.length_bytes > 0).all()
                assert (chunk.offset_bytes >= 0).all()
                assert (chunk.response_ns >= -1).all()
                assert (chunk.op <= 1).all()
                assert (abs(chunk.time_ns) <= 2**62).all()
                assert chunk.device.max() < len(chunk.device_names)
        except LineError:
            assert errors == "raise"
        except FormatError:
            pass  # the file as a whole: damaged compression, times that add up to centuries

    check()


def test_both_ways_through_a_block_accept_the_same_lines(fuzz, tmp_path):
    """A line is judged alike in a clean block (parsed at once) and beside a bad one (line by line)."""
    path = tmp_path / "trace"
    tables = {name: text.split("\n")[-2] for name, (text, _) in WORKED.items() if name != "csv"}

    @fuzz
    @given(st.sampled_from(sorted(tables)), st.integers(0, 30), st.integers(0, 4),
           st.one_of(st.sampled_from(ODD).map(lambda odd: odd.decode("latin-1")), st.text(max_size=3)))  # fmt: skip
    def check(name, place, n_cut, piece):
        line = tables[name]
        line = (line[:place] + piece + line[place + n_cut :]).replace("\n", "").replace("\r", "")
        seen = []
        for other in ("", "\n?"):
            path.write_text(line + other, encoding="utf-8")
            reader = read_trace(path, format=name, errors="count")
            chunks = list(reader)
            columns = ("time_ns", "op", "offset_bytes", "length_bytes", "response_ns")
            seen.append(
                [tuple(getattr(c, n).tolist() for n in columns) for c in chunks]
                + [reader.device_names if chunks else (), reader.n_malformed - bool(other)]
            )
        assert seen[0] == seen[1], line

    check()


@pytest.mark.parametrize("kind", [None, *fio.KINDS])
def test_fio(kind, fuzz):
    @fuzz
    @given(damaged())
    def check(data):
        try:
            jobs = fio.jobs_of_text(as_text(data), "fuzz", kind)
        except FormatError:
            return
        assert jobs
        for job in jobs:
            assert job.depth > 0
            assert job.n_jobs > 0
            for direction in job.directions.values():
                assert direction.iops >= 0 or kind != "fio-terse"

    check()


@pytest.mark.parametrize("kind", [None, *SYSSTAT_KINDS])
def test_sysstat(kind, fuzz):
    @fuzz
    @given(damaged())
    def check(data):
        try:
            loads = loads_of_text(as_text(data), "fuzz", kind=kind)
        except FormatError:
            return
        assert loads
        for load in loads:
            assert len(load) > 0
            assert not (load.utilization_ratio < 0).any()

    check()


def test_hardware(fuzz):
    @fuzz
    @given(damaged())
    def check(data):
        try:
            facts = facts_of_text(as_text(data))
        except FormatError:
            return
        assert facts
        assert all(fact.rpm is None or fact.rpm > 0 for fact in facts)

    check()


def test_detection_and_compression(fuzz, tmp_path):
    path = tmp_path / "evidence"

    @fuzz
    @given(damaged(), st.booleans(), st.integers(0, 30))
    def check(data, is_packed, n_cut):
        if is_packed:
            packed = zlib.compressobj(wbits=31)
            data = packed.compress(data) + packed.flush()
            data = data[: len(data) - n_cut]
        path.write_bytes(data)
        for function in (detect_evidence, detect):
            with contextlib.suppress(FormatError):
                assert function(path)

    check()


def test_latency_logs_and_workloads(fuzz, tmp_path):
    path = tmp_path / "evidence"

    @fuzz
    @given(damaged(), st.sampled_from(["raise", "count"]))
    def check(data, errors):
        path.write_bytes(data)
        with contextlib.suppress(FormatError):
            assert (read_latency_log(path).latency_ns >= 0).all()
        with contextlib.suppress(FormatError, DescriptionError):
            found = find_workload(path, errors=errors)
            assert Workload.parse(found.workload).streams

    check()


def test_a_decompression_bomb_takes_no_memory(tmp_path):
    """256 MiB of zeros in a file of a few kB: read as a trace they are malformed, in flat memory."""
    import zstandard

    path = tmp_path / "bomb"
    compressor = zstandard.ZstdCompressor().compressobj()
    with open(path, "wb") as file:
        for _ in range(256):
            file.write(compressor.compress(bytes(2**20)))
        file.write(compressor.flush())
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    try:
        reader = read_trace(path, format="msr", errors="count")
        assert list(reader) == []
        assert reader.n_malformed == 1
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 128 * 2**20


@pytest.mark.slow
def test_a_document_beyond_the_limit_is_refused(tmp_path):
    import gzip

    path = tmp_path / "long.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b'{"jobs": [')
        for _ in range(257):
            file.write(b" " * 2**20)
    with pytest.raises(FormatError, match="is longer than"):
        fio.read_fio(path)
