"""Evidence is recognized by its content, whatever it is called and however it is compressed."""

import gzip

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.detect import KINDS, detect_evidence
from tests.unit.formats.files import DATA
from tests.unit.formats.test_traces import WORKED

FILES = {
    "mix-fio-3.33.txt": "fio-json",
    "mix.fio": "fio-job",
    "terse4.txt": "fio-terse",
    "terse5.txt": "fio-terse",
    "terse4-as-text.txt": "fio-text",
    "terse5-as-text.txt": "fio-text",
    "iostat.json": "iostat-json",
    "iostat.txt": "iostat-text",
    "iostat_m.txt": "iostat-text",
    "sadf.json": "sadf-json",
    "sar.txt": "sar-text",
    "lsblk.json": "lsblk",
    "smartctl-hdd.json": "smartctl",
    "smartctl-no-drive.json": "smartctl",
    "blkparse.txt": "trace:blkparse",
    "fio_lat.1.log": "trace:fio-log",
    "iolog2.txt": "trace:fio-iolog2",
    "iolog3.txt": "trace:fio-iolog3",
    "fio_clat_without_offset.1.log": "fio-latency-log",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_files_of_the_programs(name, pack, tmp_path):
    path = tmp_path / "evidence"
    path.write_bytes(pack((DATA / name).read_bytes()))
    assert detect_evidence(path) == FILES[name]
    assert FILES[name] in KINDS


@pytest.mark.parametrize("name", WORKED)
def test_traces(name, tmp_path):
    path = tmp_path / "evidence"
    path.write_text(WORKED[name][0])
    assert detect_evidence(path) == f"trace:{name}"


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "diskmodel-measurement"}',
        '{\n "version": 1,\n "format": "diskmodel-measurement", "x": {}}',
        '{"target": {}, "format": "diskmodel-measurement"}',
    ],
)
def test_a_measurement(text, tmp_path):
    path = tmp_path / "evidence"
    path.write_text(text)
    assert detect_evidence(path) == "measurement"


def test_some_bad_lines_do_not_hide_the_format(tmp_path):
    path = tmp_path / "evidence"
    path.write_text("oops\n" + "0,240840,3072,w,0.026214\n" * 5)
    assert detect_evidence(path) == "trace:spc"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"Seek distances measured: 138\n1,\t1.245\n", "Seek distances measured: 138"),
        (bytes(range(256)), "binary data 00 01 02"),
        (b'{"a": 1}', "accepted are measurements by diskmodel; output of fio"),
        (b'{"a": ', "is not valid"),
        (b"fio_clat", "belongs to no measurement"),
    ],
)
def test_what_is_unknown_says_what_was_seen_and_what_is_accepted(content, message, tmp_path):
    path = tmp_path / "evidence"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=message):
        detect_evidence(path)


@pytest.mark.evidence
def test_the_evidence_folder(evidence):
    assert {detect_evidence(path) for path in (evidence / "traces").glob("*.trace")} == {"trace:drive"}
    assert {detect_evidence(path) for path in (evidence / "fio-3.1-text").glob("*.txt")} == {"fio-text"}


@pytest.mark.parametrize("header", ["time,op,offset,size", "Timestamp;LBA;Length;Type", "when_us,rw,sector,bytes"])
def test_a_table_of_unknown_columns_is_given_the_header_to_write(header, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\n1.5,R,4096,4096\n")
    with pytest.raises(FormatError, match=r"columns are not known.*time_ns,op,offset_bytes,length_bytes"):
        detect_evidence(path)
