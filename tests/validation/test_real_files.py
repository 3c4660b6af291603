"""Every file of other people's programs in the evidence folder: what came of it, and its figures by another route.

`real_files.csv` has a row for each file: the kind and figures that were read, or the reason why it is refused. The
figures were checked against the files' own text by `own_figures` below, which knows nothing of the readers.
"""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats import find_workload, load_trace, read_fio, read_sysstat
from diskmodel.workload import Workload

TABLE = Path(__file__).with_name("real_files.csv")
FIELDS = (
    "file",
    "outcome",
    "kind",
    "reason",
    "streams",
    "clients",
    "rate_per_s",
    "read_ratio",
    "mean_bytes",
    "n_notes",
)

pytestmark = [pytest.mark.evidence]


def outcome_of(root: Path, name: str) -> dict[str, str]:
    """A row of the table for a file; every device together where a recording has several."""
    row = dict.fromkeys(FIELDS, "") | {"file": name}
    try:
        try:
            found = find_workload(root / name)
        except FormatError as error:
            if "must be named" not in str(error):
                raise
            found = find_workload(root / name, device="all")
    except FormatError as error:
        fault = error.faults[0]
        return row | {"outcome": "refused", "reason": f"{fault.field}: {fault.rule}"[:160]}
    workload = Workload.parse(found.workload)
    weights = [stream.expected_rate_per_s for stream in workload.streams]
    reads = np.average([stream.read_ratio for stream in workload.streams], weights=weights)
    size = np.average([stream.mean_size_bytes for stream in workload.streams], weights=weights)
    return row | {
        "outcome": "read",
        "kind": found.kind,
        "streams": str(len(workload.streams)),
        "clients": str(workload.queue_depth),
        "rate_per_s": f"{workload.offered_rate_per_s:.6g}",
        "read_ratio": f"{reads:.4g}",
        "mean_bytes": f"{size:.6g}",
        "n_notes": str(len(found.notes)),
    }


def names_of(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.glob("*/*") if path.is_file())


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, str]]:
    with TABLE.open() as file:
        return {row["file"]: row for row in csv.DictReader(file)}


@pytest.fixture
def root(evidence: Path) -> Path:
    return evidence / "real-files"


def test_what_comes_of_every_file(root, rows):
    names = names_of(root)
    assert len(names) > 280
    found = [outcome_of(root, name) for name in names]
    assert {row["file"]: row for row in found} == rows
    # A refusal has a reason that is more than "unknown", but for a column of bare numbers and Solaris' binary sar.
    unknown = [row["file"] for row in found if "belongs to no measurement" in row["reason"]]
    assert unknown == [
        "iostat/freddiehaddad+esan__iostat48i.txt",
        "sar/orimanabu+sysstat_parser__sar_solaris10.sar",
    ]


# ---------------------------------------------------------------- figures by another route


def own_figures(path: Path) -> list[float]:
    """IOPS, bytes and mean latencies (µs) that a text of fio prints, by plain search: no state, no options."""
    text = path.read_text(errors="replace")
    return [float(number) for number in re.findall(r"issued\s+(?:rwts)?\s*: total=(?:r=)?(\d+)", text)]


def test_requests_of_fio_texts(root):
    n_checked = 0
    for path in sorted((root / "fiotext").iterdir()):
        own = own_figures(path)
        if not own:
            continue
        jobs = read_fio(path)
        reads = [float(job.read.n_ios or 0) if job.read else 0.0 for job in jobs]
        assert reads == own, path.name
        n_checked += len(own)
    assert n_checked >= 40


def test_latencies_of_old_fio_texts_agree_with_their_depth(root):
    """Little's law: the IOPS and mean latency that were read make the depth that the header prints."""
    n_checked = 0
    for path in sorted((root / "fiotext").iterdir()):
        text = path.read_text(errors="replace")
        depths = re.findall(r"iodepth=(\d+)\s*$", text, re.MULTILINE)
        processes = re.findall(r"Starting (\d+) (?:process|thread)", text)
        if "fio-2" not in text or not depths:
            continue
        jobs = read_fio(path)
        assert len(jobs) == len(processes)
        for job, depth, count in zip(jobs, depths, processes, strict=True):
            expected = int(depth) * int(count)
            assert job.measured_outstanding == pytest.approx(expected, rel=0.13)
            n_checked += 1
    assert n_checked >= 35


def test_fio_json_by_its_keys(root):
    n_checked = 0
    for path in sorted((root / "fiojson").iterdir()):
        text = path.read_text(errors="replace")
        if '"jobs"' not in text:
            continue
        document, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
        for job, entry in zip(read_fio(path), document["jobs"], strict=True):
            for name in ("read", "write"):
                if entry[name]["total_ios"]:
                    part = getattr(job, name)
                    assert (part.n_ios, part.iops) == (entry[name]["total_ios"], entry[name]["iops"])
                    n_checked += 2
    assert n_checked >= 60


def by_columns(path: Path, device: str, column: str) -> list[float]:
    """A device's figures in a column, by the position of the column's name in the last header above each row."""
    place, found = None, []
    for line in path.read_text(errors="replace").splitlines():
        words = line.split()
        if column in words and ("Device" in line or "DEV" in line or line.startswith("device")):
            place = words.index(column)
        elif place is not None and device in words and len(words) > place and words[0] != "Average:":
            found.append(float(words[place].replace(",", ".")))
    return found


SYSSTAT = (
    ("iostat/Honghe+iostat_view__demo.iostat", "sdb", "r/s", "reads_per_s", 1, 1),
    ("iostat/Honghe+iostat_view__demo.iostat", "sdb", "rMB/s", "read_bytes_per_s", 2**20, 1),
    ("iostat/githubzilla+rocksdb-read-test__rocksdb_read_test_dio_iostate.log", "sda", "r/s", "reads_per_s", 1, 1),
    ("iostat/t2y+iostat-tool__sample_iostat.output", "sdd", "w/s", "writes_per_s", 1, 1),
    ("iostat/t2y+iostat-tool__sample_iostat_killo.output", "sda", "wkB/s", "write_bytes_per_s", 1024, 1),
    ("iostat/jc_ubuntu-18.04_iostat.out", "sda", "tps", "ios_per_s", 1, 0),
    ("iostat/jc_ubuntu-20.10_iostat-m.out", "sda", "MB_wrtn/s", "write_bytes_per_s", 2**20, 0),
    ("sar/pb_iostat-1_iostat-stdout.txt", "sda", "w/s", "writes_per_s", 1, 1),
    # its sizes contradict number and bytes: dm-6 has 8.33 writes/s, 0.03 MB/s and 2.00 KiB each, on blocks of 4 KiB
    ("sar/pb_iostat-2_iostat-stdout.txt", "sda", "wMB/s", "write_bytes_per_s", 2**20, 1),
    (
        "iostat/githubzilla+rocksdb-read-test__rocksdb_read_test_dio_iostate.log",
        "sda",
        "wareq-sz",
        "write_request_bytes",
        1024,
        1,
    ),
    ("sar/orimanabu+sysstat_parser__iostat-xTd_solaris10.txt", "sd0", "kr/s", "read_bytes_per_s", 1024, 1),
    ("sar/orimanabu+sysstat_parser__iostat-t_rhel5.5.txt", "sda", "Blk_wrtn/s", "write_bytes_per_s", 512, 1),
    ("sar/pb_sar-4_sar-stdout.txt", "dev252-0", "tps", "ios_per_s", 1, 0),
    ("sar/pb_sar-5_sar-stdout.txt", "dev8-0", "wkB/s", "write_bytes_per_s", 1024, 0),
    ("sysstat_expected/expected.iostat-x", "sdr", "rkB/s", "read_bytes_per_s", 1024, 1),
    ("sysstat_expected/expected.iostat-s", "sdq", "kB_w+d/s", "write_bytes_per_s", 1024, 1),
)


@pytest.mark.parametrize(("name", "device", "column", "series", "factor", "n_dropped"), SYSSTAT)
def test_sysstat_by_columns(root, name, device, column, series, factor, n_dropped):
    own = by_columns(root / name, device, column)
    (load,) = [load for load in read_sysstat(root / name) if load.device == device]
    read = getattr(load, series)
    assert len(read) == len(own) - n_dropped
    is_known = np.isfinite(read)
    assert is_known.sum() > 0
    # Sizes are printed with two decimals; rates of few requests are finer by them.
    np.testing.assert_allclose(
        read[is_known], np.array(own[n_dropped:])[is_known] * factor, rtol=0.02, atol=0.006 * factor
    )


def test_sysstat_checks_more_than_a_hundred_figures(root):
    assert sum(len(by_columns(root / name, device, column)) for name, device, column, *_ in SYSSTAT) > 1000


def test_a_queued_byte_is_a_byte_of_a_request(root):
    """The Hadoop node's trace has no completions: its requests are its queue events, with merges and splits."""
    import lzma

    path = next((root / "trace").glob("*.blkparse.xz"))
    queued = {"R": 0, "W": 0}
    with lzma.open(path, "rt", errors="replace") as file:
        for line in file:
            words = line.split()
            if len(words) > 9 and words[5] == "Q" and words[8] == "+" and words[6][0] in queued:
                queued[words[6][0]] += 512 * int(words[9])
    requests = load_trace(path).requests
    for op, kind in enumerate("RW"):
        assert requests.length_bytes[requests.op == op].sum() == pytest.approx(queued[kind], rel=0.005)


def test_traces_by_awk(root):
    for name, time_column, unit in (
        ("CMU-SAFARI+MQSim__wsrch-small.trace", 0, 1e-9),
        ("nmsudatalab+disksim-4.0__ssd-iozone-aligned2-100K.trace", 0, 1e-3),
        ("nmsudatalab+disksim-4.0__ssd-postmark-aligned2.trace", 0, 1e-3),
    ):
        rows = [line.split() for line in (root / "trace" / name).read_text().splitlines() if line.strip()]
        times = np.array([float(row[time_column]) for row in rows]) * unit
        found = find_workload(root / "trace" / name, level=100)
        whole = int(times[-1] - times[0])
        own = np.bincount((times - times[0]).astype(int))[:whole]
        assert found.rates_per_s.sum() == pytest.approx(own.sum(), rel=0.002)
        assert sum(int(row[3]) for row in rows) * 512 == load_trace(root / "trace" / name).requests.length_bytes.sum()
