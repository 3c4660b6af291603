"""Malformed traces: named exactly, or counted; and never more memory than a few blocks."""

import pickle
import tracemalloc

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.faults import LineError
from diskmodel.formats.trace.blocks import MAX_LINE_BYTES
from diskmodel.formats.trace.reader import detect, load_trace, read_trace

GOOD = "128166372003061629,hm,1,Read,383496192,32768,113736"


@pytest.mark.parametrize(
    ("bad", "column", "rule"),
    [
        ("128166372003061629,hm,1,Read,383496192,32768", 0, "has 6 columns instead of 7"),
        ("128166372003061629,hm,1,Read,383496192,32768,1,2", 0, "has 8 columns instead of 7"),
        ("x,hm,1,Read,383496192,32768,1", 1, "must be a whole number"),
        ("1.5,hm,1,Read,383496192,32768,1", 1, "must be a whole number"),
        ("128166372003061629,,1,Read,383496192,32768,1", 2, "must be 1 to 63 characters"),
        (f"128166372003061629,{'h' * 64},1,Read,383496192,32768,1", 2, "must be 1 to 63 characters"),
        ("128166372003061629,hm,1,Reads,383496192,32768,1", 4, "must be one of"),
        ("128166372003061629,hm,1,Read,-1,32768,1", 5, "must lie from 0"),
        ("128166372003061629,hm,1,Read,9223372036854775808,32768,1", 5, "must lie from 0"),
        ("128166372003061629,hm,1,Read,383496192,0,1", 0, "has no length"),
        ("128166372003061629,hm,1,Read,3834²,32768,1", 5, "must be a whole number"),
        ("4611686018427387904,hm,1,Read,383496192,32768,1", 0, "too far from the first request"),
    ],
)
def test_a_malformed_line_is_named_or_counted(bad, column, rule, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{GOOD}\n\n{GOOD}\n{bad}\n{GOOD}\n", encoding="latin-1")
    with pytest.raises(LineError, match=rule) as raised:
        load_trace(path, format="msr")
    error = raised.value
    assert (error.path, error.line, error.column, error.text) == (str(path), 4, column, bad)
    assert str(error).startswith(f"{path}: line 4")
    counted = load_trace(path, format="msr", errors="count")
    assert (len(counted.requests), counted.n_malformed) == (3, 1)
    reader = read_trace(path, format="msr", errors="count")
    assert sum(map(len, reader)) == 3
    assert [example.line for example in reader.examples] == [4]


def test_a_line_error_survives_a_process_pool():
    error = LineError("a", 3, 2, "size", "text", "is wrong", "do this")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.line, again.column, again.text) == (str(error), 3, 2, "text")


@pytest.mark.parametrize("cell", ["nan", "inf", "1e400", "0x10", "1_0", "١", ""])
def test_what_numpy_might_take_for_a_number_is_held_to_the_rules(cell, tmp_path):
    path = tmp_path / "t"
    path.write_text(f"0,1,512,r,0.5\n0,1,512,r,{cell}\n", encoding="utf-8")
    with pytest.raises(LineError) as raised:
        load_trace(path, format="spc")
    assert (raised.value.line, raised.value.column) == (2, 5)


def test_the_place_in_the_file_is_right_beyond_the_first_block(tmp_path):
    path = tmp_path / "t"
    lines = ["0,1,512,r,0.5"] * 700_000
    lines[612_344] = "0,1,512,q,0.5"
    path.write_text("\n".join(lines))
    with pytest.raises(LineError) as raised:
        for _ in read_trace(path):
            pass
    assert (raised.value.line, raised.value.column) == (612_345, 4)


@pytest.mark.parametrize(
    ("format", "text", "line", "column"),
    [
        ("fio-iolog3", "fio version 3 iolog\n0 f add\n5 f read 0\n", 3, 0),
        ("fio-iolog3", "fio version 3 iolog\n0 f add\n5 f read 0 x\n", 3, 5),
        ("fio-iolog3", "fio version 3 iolog\n-1 f read 0 512\n", 2, 1),
        ("fio-iolog2", "fio version 2 iolog\nf jump 0 512\n", 2, 2),
        ("fio-iolog2", "fio version 2 iolog\nf read 0 0\n", 2, 4),
        ("blkparse", "  8,0 0 1 0.000000000 100 Q R 8 + 8 [a]\n  8,0 what\n", 2, 0),
        ("csv", "time_ns,op,offset_bytes,length_bytes,response_ns,device\n0,erase,0,1,2,a\n", 2, 2),
    ],
)
def test_other_formats_name_the_place_too(format, text, line, column, tmp_path):
    path = tmp_path / "t"
    path.write_text(text)
    with pytest.raises(LineError) as raised:
        load_trace(path, format=format)
    assert (raised.value.line, raised.value.column) == (line, column)


def test_a_cut_record_of_a_binary_trace_is_reported(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"\1\0\0\0" + b"\5" + bytes(7) + b"\0\2\0\0" + b"\xff" * 8 + b"\1\2\3")
    with pytest.raises(LineError, match="is cut short: 3 of 24 bytes"):
        load_trace(path, format="oracle-general")


def test_unusable_files_say_what_was_seen_and_what_is_accepted(tmp_path):
    path = tmp_path / "t"
    path.write_text("Dear disk,\nhow are you?\n")
    with pytest.raises(FormatError, match=r"Dear disk,.*not a trace of a known format.*disksim"):
        detect(path)
    path.write_text("")
    with pytest.raises(FormatError, match="is empty"):
        detect(path)
    with pytest.raises(FormatError, match="no such file"):
        detect(tmp_path / "absent")
    with pytest.raises(FormatError, match="directory"):
        detect(tmp_path)
    with pytest.raises(FormatError, match="is not a known trace format"):
        read_trace(path, format="vhs")
    path.write_text("0,1,512,r,0.5\n")
    with pytest.raises(FormatError, match="is not in the trace; it has 0"):
        load_trace(path, device="5")
    path.write_text("fio version 3 iolog\n")
    with pytest.raises(FormatError, match="holds no reads or writes"):
        load_trace(path)


def test_an_endless_line_is_skipped_without_being_held(tmp_path):
    path = tmp_path / "t"
    with open(path, "wb") as file:
        file.write(b"0,1,512,r,0.5\n")
        for _ in range(64):
            file.write(b"x" * 2**20)
        file.write(b"\n0,2,512,r,0.75\n")
    tracemalloc.start()
    try:
        reader = read_trace(path, format="spc", errors="count")
        n_rows = sum(map(len, reader))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (n_rows, reader.n_malformed) == (2, 1)
    assert reader.examples[0].line == 2
    assert f"longer than {MAX_LINE_BYTES}" in str(reader.examples[0])
    assert peak < 40 * 2**20


def test_memory_is_flat_however_long_the_trace(tmp_path):
    peaks = []
    for n in (400_000, 1_600_000):
        path = tmp_path / f"t{n}"
        path.write_text("0,123456,4096,r,12345.678901\n" * n)
        tracemalloc.start()
        try:
            assert sum(map(len, read_trace(path))) == n
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_only_the_first_examples_are_kept(tmp_path):
    path = tmp_path / "t"
    path.write_text("0,1,512,r,0.5\n" + "junk\n" * 1000)
    reader = read_trace(path, format="spc", errors="count")
    assert sum(map(len, reader)) == 1
    assert (reader.n_malformed, len(reader.examples)) == (1000, 10)


def test_a_wait_that_is_over_does_not_turn_the_clock_back(tmp_path):
    path = tmp_path / "t"
    path.write_text("fio version 2 iolog\nf add\nf wait 900 0\nf read 0 512\nf wait 500 0\nf read 512 512\n")
    assert load_trace(path).requests.time_ns.tolist() == [900_000_000] * 2
