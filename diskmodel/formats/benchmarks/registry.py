"""The load generators other than fio by the kind of their results, and which one a text is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from diskmodel.formats.benchmarks import diskspd, elbencho, quick, sysbench, vdbench
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.results import limited_as_measured, without_impossible
from diskmodel.formats.opening import read_document


@dataclass(frozen=True)
class Benchmark:
    """One form of results.

    Attributes
    ----------
    kind, program : str
    looks_like : callable
        Whether a text is one.
    read : callable
        Takes the text and the file's name; jobs of later groups ran later.
    """

    kind: str
    program: str
    looks_like: Callable[[str], bool]
    read: Callable[[str, str], list[FioJob]]


#: By kind; a text that two take is the earlier's.
BENCHMARKS: dict[str, Benchmark] = {
    benchmark.kind: benchmark
    for benchmark in (
        Benchmark("diskspd-xml", "DiskSpd", lambda text: diskspd.kind_of(text) == "diskspd-xml", diskspd.jobs_of_xml),
        Benchmark(
            "diskspd-text", "DiskSpd", lambda text: diskspd.kind_of(text) == "diskspd-text", diskspd.jobs_of_text
        ),
        Benchmark("vdbench-flatfile", "vdbench", vdbench.is_flatfile, vdbench.jobs_of_flatfile),
        Benchmark("vdbench-summary", "vdbench", vdbench.is_summary, vdbench.jobs_of_summary),
        Benchmark("elbencho", "elbencho", elbencho.is_results, elbencho.jobs_of_results),
        Benchmark("sysbench-fileio", "sysbench", sysbench.is_fileio, sysbench.jobs_of_fileio),
        Benchmark("crystaldiskmark", "CrystalDiskMark", quick.is_crystaldiskmark, quick.jobs_of_crystaldiskmark),
        Benchmark("pg-test-fsync", "pg_test_fsync", quick.is_pg_test_fsync, quick.jobs_of_pg_test_fsync),
        Benchmark("rados-bench", "rados bench", quick.is_rados_bench, quick.jobs_of_rados_bench),
        Benchmark("hdparm", "hdparm -t", quick.is_hdparm, quick.jobs_of_hdparm),
        Benchmark("dd", "dd", quick.is_dd, quick.jobs_of_dd),
    )
}

KINDS = tuple(BENCHMARKS)


def kind_of(text: str) -> str | None:
    """Which of the results a text is, or None."""
    return next((kind for kind, benchmark in BENCHMARKS.items() if benchmark.looks_like(text)), None)


def read_benchmark(path: str | Path, kind: str) -> list[FioJob]:
    """Return the runs of a result in the form of fio's jobs, plain or compressed.

    Raises
    ------
    FormatError
        When the file cannot be read, is malformed, or holds no requests.
    """
    return jobs_of_text(read_document(path), str(path), kind)


def jobs_of_text(text: str, source: str, kind: str) -> list[FioJob]:
    """As `read_benchmark`, for text already in memory."""
    jobs = BENCHMARKS[kind].read(text.replace("\r\n", "\n"), source)
    if not jobs:
        raise file_error(source, f"holds no result of {BENCHMARKS[kind].program}", "is it the whole output?")
    named = [replace(job, program=BENCHMARKS[kind].program) for job in jobs]
    return [limited_as_measured(without_impossible(job)) for job in named]
