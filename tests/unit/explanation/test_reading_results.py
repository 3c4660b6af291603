"""Results of every kind become loads as they were asked for, with what was measured of them."""

import json
from pathlib import Path

import pytest

from diskmodel.errors import FormatError, InputError
from diskmodel.explanation.measured import Measured
from diskmodel.explanation.read import MOST, read_results
from diskmodel.formats.fio.write import job_of_prediction, write_fio_json
from diskmodel.workload import Workload
from tests.unit.formats.files import DATA

EXAMPLES = Path(__file__).parents[3] / "examples"


def fio(path: Path, *, depth: int = 32, iops: float = 100.0, mean_ms: float = 10.0, n: int = 1) -> Path:
    """Write a result of fio's, of one job or of several."""
    latency = {"mean": mean_ms, "p50": mean_ms, "p95": 2 * mean_ms, "p99": 3 * mean_ms}
    figures = {"iops": iops, "latency_ms": latency}
    jobs = [
        job_of_prediction(figures, name=f"job{at}", pattern="randread", block_bytes=4096, depth=depth)
        for at in range(n)
    ]
    write_fio_json(path, [type(job)(**(vars(job) | {"group": at})) for at, job in enumerate(jobs)])
    return path


def test_a_job_is_compared_with_what_it_asked_for(tmp_path: Path) -> None:
    # 100 requests per second of 10 ms are one outstanding: something lost the other 31
    (found,), left_out = read_results([fio(tmp_path / "a.json")])
    assert isinstance(found.workload, Workload)
    assert found.workload.queue_depth == 32
    assert found.outstanding == pytest.approx(1.0)
    assert found.figures == {"iops": 100, "reads.mean": 1e7, "reads.p50": 1e7, "reads.p95": 2e7, "reads.p99": 3e7}
    assert left_out == []


def test_loads_of_equal_names_get_numbers_and_too_many_are_named(tmp_path: Path) -> None:
    first, second = fio(tmp_path / "a.json", n=10), fio(tmp_path / "b.json", n=10)
    found, left_out = read_results([first, second])
    assert len(found) == MOST
    assert len({one.name for one in found}) == MOST
    assert "20" in left_out[0]
    (one, other), _ = read_results([fio(tmp_path / "c.json"), tmp_path / "c.json"])
    assert (one.name, other.name) == ("c.json", "c.json#2")


def test_a_busy_recording_is_compared_at_its_own_depth() -> None:
    (found,), _ = read_results([EXAMPLES / "measured" / "iostat.txt"])
    assert found.parts == ("reads", "writes")
    assert isinstance(found.workload, Workload)
    assert found.is_closed == ("iops" in found.figures)
    assert all(value > 0 for value in found.figures.values())


def test_a_measurement_gives_a_load_for_each_depth() -> None:
    found, _ = read_results([EXAMPLES / "measured" / "depths.json"])
    depths = [one.workload.queue_depth for one in found if isinstance(one.workload, Workload)]
    assert len(found) > 2
    assert len(set(depths)) > 1


def test_a_trace_is_replayed_at_its_own_times(tmp_path: Path) -> None:
    header = "time_ns,op,offset_bytes,length_bytes,response_ns,device\n"
    rows = "".join(f"{at * 10_000_000},read,{4096 * (at * 7919 % 1000)},4096,8000000,-\n" for at in range(100))
    path = tmp_path / "trace.csv"
    path.write_text(header + rows)
    (found,), _ = read_results([path])
    assert "iops" not in found.figures
    assert found.figures["reads.mean"] == pytest.approx(8e6)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: path.write_text("[a]\nrw=randread\nbs=4k\n"), "has no result"),
        (lambda path: path.write_text(json.dumps({"format": "other"})), "belongs to no"),
        (lambda path: path.write_text((EXAMPLES / "trace.csv").read_text()), "without response times"),
    ],
)
def test_a_file_without_figures_is_refused(tmp_path: Path, make: object, said: str) -> None:
    path = tmp_path / "file.fio"
    make(path)  # type: ignore[operator]
    with pytest.raises(InputError, match=said):
        read_results([path])


def test_no_file_is_refused() -> None:
    with pytest.raises(InputError, match="are missing"):
        read_results([])


def test_a_load_without_latencies_has_no_depth() -> None:
    workload = Workload.parse({"size": "4 KiB", "clients": 4})
    assert (
        Measured("a", workload, {"iops": 100.0}, {"reads": 100.0}).outstanding
        != Measured("a", workload, {"iops": 100.0, "reads.mean": 4e7}, {"reads": 100.0}).outstanding
    )


def test_a_histogram_gives_the_shape_of_a_recording(tmp_path: Path) -> None:
    histogram = tmp_path / "biolatency.txt"
    row = "{} usecs : count distribution\n 64 -> 127 : 100 |**|\n 128 -> 255 : 300 |**|\n"
    histogram.write_text(row.format("flags = Read\n") + row.format("flags = Write\n"))
    recording = DATA / "iostat.txt"
    ((plain,), _) = read_results([recording])
    ((found,), _) = read_results([recording, histogram])
    assert "reads.p50" not in plain.figures
    assert found.figures["reads.mean"] == plain.figures["reads.mean"]
    assert found.figures["reads.p50"] == pytest.approx(128e3 * 2 ** (1 / 3))
    assert found.n == {"reads": 400.0, "writes": 400.0}
    assert any("percentiles are from biolatency.txt" in note for note in found.notes)
    with pytest.raises(FormatError, match="counts response times without a load; give a recording"):
        read_results([histogram])
    histogram.write_text(row.format(""))
    with pytest.raises(FormatError, match="counts reads and writes together; record reads and writes apart"):
        read_results([recording, histogram])


MIXED = """\
a: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, iodepth=1

a: (groupid=0, jobs=1): err= 0: pid=100: Tue Nov 14 22:13:20 2023
  mixed: IOPS=120, BW=480KiB/s (492kB/s)(1440KiB/3000msec)
     lat (usec): min=4001, max=12001, avg=8321.00, stdev=100.00
     issued rwts: total=0,360,0,0 short=0,0,0,0 dropped=0,0,0,0
"""


def test_one_latency_of_both_is_that_of_neither(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text(MIXED)
    (found,), _ = read_results([path])
    assert dict(found.figures) == {"iops": pytest.approx(120)}
    assert any("are those of neither" in note for note in found.notes)
