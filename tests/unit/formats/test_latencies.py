"""Histograms of response times: biolatency of bcc, and maps of bpftrace."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.detect import detect_evidence
from diskmodel.formats.latencies import kind_of, latencies_of_text

BCC = """Tracing block device I/O... Hit Ctrl-C to end.
^C
     usecs               : count     distribution
         0 -> 1          : 0        |                                        |
        64 -> 127        : 100      |*****                                   |
       128 -> 255        : 300      |****************************************|
"""
BY_FLAGS = """
flags = Read
     msecs               : count     distribution
         4 -> 7          : 10       |****************************************|

flags = Sync-Write
     msecs               : count     distribution
         8 -> 15         : 20       |****************************************|

flags = Flush
     msecs               : count     distribution
         8 -> 15         : 7        |****************************************|
"""
BPFTRACE = """Attaching 4 probes...

@usecs:
[64, 128)             12 |@@@@@                                               |
[512, 1K)             12 |@@@@@                                               |
[1M, 2M)               1 |                                                    |
"""
JSON = json.dumps({"ts": "x", "val_type": "usecs", "flags": "Read",
                   "data": [{"interval-start": 128, "interval-end": 255, "count": 5}]}) + "\n"  # fmt: skip
US, MS = 1e3, 1e6


def test_biolatency() -> None:
    found = latencies_of_text(BCC, "x", "biolatency")
    assert found.counts == {"all": {(64 * US, 128 * US): 100, (128 * US, 256 * US): 300}}
    # a quarter lies below 128 us, and half of the rest below the middle of the logarithm of the next class
    assert found.quantile_ns("all", 0.25) == pytest.approx(128 * US)
    assert found.quantile_ns("all", 0.625) == pytest.approx(128 * US * 2**0.5)
    assert found.mean_ns("all") == pytest.approx((64 * 100 + 128 * 300) / 400 / 0.693147 * US, rel=1e-5)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (BY_FLAGS, {"reads": {(4 * MS, 8 * MS): 10}, "writes": {(8 * MS, 16 * MS): 20}}),
        (JSON, {"reads": {(128 * US, 256 * US): 5}}),
        (BPFTRACE, {"all": {(64 * US, 128 * US): 12, (512 * US, 1024 * US): 12, (2**20 * US, 2**21 * US): 1}}),
        ("@nsecs[read]:\n[1K, 2K)   3 |@@|\n@nsecs[write]:\n[4K, 8K)   2 |@@|\n",
         {"reads": {(1024, 2048): 3}, "writes": {(4096, 8192): 2}}),
    ],
)  # fmt: skip
def test_other_forms(text: str, counts: object) -> None:
    kind = kind_of(text)
    assert kind is not None
    assert latencies_of_text(text, "x", kind).counts == counts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("@lat:\n[1, 2)   3 |@@|\n", "does not say its unit; call the map @usecs"),
        ("@usecs:\n[1, 2)   0 |  |\n", "counts no request"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        latencies_of_text(text, "x", str(kind_of(text)))


def test_detected(tmp_path: Path) -> None:
    for number, (kind, text) in enumerate(
        (("biolatency", BCC), ("biolatency", JSON), ("bpftrace-histogram", BPFTRACE))
    ):
        path = tmp_path / f"{number}"
        path.write_text(text)
        assert detect_evidence(path) == kind


def test_a_class_that_ends_before_it_begins_is_left_out() -> None:
    damaged = BCC.replace("64 -> 127", "640 -> 127").replace("128 -> 255", f"{1 << 60} -> {(1 << 60) + 1}")
    with pytest.raises(FormatError, match="counts no request"):
        latencies_of_text(damaged, "x", "biolatency")
