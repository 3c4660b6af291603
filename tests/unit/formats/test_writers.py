"""What is written can be read: by this project, and by the programs it is written for."""

import os
import shutil
import subprocess

import numpy as np
import pytest

from diskmodel.errors import FormatError, OutputError
from diskmodel.formats.fio import json_output
from diskmodel.formats.fio.reader import jobs_of_text, read_fio
from diskmodel.formats.fio.write import job_of_prediction, to_fio_json, write_fio_json
from diskmodel.formats.trace.columns import TraceChunk
from diskmodel.formats.trace.reader import load_trace, read_trace
from diskmodel.formats.trace.writers import write_trace
from tests.unit.formats.files import DATA
from tests.unit.formats.test_traces import rows


def some_requests(n=500, seed=3):
    random = np.random.default_rng(seed)
    return TraceChunk(
        time_ns=np.cumsum(random.integers(0, 10**7, n)),
        op=random.integers(0, 2, n).astype(np.uint8),
        offset_bytes=random.integers(0, 10**9, n) * 512,
        length_bytes=random.integers(1, 300, n) * 512,
        response_ns=random.integers(-1, 10**8, n),
        device=random.integers(0, 2, n).astype(np.int32),
        device_names=("sda", "sdb"),
    )


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz", ".zst"])
def test_csv_keeps_everything(ending, tmp_path):
    path = tmp_path / f"t.csv{ending}"
    requests = some_requests()
    assert write_trace(path, requests, format="csv") == 500
    assert rows(load_trace(path).requests) == rows(requests)
    again = tmp_path / f"again.csv{ending}"
    write_trace(again, requests, format="csv")
    assert again.read_bytes() == path.read_bytes()
    if ending == ".gz":
        assert path.read_bytes()[3:8] == bytes(5)  # neither a name nor a time of day


def test_disksim_keeps_all_but_responses_and_names(tmp_path):
    path = tmp_path / "t"
    requests = some_requests()
    write_trace(path, requests, format="disksim")
    back = load_trace(path)
    assert back.format == "disksim"
    for name in ("time_ns", "op", "offset_bytes", "length_bytes"):
        np.testing.assert_array_equal(getattr(back.requests, name), getattr(requests, name), err_msg=name)
    assert [back.requests.device_names[d] for d in back.requests.device] == [str(d) for d in requests.device]


@pytest.mark.parametrize(("version", "tick_ns"), [(2, 10**6), (3, 1000)])
def test_iologs_keep_times_to_their_tick(version, tick_ns, tmp_path):
    path = tmp_path / "t"
    requests = some_requests()
    write_trace(path, requests, format=f"fio-iolog{version}")
    back = load_trace(path)
    assert back.format == f"fio-iolog{version}"
    np.testing.assert_array_equal(back.requests.time_ns, requests.time_ns // tick_ns * tick_ns)
    np.testing.assert_array_equal(back.requests.offset_bytes, requests.offset_bytes)
    assert [back.requests.device_names[d] for d in back.requests.device] == [
        requests.device_names[d] for d in requests.device
    ]


def test_parquet_keeps_everything(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "t.parquet"
    requests = some_requests()
    write_trace(path, [requests.take(slice(0, 200)), requests.take(slice(200, None))], format="parquet")
    table = parquet.read_table(path).to_pydict()
    assert list(table) == ["time_ns", "op", "offset_bytes", "length_bytes", "response_ns", "device"]
    assert table["time_ns"] == requests.time_ns.tolist()
    assert table["op"] == [("read", "write")[op] for op in requests.op]
    assert table["device"] == [requests.device_names[d] for d in requests.device]


def test_a_stream_goes_from_one_format_to_another(tmp_path):
    source, target = tmp_path / "a", tmp_path / "b.zst"
    source.write_text("".join(f"0,{k},512,w,{k / 1000:.3f}\n" for k in range(300_000)))
    assert write_trace(target, read_trace(source), format="csv") == 300_000
    assert len(load_trace(target).requests) == 300_000


def test_what_a_format_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    path = tmp_path / "t"
    requests = some_requests(4)
    odd = TraceChunk(
        *(getattr(requests, n) for n in ("time_ns", "op")),
        requests.offset_bytes + 1,
        requests.length_bytes,
        requests.response_ns,
        requests.device,
        requests.device_names,
    )
    with pytest.raises(FormatError, match="whole sectors"):
        write_trace(path, odd, format="disksim")
    with pytest.raises(FormatError, match="out of order"):
        write_trace(path, requests.take(np.array([2, 0, 1])), format="fio-iolog3")
    with pytest.raises(FormatError, match="is not a format that is written"):
        write_trace(path, requests, format="msr")
    with pytest.raises(OutputError, match="cannot be written: its directory does not exist"):
        write_trace(tmp_path / "absent" / "t", requests, format="csv")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("old")

    def chunks():
        yield some_requests()
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="the disk is full"):
        write_trace(path, chunks(), format="csv")
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["t.csv"])


def test_jobs_written_as_fio_json_are_read_back_the_same(tmp_path):
    jobs = read_fio(DATA / "mix-fio-3.33.txt")
    path = tmp_path / "out.json"
    write_fio_json(path, jobs)
    assert read_fio(path) == jobs


PREDICTION = {
    "iops": 1000.0,
    "latency_ms": {"mean": 8.0, "p50": 7.0, "p95": 15.0, "p99": 20.0, "p999": 30.0, "max": 41.5},
}


def test_a_prediction_reads_as_the_run_it_predicts():
    job = job_of_prediction(PREDICTION, name="oltp", pattern="randrw", block_bytes=8192, depth=8, read_fraction=0.7)
    (back,) = json_output.jobs_of(to_fio_json([job]))
    assert (back.pattern, back.depth, back.read_fraction, back.engine) == ("randrw", 8, 0.7, "libaio")
    assert (back.read.iops, back.write.iops) == (pytest.approx(700), pytest.approx(300))
    assert back.read.clat.mean_ns == back.write.lat.mean_ns == 8_000_000
    assert back.read.clat.percentiles == {50.0: 7e6, 95.0: 15e6, 99.0: 20e6, 99.9: 30e6}
    assert back.read.clat.max_ns == 41.5e6
    assert back.read.bandwidth_bytes_per_s == pytest.approx(700 * 8192)
    own = PREDICTION | {"reads": PREDICTION | {"iops": 650.0}, "writes": PREDICTION | {"iops": 350.0}}
    job = job_of_prediction(own, name="x", pattern="randrw", block_bytes=8192, depth=8, read_fraction=0.7)
    assert (job.read.iops, job.write.iops) == (650, 350)


def test_an_incomplete_prediction_is_refused():
    with pytest.raises(FormatError, match='must hold "iops"'):
        job_of_prediction({"iops": 5}, name="x", pattern="read", block_bytes=512, depth=1)
    with pytest.raises(FormatError, match="must be a pattern"):
        job_of_prediction(PREDICTION, name="x", pattern="zigzag", block_bytes=512, depth=1)


def test_fio_plot_reads_the_predictions(tmp_path):
    """fio-plot, a plotter of fio's results from PyPI, finds the figures in a folder of predictions."""
    jsonimport = pytest.importorskip("fio_plot.fiolib.jsonimport")
    from fio_plot.fiolib import jsonparsing

    for depth in (1, 4, 16):
        figures = {"iops": 100.0 * depth, "latency_ms": {"mean": 10.0 + depth, "p99": 30.0, "stddev": 2.0}}
        job = job_of_prediction(figures, name="p", pattern="randread", block_bytes=4096, depth=depth)
        write_fio_json(tmp_path / f"depth-{depth}.json", [job])
    settings = {
        "input_directory": [str(tmp_path)],
        "rw": "randread",
        "iodepth": [1, 4, 16],
        "numjobs": [1],
        "filter": ["read"],
        "include_hosts": None,
        "exclude_hosts": None,
        "compare_graph": False,
    }
    dataset = jsonimport.import_json_dataset(settings, jsonimport.list_json_files(settings))
    found = jsonparsing.parse_json_data(settings, dataset)[0]["data"]
    assert [(row["iodepth"], row["iops"], row["lat"], row["bs"]) for row in found] == [
        ("1", 100.0, 11e6, "4096"),
        ("4", 400.0, 14e6, "4096"),
        ("16", 1600.0, 26e6, "4096"),
    ]
    assert [row["lat_stddev"] for row in found] == [2e6] * 3


@pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed")
@pytest.mark.parametrize("version", [2, 3])
def test_fio_replays_our_iologs(version, tmp_path):
    """fio itself reads and does what the iolog says, at the times that it says."""
    n, step_ns = 24, 20_000_000
    target = tmp_path / "target"
    target.write_bytes(bytes(64 * 4096))
    requests = TraceChunk(
        np.arange(n) * step_ns,
        (np.arange(n) % 3 == 0).astype(np.uint8),
        np.arange(n) * 8192,
        np.full(n, 4096),
        np.full(n, -1),
        np.zeros(n, np.int32),
        (str(target),),
    )
    write_trace(tmp_path / "log", requests, format=f"fio-iolog{version}")
    command = ["fio", "--name=replay", f"--read_iolog={tmp_path / 'log'}", "--ioengine=psync", "--output-format=json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    (job,) = jobs_of_text(done.stdout)
    assert (job.read.n_ios, job.write.n_ios) == (16, 8)
    assert (job.read.total_bytes, job.write.total_bytes) == (16 * 4096, 8 * 4096)
    # version 2 counts from the start of the program, a little before the job's
    assert job.read.runtime_ns >= 0.5 * n * step_ns
