"""Block traces: every format against lines worked out by hand, or files that the programs themselves wrote."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
import zstandard

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload
from diskmodel.formats.trace import binary
from diskmodel.formats.trace.columns import joined
from diskmodel.formats.trace.reader import detect, load_trace, read_trace
from diskmodel.formats.trace.registry import FORMATS
from diskmodel.workload.trace import TraceWorkload
from tests.unit.formats.files import DATA

# Format, lines, and per request: time ns, op, offset, length, response ns, device.
WORKED = {
    "msr": (
        "128166372003061629,hm,1,Read,383496192,32768,113736\n128166372016382155,hm,1,Write,2822144,4096,1002\n",
        [(0, 0, 383496192, 32768, 11373600, "hm_1"), (1332052600, 1, 2822144, 4096, 100200, "hm_1")],
    ),
    "spc": (
        "0,240840,3072,w,0.026214\n1,20,512,R,1.5,extra\n",
        [(26214000, 1, 123310080, 3072, -1, "0"), (1500000000, 0, 10240, 512, -1, "1")],
    ),
    "disksim": (
        "0.000000 0 16 8 1\n12.345678 1 100 1 0\n13.5 0 7 2 3\n",
        [(0, 0, 8192, 4096, -1, "0"), (12345678, 1, 51200, 512, -1, "1"), (13500000, 0, 3584, 1024, -1, "0")],
    ),
    "mqsim": (
        "1000 0 16 8 1\n2500 0 100 1 0\n",
        [(1000, 0, 8192, 4096, -1, "0"), (2500, 1, 51200, 512, -1, "0")],
    ),
    "alibaba": (
        "419,W,29151522816,4096,1577808000000046\n725,R,8192,16384,1577808000000146\n",
        [(0, 1, 29151522816, 4096, -1, "419"), (100000, 0, 8192, 16384, -1, "725")],
    ),
    "tencent": (
        "1538323200,12910952,128,0,1063\n1538323203,64,8,1,1064\n",
        [(0, 0, 12910952 * 512, 65536, -1, "1063"), (3 * 10**9, 1, 32768, 4096, -1, "1064")],
    ),
    "fiu": (
        "0 4892 syslogd 904265560 8 W 6 0 531e779c54c9b2ab\n39064 2559 kjournald 16 8 R 6 1 4fd0 a46e\n",
        [(0, 1, 904265560 * 512, 4096, -1, "6_0"), (39064, 0, 8192, 4096, -1, "6_1")],
    ),
    "libcachesim-csv": (
        "version,time,op,size,lbn\n1,33898,2a,512,42932745\n1,33898,35,512,0\n1,33899.5,28,6656,16\n",
        [(0, 1, 42932745 * 512, 512, -1, ""), (1500000000, 0, 8192, 6656, -1, "")],
    ),
    "drive": (
        "R Hit    3962268  12   6657.00000  64047.00000\nW Doub    8   4    607.50000  10.25\nR Trip 0 1 1.0 0.0\n",
        [
            (0, 0, 3962268 * 512, 6144, 6657000, ""),
            (70704000, 1, 4096, 2048, 607500, ""),
            (71321750, 0, 0, 512, 1000, ""),
        ],
    ),
    "csv": (
        "time_ns,op,offset_bytes,length_bytes,response_ns,device\n5,read,0,512,-1,sda\n7,write,100,1,90,-\n",
        [(5, 0, 0, 512, -1, "sda"), (7, 1, 100, 1, 90, "-")],
    ),
}


def rows(requests):
    return [
        (*map(int, row), requests.device_names[device])
        for *row, device in zip(
            requests.time_ns,
            requests.op,
            requests.offset_bytes,
            requests.length_bytes,
            requests.response_ns,
            requests.device,
            strict=True,
        )
    ]


@pytest.mark.parametrize("name", WORKED)
def test_lines_worked_out_by_hand(name, tmp_path):
    text, expected = WORKED[name]
    path = tmp_path / "trace"
    path.write_text(text)
    assert detect(path) == name
    assert rows(load_trace(path).requests) == expected


@pytest.mark.parametrize("name", WORKED)
def test_windows_line_ends_blank_lines_and_comments_change_nothing(name, tmp_path):
    text, expected = WORKED[name]
    path = tmp_path / "trace"
    body = text if name == "csv" else "# made by hand\n" + text
    path.write_bytes(b"\xef\xbb\xbf" + body.replace("\n", "\r\n").encode() + b"\r\n  \r\n")
    assert detect(path) == name
    assert rows(load_trace(path).requests) == expected


COMPRESSORS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor().compress,
    "zst-frames": lambda data: b"".join(zstandard.ZstdCompressor().compress(part) for part in (data[:30], data[30:])),
}


@pytest.mark.parametrize("how", COMPRESSORS)
def test_compression_is_recognized_by_content(how, tmp_path):
    text, expected = WORKED["msr"]
    path = tmp_path / "no-ending"
    path.write_bytes(COMPRESSORS[how](text.encode()))
    assert rows(load_trace(path).requests) == expected


@pytest.mark.parametrize("how", COMPRESSORS)
def test_a_compressed_file_that_is_cut_short_is_an_error_not_a_shorter_trace(how, tmp_path):
    from diskmodel.errors import FormatError

    text = "".join(f"0,{k * 7919 % 10007},4096,r,{k / 1000}\n" for k in range(200))
    whole = COMPRESSORS[how](text.encode())
    path = tmp_path / "cut"
    path.write_bytes(whole[: len(whole) - 9])
    with pytest.raises(FormatError, match="decompressed"):
        load_trace(path, format="spc")


def test_blkparse_puts_events_together():
    """Output of blkparse 1.3 for made-up events.

    2048+8 R  : Q 0, D 4 µs, C 4.5 ms            a plain read
    8000+16 W : Q 20 ms, M by 8008 at 20.002, C 23 ms  a back merge: one request
    9000+16 W : Q 25 ms at 9008, F by 9000 at 25.002, C 28 ms   a front merge: one request from the first bio on
    20000 D   : a discard, left out; 7777+1 R never completes
    """
    trace = load_trace(DATA / "blkparse.txt")
    assert trace.format == "blkparse"
    assert rows(trace.requests) == [
        (0, 0, 2048 * 512, 4096, 4_500_000, "8,0"),
        (5_000_000, 1, 4096 * 512, 8192, 4_501_000, "8,0"),
        (10_000_000, 0, 99992 * 512, 65536, 4_502_000, "8,0"),
        (20_000_000, 1, 8000 * 512, 8192, 3_000_000, "8,0"),
        (25_000_000, 1, 9000 * 512, 8192, 3_000_000, "8,0"),
        (30_000_300, 0, 7777 * 512, 512, -1, "8,0"),
    ]
    assert trace.n_skipped == 1
    service = load_trace(DATA / "blkparse.txt", format="blkparse-dispatch").requests
    assert rows(service)[0] == (4_000, 0, 2048 * 512, 4096, 4_496_000, "8,0")
    assert rows(service)[3] == (20_009_000, 1, 8000 * 512, 8192, 2_991_000, "8,0")


def test_fio_writes_its_log_at_completion():
    """`lat` log of fio 3.33 with log_offset=1; the iolog of the same run holds the same requests."""
    log = joined(list(read_trace(DATA / "fio_lat.1.log")))
    assert len(log) == 40
    done_ms, latency, *_ = (int(cell) for cell in (DATA / "fio_lat.1.log").read_text().split("\n")[0].split(", "))
    assert (log.time_ns[0], log.response_ns[0]) == (done_ms * 10**6 - latency, latency)
    assert log.time_ns.min() < 0
    assert load_trace(DATA / "fio_lat.1.log").requests.time_ns[0] == 0
    issued = load_trace(DATA / "iolog3.txt")
    assert issued.format == "fio-iolog3"
    assert sorted(log.offset_bytes) == sorted(issued.requests.offset_bytes)
    assert issued.requests.op.sum() == log.op.sum() > 0
    assert issued.requests.device_names == ("/data/scratch.bin",)
    # the iolog's first read stands at 171 µs
    assert issued.requests.time_ns[0] == 171_000


def test_waits_of_a_version_2_iolog_are_milliseconds_since_the_start():
    """The file was replayed with fio 3.33: reads completed at 0, 399 and 799 ms after a start-up of 0.1 s."""
    requests = load_trace(DATA / "iolog2.txt").requests
    assert requests.time_ns.tolist() == [0, 500_000_000, 900_000_000]


def test_oracle_general_and_vscsi(tmp_path):
    path = tmp_path / "t.zst"
    records = np.array(
        [(100, 5, 4096, 3), (100, 6, 512, -1), (107, 9, 8192, -1), (110, 5, 4096, -1)], binary.ORACLE_DTYPE
    )
    assert records.itemsize == 24
    path.write_bytes(zstandard.compress(records.tobytes()))
    trace = load_trace(path)
    assert trace.format == "oracle-general"
    assert rows(trace.requests)[2] == (7 * 10**9, 0, 9 * 512, 8192, -1, "")
    v1 = np.array(
        [(1, 4096, 1, 0x28, 0x100, 8, 1000), (2, 512, 1, 0x2A, 0x100, 9, 1500), (3, 0, 0, 0, 0x100, 0, 1600)],
        binary.VSCSI1_DTYPE,
    )
    assert v1.itemsize == 32
    path.write_bytes(v1.tobytes())
    trace = load_trace(path)
    assert (trace.format, trace.n_skipped) == ("vscsi1", 1)
    assert rows(trace.requests) == [(0, 0, 4096, 4096, -1, ""), (500_000, 1, 4608, 512, -1, "")]
    v2 = np.array([(0x88, 0x200, 1, 4096, 1, 8, 1000, 77), (0x8A, 0x200, 2, 512, 1, 9, 1500, 88)], binary.VSCSI2_DTYPE)
    assert v2.itemsize == 40
    path.write_bytes(v2.tobytes())
    assert load_trace(path).format == "vscsi2"
    assert rows(load_trace(path).requests) == rows(trace.requests)


@pytest.mark.evidence
def test_real_drives_traces(evidence):
    counts = {}
    for path in sorted((evidence / "traces").glob("*.trace")):
        trace = load_trace(path)
        assert trace.format == "drive"
        counts[path.stem] = len(trace.requests)
        # one request at a time: each is issued after the one before it has completed
        requests = trace.requests
        assert (requests.time_ns[1:] >= requests.time_ns[:-1] + requests.response_ns[:-1]).all()
    assert counts == {
        "atlas10k": 10000,
        "barracuda": 10000,
        "cheetah4LP": 10000,
        "dec_rz26": 7980,
        "hp_c2247a": 9999,
        "hp_c3323a": 9074,
    }
    # the mean of the second half that the evidence's own table prints
    atlas = load_trace(evidence / "traces" / "atlas10k.trace").requests
    assert atlas.response_ns[5000:].mean() / 1e6 == pytest.approx(3.912, abs=0.0005)


@pytest.mark.parametrize("name", ["blkparse.txt", "fio_lat.1.log", "iolog2.txt", "iolog3.txt"])
def test_a_loaded_trace_can_be_replayed(name):
    rows = load_trace(DATA / name).requests
    replay = TraceWorkload.from_arrays(rows.time_ns, rows.op, rows.offset_bytes, rows.length_bytes)
    requests = replay.requests(capacity_bytes=10**9)
    np.testing.assert_array_equal(requests.offset, rows.offset_bytes)
    np.testing.assert_array_equal(requests.when_ns, rows.time_ns)


def test_devices_are_numbered_by_appearance_and_can_be_picked(tmp_path):
    path = tmp_path / "t"
    path.write_text("".join(f"{7 - k % 3},R,{k * 4096},4096,{k}\n" for k in range(9)))
    whole = load_trace(path).requests
    assert whole.device_names == ("7", "6", "5")
    assert whole.device.tolist() == [0, 1, 2] * 3
    one = load_trace(path, device="6").requests
    assert one.offset_bytes.tolist() == [4096, 4 * 4096, 7 * 4096]


def test_every_format_has_a_name_of_its_own_and_a_summary():
    assert all(name == form.name and form.summary for name, form in FORMATS.items())


def test_reading_is_lazy(tmp_path):
    path = tmp_path / "t"
    path.write_text("0,1,512,r,0.1\n" * 400_000)
    reader = read_trace(path)
    first = next(reader)
    assert 0 < len(first) < 400_000
    assert reader.n_rows == len(first)
    assert len(first) + sum(len(chunk) for chunk in reader) == reader.n_rows == 400_000


def test_the_pauses_of_a_drive_add_up_beyond_the_first_block(tmp_path):
    n = 200_000
    path = tmp_path / "t"
    path.write_text("R Hit          8          1            3.0            4.5\n" * n)
    chunks = list(read_trace(path))
    assert len(chunks) > 1
    np.testing.assert_array_equal(joined(chunks).time_ns, np.arange(n) * 7500)


@pytest.mark.parametrize("blank", [" ", "\t", "\xa0"])
@pytest.mark.parametrize("rest", ["", "\n?"])
def test_blanks_around_a_cell_are_no_part_of_it(blank, rest, tmp_path):
    """Alike in a clean block and in one that is gone through line by line because of a bad line."""
    path = tmp_path / "t"
    text = f"128166372003061629,{blank}hm{blank},1,Read,383496192,32768,113736{rest}"
    path.write_text(text, encoding="latin-1")
    assert load_trace(path, format="msr", errors="count").requests.device_names == ("hm_1",)


def test_a_record_hours_off_all_others_is_named(tmp_path):
    path = tmp_path / "trace"
    lines = [f"1,{place * 8},4096,r,{100800 + place / 10}" for place in range(50)]
    path.write_text("\n".join([*lines[:20], "1,0,4096,r,0.5", *lines[20:]]) + "\n")
    assert any("28 hours earlier than all others" in note for note in load_trace(path).notes)
    with pytest.raises(FormatError, match="28 hours earlier than all others"):
        find_workload(path)
    path.write_text("\n".join(lines) + "\n")
    assert not load_trace(path).notes


def test_lines_that_end_with_returns_alone(tmp_path):
    path = tmp_path / "trace"
    text, expected = WORKED["msr"]
    path.write_bytes(text.replace("\n", "\r").encode())
    assert detect(path) == "msr"
    assert rows(load_trace(path).requests) == expected


@pytest.mark.parametrize(
    ("name", "response"),
    [("x_lat.1.log", 2465), ("x_bw.1.log", -1), ("iops_clat.2.log", 2404), ("x_slat.log.gz", -1), ("x-iops.log", -1)],
)
def test_what_a_log_of_fio_is_of_stands_in_its_name(name, response, tmp_path):
    path = tmp_path / name
    data = f"1, {abs(response)}, 0, 4096, 503808, 0\n7, {abs(response)}, 1, 4096, 6209536, 0\n".encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert set(load_trace(path).requests.response_ns.tolist()) == {response}


def _mqsim(tmp_path, step, n=300):
    path = tmp_path / "trace.txt"
    path.write_text("".join(f"{round(i * step)} 0 {i * 1000} 8 {i % 2}\n" for i in range(n)))
    return path


def test_times_in_seconds_where_nanoseconds_are_read(tmp_path):
    path = _mqsim(tmp_path, 3)
    for read in (find_workload, load_trace):
        with pytest.raises(FormatError, match=r"no storage does that; if they are seconds \(then 0.333/s\) multiply"):
            read(path)


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (100, r"10,000,000 requests/s are more than .* if microseconds \(then 10,000/s\) multiply them by 1,000"),
        (3000, r"300 requests in 0.897 ms .* if microseconds \(then 333/s\) multiply them by 1,000$"),
        (5e15, r"spans 47 years \(times read as nanoseconds\): check what wrote it"),
    ],
)
def test_improbable_times_are_named(tmp_path, step, said):
    path = _mqsim(tmp_path, step)
    for notes in (find_workload(path, level=100).notes, load_trace(path).notes):
        assert any(re.search(said, note) for note in notes), notes
    assert not load_trace(_mqsim(tmp_path, 3e6)).notes


@pytest.mark.parametrize("factor", [1, 10**3])
def test_a_first_time_that_is_a_date_in_another_unit(tmp_path, factor):
    path = tmp_path / "trace.csv"
    path.write_text("".join(f"7,R,{i * 4096},4096,{(1577808000 + i * 20) * factor}\n" for i in range(300)))
    (note,) = [note for note in load_trace(path).notes if "first time" in note]
    unit, times = {1: ("seconds", "1,000,000"), 10**3: ("milliseconds", "1,000")}[factor]
    assert f"is 2019-12-31 if the file's times are {unit}, and no date as microseconds" in note
    assert note.endswith(f"multiply them by {times}")
