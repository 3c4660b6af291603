"""Results of fio that hold more than one run, snapshot or section: what counts, and what is said."""

import json
import shutil
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diskmodel.formats import find_workload, read_fio
from diskmodel.formats.fio.reader import jobs_of_text
from tests.unit.formats.files import DATA

HEADER = (
    "{name}: (g=0): rw={rw}, bs=(R) {bs}B-{bs}B, (W) {bs}B-{bs}B, (T) {bs}B-{bs}B, ioengine=libaio, iodepth={depth}\n"
)
RESULT = (
    "\n{name}: (groupid=0, jobs={jobs}): err= 0: pid={pid}: Mon Mar  2 10:00:01 2026\n"
    "  read: IOPS={iops}, BW=4000KiB/s (4096kB/s)({kib}KiB/{ms}msec)\n"
    "     lat (usec): min=900, max=90000, avg={lat}.00, stdev=9.00\n"
    "{sync}"
    "     issued rwts: total={n},0,0,{n_syncs} short=0,0,0,0 dropped=0,0,0,0\n"
)


def result(name="a", pid=100, ms=1000, iops=1000, lat=4000, jobs=1, sync="", n_syncs=0):
    n = iops * ms // 1000
    return RESULT.format(
        name=name, pid=pid, ms=ms, iops=iops, lat=lat, jobs=jobs, n=n, kib=4 * n, sync=sync, n_syncs=n_syncs
    )


def header(name="a", rw="randread", bs=4096, depth=4):
    return HEADER.format(name=name, rw=rw, bs=bs, depth=depth)


def document(ms, **more):
    lat = {"min": 9e5, "max": 9e7, "mean": 4e6, "stddev": 9.0}
    read = {"io_bytes": 4096 * ms, "io_kbytes": 4 * ms, "total_ios": ms, "bw_bytes": 4096000, "iops": 1000.0}
    job = {"jobname": "a", "groupid": 0, "error": 0, "elapsed": ms // 1000}
    job |= {"job options": {"rw": "randread", "iodepth": "4", "ioengine": "libaio", "direct": "1"}}
    return {
        "fio version": "fio-3.33",
        "timestamp": 1000 + ms // 1000,
        "jobs": [job | {"read": read | {"runtime": ms, "lat_ns": lat}}],
    } | more


def test_snapshots_of_two_processes():
    text = header() + "".join(result(pid=pid, ms=ms) for ms in (1000, 2000) for pid in (100, 101))
    jobs = jobs_of_text(text)
    assert [job.read.n_ios for job in jobs] == [2000, 2000]
    assert all("2 results of the same run" in job.notes[0] for job in jobs)


def test_clones_are_no_snapshots():
    assert len(jobs_of_text(header() + result(pid=100) + result(pid=101, iops=1100))) == 2


def test_snapshots_without_processes():
    text = header() + "".join(result(ms=ms) for ms in (1000, 2000, 3000)).replace(": pid=100: Mon", "")
    (job,) = jobs_of_text(text)
    assert job.read.runtime_ns == 3 * 10**9
    clones = header() + "".join(result(ms=ms) for ms in (3001, 3002, 3002)).replace(": pid=100: Mon", "")
    assert len(jobs_of_text(clones)) == 3


def test_documents_of_one_run_and_of_two():
    text = "\n".join(json.dumps(document(ms)) for ms in (1000, 2000))
    (job,) = jobs_of_text(text)
    assert job.read.n_ios == 2000
    later = document(1000, timestamp=9000)
    later["jobs"][0]["read"]["lat_ns"] = {"min": 1e6, "max": 5e6, "mean": 4e6, "stddev": 9.0}
    jobs = jobs_of_text(text + "\n" + json.dumps(later))
    assert [(job.group, job.read.n_ios) for job in jobs] == [(0, 2000), (1, 1000)]


def test_a_snapshot_after_the_ramp_is_of_the_same_run():
    first, second = document(4000), document(2000, timestamp=1006)
    second["jobs"][0]["elapsed"] = 6
    (job,) = jobs_of_text(json.dumps(first) + "\n" + json.dumps(second))
    assert job.read.n_ios == 2000


def test_sections_of_equal_settings_stay_one_job(tmp_path):
    path = tmp_path / "out"
    path.write_text(header("a") + header("b") + result(jobs=2, lat=8000))
    (stream,) = find_workload(path).workload["streams"]
    assert stream["arrival"] == {"kind": "closed", "clients": 8}


def test_one_direction_of_two_sizes(tmp_path):
    path = tmp_path / "out"
    path.write_text(header("a") + header("b", bs=8192) + result(jobs=2).replace("4000KiB/1", "6000KiB/1"))
    found = find_workload(path)
    (stream,) = found.workload["streams"]
    assert stream["sizes"][0]["size_bytes"] == 6144
    assert stream["arrival"]["kind"] == "poisson"
    assert any("sections of different settings" in note for note in found.notes)


def test_verifying_reads_are_no_other_section():
    shown = document(1000)
    job = shown["jobs"][0]
    job["write"] = job["read"]
    job["job options"] |= {"rw": "randwrite", "group_reporting": "1", "bs": "4k"}
    (combined,) = jobs_of_text(json.dumps(shown))
    assert combined.combined == {"read": "", "write": "random"}
    job["job options"]["verify"] = "crc32c"
    (verified,) = jobs_of_text(json.dumps(shown))
    assert verified.combined is None


def test_flushes_count_as_time_of_the_job():
    sync = "  fsync/fdatasync/sync_file_range:\n    sync (usec): min=9, max=9000, avg=8000.00, stdev=9.00\n"
    (job,) = jobs_of_text(header(depth=1) + result(iops=100, lat=2000, sync=sync, n_syncs=100))
    assert job.measured_outstanding == pytest.approx(1.0)
    assert not job.was_limited
    shown = document(1000)
    shown["jobs"][0]["sync"] = {"total_ios": 7, "lat_ns": {"min": 1, "max": 9, "mean": 5.0, "stddev": 1.0, "N": 7}}
    (job,) = jobs_of_text(json.dumps(shown))
    assert (job.n_syncs, job.sync.mean_ns) == (7, 5.0)


def mixed(n_reads, n_writes, n_syncs, fdatasync):
    shown = document(1000)
    job = shown["jobs"][0]
    job["job options"] |= {"rw": "randrw", "iodepth": "1", "bs": "4k", "fdatasync": fdatasync}
    for name, n in (("read", n_reads), ("write", n_writes)):
        job[name] = job["read"] | {"total_ios": n, "io_bytes": 4096 * n, "io_kbytes": 4 * n, "iops": float(n)}
    job["sync"] = {"total_ios": n_syncs, "lat_ns": {"min": 1, "max": 9, "mean": 5e5, "stddev": 1.0, "N": n_syncs}}
    return json.dumps(shown)


@pytest.mark.parametrize(
    ("counts", "every", "said"),
    [
        ((100, 400, 51, "8"), 8, "on average"),
        ((400, 400, 104, "8"), 4, "from their number, fdatasync follows every 4 writes"),
        ((900, 100, 990, "1"), 1, "they followed reads, too, as fio does before version 3.38"),
    ],
)
def test_flushes_count_as_often_as_they_were_made(counts, every, said, tmp_path):
    path = tmp_path / "out"
    path.write_text(mixed(*counts))
    found = find_workload(path)
    (stream,) = found.workload["streams"]
    assert (stream["sync"], stream.get("sync_every", 1)) == ("fdatasync", every)
    assert any(said in note for note in found.notes)


def terse(name="a", kib=8000, bandwidth=8000, iops=1000, ms=1000):
    cells = ["3", "fio-3.33", name, "0", "0", *(["0"] * 200)]
    cells[5:9] = [str(value) for value in (kib, bandwidth, iops, ms)]
    cells[13:17] = ["10", "9000", "900.0", "9.0"]
    for first in (5, 52):
        cells[first + 12 : first + 32] = ["0%=0"] * 20
    return ";".join(cells) + "\n"


@pytest.mark.parametrize(("kib", "sizes"), [(7600, [7680]), (10000, [4096, 8192, 12288, 16384])])
def test_terse_lines_show_which_sizes_of_a_range_there_were(kib, sizes, tmp_path):
    shown = header(depth=1).replace("bs=(R) 4096B-4096B", "bs=(R) 4096B-16.0KiB")
    path = tmp_path / "out"
    path.write_text(shown + terse(kib=kib, bandwidth=kib))
    (stream,) = find_workload(path).workload["streams"]
    assert [size["size_bytes"] for size in stream["sizes"]] == sizes


def test_sizes_in_multiples_of_a_thousand(tmp_path):
    shown = header(depth=1).replace("4096B-4096B", "64.0kB-64.0kB")
    path = tmp_path / "out"
    path.write_text(shown + terse(kib=62500, bandwidth=62500))
    (stream,) = find_workload(path).workload["streams"]
    assert [size["size_bytes"] for size in stream["sizes"]] == [64000]


def test_sizes_take_reads_and_writes_apart():
    shown = header(rw="randrw", depth=1).replace("(W) 4096B-4096B", "(W) 16.0KiB-16.0KiB")
    lines = result(iops=1000, lat=900).replace("read:", "mixed:").replace("4000KiB", "7000KiB")
    (job,) = jobs_of_text(shown + lines)
    assert job.read_fraction == pytest.approx(0.75, abs=0.01)
    assert [part.iops for part in (job.read, job.write)] == pytest.approx([750, 250], rel=0.02)
    assert [part.mean_bytes for part in (job.read, job.write)] == pytest.approx([4096, 16384], rel=0.02)


def test_without_options_nothing_was_asked_for(tmp_path):
    shown = document(1000)
    shown["fio version"] = "fio-2.1"
    del shown["jobs"][0]["job options"]
    shown["jobs"][0]["read"]["io_bytes"] *= 2
    path = tmp_path / "out"
    path.write_text(json.dumps(shown))
    found = find_workload(path)
    assert found.workload["streams"][0]["sizes"][0]["size_bytes"] == 8192
    assert not any("asked for" in note for note in found.notes)


# ---------------------------------------------------------------- fio's own outputs

FIO = shutil.which("fio")


@st.composite
def runs(draw):
    rw = draw(st.sampled_from(["randread", "randwrite", "randrw", "read", "write"]))
    options = {"rw": rw, "bs": draw(st.sampled_from(["4k", "8k", "64k"])), "size": "4m", "time_based": None}
    options |= {"runtime": "400ms", "direct": "1"}
    engine = draw(st.sampled_from(["psync", "libaio"]))
    options |= {"ioengine": engine, "iodepth": draw(st.sampled_from(["1", "4"])) if engine == "libaio" else "1"}
    if draw(st.booleans()):
        options |= {"numjobs": "2", "group_reporting": None}
    if draw(st.booleans()) and rw != "randrw":
        options["rate_iops"] = "50"
    elif draw(st.booleans()) and "write" in rw and engine == "psync":
        options["fdatasync"] = "1"
    return options


@pytest.mark.slow
@pytest.mark.skipif(FIO is None, reason="fio is not installed")
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
@given(runs())
def test_the_three_outputs_of_a_run_give_one_workload(tmp_path_factory, options):
    folder = tmp_path_factory.mktemp("fio")
    path = folder / "out"
    words = [f"--{name}" if value is None else f"--{name}={value}" for name, value in options.items()]
    command = [FIO, "--name=job", f"--directory={folder}", "--output-format=json,normal,terse", f"--output={path}"]
    subprocess.run([*command, *words], check=True, capture_output=True, timeout=60)
    agree(path, is_limited="rate_iops" in options, has_flushes="fdatasync" in options)


#: Runs of fio 3.33 with --output-format=json,normal,terse: 400 ms each, on a file of 4 MiB.
KEPT = sorted((DATA / "runs").glob("*.txt"))


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_the_three_outputs_of_a_kept_run_give_one_workload(path):
    text = path.read_text()
    agree(path, is_limited="rate_iops" in text, has_flushes="fdatasync" in text)


def test_kept_runs_are_closed_limited_and_flushed():
    texts = [path.read_text() for path in KEPT]
    for part in ("rate_iops", "fdatasync", '"rw" : "randrw"', '"numjobs" : "2"'):
        assert sum(part in text for text in texts) == 1, part


def agree(path, *, is_limited, has_flushes):
    """Compare the workloads of the JSON, the text and the terse lines in one file."""
    found = {kind: find_workload(path, format=f"fio-{kind}").workload for kind in ("json", "text", "terse")}
    figures = {kind: _figures(read_fio(path, kind=f"fio-{kind}")) for kind in found}
    rates = {kind: _rates(workload) for kind, workload in found.items()}
    for kind in ("text", "terse"):
        # a limit shows in the JSON only, and flushes do not show in terse lines
        if kind == "terse" and has_flushes:
            continue
        assert rates[kind].keys() == rates["json"].keys(), (kind, found)
        assert figures[kind].keys() == figures["json"].keys(), (kind, figures)
        for direction, (iops, mean_ns) in figures[kind].items():
            # text rounds to whole operations a second, terse cuts to them; both to hundredths of their units of time
            assert iops == pytest.approx(figures["json"][direction][0], rel=0.02, abs=2), (kind, figures)
            assert mean_ns == pytest.approx(figures["json"][direction][1], rel=0.02, abs=20), (kind, figures)
        for direction, (how, amount, size, places) in rates[kind].items():
            own = rates["json"][direction]
            assert (how, size, places) == (own[0], own[2], own[3]), (kind, found)
            # the clock's last interval, and figures that terse lines cut to whole numbers
            tolerance = 0.25 if is_limited else 0.03
            assert amount == pytest.approx(own[1], rel=tolerance, abs=1 if kind == "terse" else 0.01), (kind, found)


def _figures(jobs):
    """Direction → operations a second of all jobs, and the mean of their response times."""
    found = {}
    for direction in ("read", "write"):
        own = [getattr(job, direction) for job in jobs]
        own = [part for part in own if part is not None and part.iops]
        if own:
            iops = sum(part.iops for part in own)
            found[direction] = (iops, sum(part.iops * part.response_ns for part in own) / iops)
    return found


def _rates(workload):
    """Direction → how it arrives, requests outstanding or a second, mean size, places."""
    found = {}
    for stream in workload["streams"]:
        arrival = stream["arrival"]
        is_closed = arrival["kind"] == "closed"
        amount = arrival.get("clients") or arrival.get("rate_per_s") or 1e9 / arrival["inter_arrival_ns"][0]
        size = sum(item["size_bytes"] * item["weight"] for item in stream["sizes"])
        size /= sum(item["weight"] for item in stream["sizes"])
        places = stream.get("addresses", {}).get("pattern", "uniform")
        for direction, share in (("read", stream["read_ratio"]), ("write", 1 - stream["read_ratio"])):
            if share > 0:
                found[direction] = ("closed" if is_closed else "open", amount, size, places)
    return found


def test_clones_held_to_a_rate_without_latencies():
    cells = ["3", "fio-3.33", "a", "0", "0", *(["0"] * 200)]
    cells[5:9] = ["40", "199", "49", "201"]
    for first in (5, 52):
        cells[first + 12 : first + 32] = ["0%=0"] * 20
    text = "\n".join([";".join(cells)] * 2)
    jobs = jobs_of_text(text)
    assert sum(job.read.iops for job in jobs) == pytest.approx(2 * 10 / 0.201)
