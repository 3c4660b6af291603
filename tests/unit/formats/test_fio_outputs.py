"""fio's outputs: three forms of one run against each other, and real outputs against published figures.

`mix-fio-3.33.txt` was written by one run of fio 3.33 with `--output-format=normal,terse,json+` on `mix.fio`.
"""

import json
import tomllib

import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.faults import LineError
from diskmodel.formats.fio.reader import jobs_of_text, read_fio
from tests.unit.formats.files import DATA

MIX = DATA / "mix-fio-3.33.txt"
BOTH = {"terse4": "terse4-as-text.txt", "terse5": "terse5-as-text.txt"}


def json_of_mix():
    """The JSON document between the other two forms."""
    return "{" + MIX.read_text().split("\n{", 1)[1].partition("\n}\n")[0] + "\n}\n"


def latencies(job):
    return {
        (name, kind): getattr(direction, kind)
        for name, direction in job.directions.items()
        for kind in ("slat", "clat", "lat")
    }


def test_json_holds_what_fio_was_asked_and_measured():
    oltp, scan = read_fio(MIX)
    assert (oltp.name, oltp.pattern, oltp.read_fraction, oltp.engine) == ("oltp", "randrw", 0.7, "libaio")
    assert (oltp.depth, oltp.n_jobs, oltp.outstanding, oltp.is_direct) == (8, 2, 16, True)
    assert oltp.block_bytes["read"] == 8192
    assert scan.block_bytes["read"] == 65536
    assert set(scan.directions) == {"read"}
    raw = json.loads(json_of_mix())["jobs"][0]["read"]
    assert oltp.read.iops == raw["iops"]
    assert oltp.read.clat.percentiles[99.9] == raw["clat_ns"]["percentile"]["99.900000"]
    assert sum(oltp.read.clat.bins.values()) == oltp.read.n_ios == raw["total_ios"]


def test_engine_is_found_though_only_the_global_options_name_it():
    document = json.loads(json_of_mix())
    assert "ioengine" not in document["jobs"][0]["job options"]
    assert read_fio(MIX)[0].engine == "libaio"


@pytest.mark.parametrize("kind", ["fio-terse", "fio-text"])
def test_other_forms_of_the_same_run_agree_with_json(kind):
    for exact, rounded in zip(read_fio(MIX, kind="fio-json"), read_fio(MIX, kind=kind), strict=True):
        assert rounded.name == exact.name
        assert set(rounded.directions) == set(exact.directions)
        for name, direction in exact.directions.items():
            other = rounded.directions[name]
            assert other.iops == pytest.approx(direction.iops, abs=1)
            assert other.bandwidth_bytes_per_s == pytest.approx(direction.bandwidth_bytes_per_s, abs=1024)
            assert other.total_bytes == direction.total_bytes
            assert other.runtime_ns == direction.runtime_ns
            assert rounded.block_bytes[name] == exact.block_bytes[name]
        for place, latency in latencies(exact).items():
            other = latencies(rounded)[place]
            # terse prints µs with six decimals, text with two; extremes are cut or rounded to 1 µs
            assert other.mean_ns == pytest.approx(latency.mean_ns, abs=5.01 if kind == "fio-text" else 0.01)
            assert other.stddev_ns == pytest.approx(latency.stddev_ns, abs=5.01 if kind == "fio-text" else 0.01)
            assert other.min_ns == pytest.approx(latency.min_ns, abs=1000)
            assert other.max_ns == pytest.approx(latency.max_ns, abs=1000)
            assert set(other.percentiles) == set(latency.percentiles)
            for percent, value in latency.percentiles.items():
                assert other.percentiles[percent] == pytest.approx(value, abs=1000)


def test_text_has_depth_engine_and_clones():
    for exact, text in zip(read_fio(MIX), read_fio(MIX, kind="fio-text"), strict=True):
        assert (text.depth, text.n_jobs, text.engine, text.pattern) == (
            exact.depth,
            exact.n_jobs,
            exact.engine,
            exact.pattern,
        )
        for name, direction in exact.directions.items():
            assert text.directions[name].n_ios == direction.n_ios


@pytest.mark.parametrize("version", ["terse4", "terse5"])
def test_later_terse_versions_agree_with_the_text_of_their_run(version):
    (terse,) = read_fio(DATA / f"{version}.txt")
    (text,) = read_fio(DATA / BOTH[version])
    assert set(terse.directions) == {"read", "write"}
    for name, direction in text.directions.items():
        other = terse.directions[name]
        assert other.iops == pytest.approx(direction.iops, abs=1)
        assert other.clat.mean_ns == pytest.approx(direction.clat.mean_ns, abs=5.01)
        assert other.lat.max_ns == direction.lat.max_ns
        assert terse.block_bytes[name] == text.block_bytes[name] == {"read": 4096, "write": 8192}[name]


@pytest.mark.evidence
def test_the_five_published_texts_give_the_published_figures(evidence):
    cases = tomllib.loads((evidence / "field-measurements.toml").read_text())["case"]
    rows = next(case for case in cases if case["id"] == "fio-flash-1g")["rows"]
    assert len(rows) == 5
    for row in rows:
        (job,) = read_fio(evidence / "fio-3.1-text" / f"{row['pattern']}-{row['engine']}.txt")
        (direction,) = job.directions.values()
        assert (job.pattern, job.engine, job.fio_version, job.is_direct) == (
            row["pattern"],
            row["engine"],
            "fio-3.1",
            True,
        )
        assert job.outstanding == row["iodepth"]
        assert direction.n_ios == 262144
        assert direction.total_bytes == 2**30
        assert direction.clat.mean_ns == pytest.approx(row["clat_us_mean"] * 1000, abs=1e-6)
        assert direction.clat.percentiles[50.0] == row["clat_us_p50"] * 1000
        assert direction.clat.percentiles[99.0] == row["clat_us_p99"] * 1000
        # the article prints three digits (22.0k, 145k)
        assert float(f"{direction.iops:.3g}") == row["iops"]


def test_a_clone_with_an_entry_of_its_own_counts_once():
    options = {"rw": "read", "numjobs": "2", "iodepth": "4", "ioengine": "libaio"}
    entry = {
        "groupid": 0,
        "error": 0,
        "job options": options,
        "read": {"io_bytes": 4096, "io_kbytes": 4, "bw": 4, "iops": 1.0, "runtime": 1000, "total_ios": 1},
    }
    text = json.dumps({"fio version": "fio-3.33", "jobs": [{"jobname": "a"} | entry] * 2})
    assert [job.outstanding for job in jobs_of_text(text)] == [4, 4]


def test_fio_2_reports_microseconds():
    latency = {"min": 1, "max": 20, "mean": 8.5, "stddev": 2.5}
    read = {
        "io_bytes": 4,
        "bw": 4,
        "iops": 1.0,
        "runtime": 1000,
        "total_ios": 1,
        "lat": latency,
        "clat": latency | {"percentile": {"50.000000": 8, "0.00": 0}},
    }
    (job,) = jobs_of_text(json.dumps({"fio version": "fio-2.2.10", "jobs": [{"jobname": "a", "read": read}]}))
    assert job.read.lat.mean_ns == 8500
    assert job.read.clat.percentiles == {50.0: 8000}
    assert (job.read.total_bytes, job.read.bandwidth_bytes_per_s) == (4096, 4096)


def test_every_wrong_figure_of_a_document_is_reported():
    entry = {
        "jobname": "a",
        "job options": {"rw": "sideways", "iodepth": "0"},
        "read": {"total_ios": 5, "io_bytes": "many", "io_kbytes": 1, "bw": 1, "iops": float("nan"), "runtime": 1},
    }
    with pytest.raises(FormatError) as raised:
        jobs_of_text(json.dumps({"jobs": [entry]}), "x.json")
    fields = {fault.field for fault in raised.value.faults}
    assert fields == {"jobs.0.read.io_bytes", "jobs.0.read.iops", "rw", "iodepth"}


def test_a_json_document_that_is_cut_short_says_where():
    text = MIX.read_text()
    with pytest.raises(FormatError, match=r"line \d+, column \d+.*is not valid JSON"):
        jobs_of_text(text[: len(text) // 2], "cut.json", kind="fio-json")


def test_a_terse_line_with_a_bad_figure_names_line_column_and_text():
    lines = (DATA / "terse5.txt").read_text().split(";")
    lines[7] = "fast"
    with pytest.raises(LineError) as raised:
        jobs_of_text(";".join(lines), "t.txt")
    error = raised.value
    assert (error.line, error.column, error.text[:10]) == (1, 8, "5;fio-3.33")
    with pytest.raises(LineError, match="version 5 of the format has more"):
        jobs_of_text(";".join(lines[:100]), "t.txt")


@pytest.mark.parametrize(
    ("head", "kept"),
    [("fio: warning about something\n", "fio-json"), ("\n\n", "fio-json")],
)
def test_warnings_before_the_document_do_no_harm(head, kept):
    assert jobs_of_text(head + json_of_mix(), kind=kept) == jobs_of_text(json_of_mix())
