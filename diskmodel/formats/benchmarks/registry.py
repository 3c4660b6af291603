"""The load generators other than fio by the kind of their results, and which one a text is.

Jobs of later groups ran later.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from diskmodel.formats.benchmarks import bonnie, diskspd, elbencho, quick, sysbench, vdbench
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.results import limited_as_measured, without_impossible
from diskmodel.formats.opening import read_document
from diskmodel.formats.programs import Program, by_kind, kind_among

BENCHMARKS: dict[str, Program[list[FioJob]]] = by_kind(
    Program("diskspd-xml", "DiskSpd", lambda text: diskspd.kind_of(text) == "diskspd-xml", diskspd.jobs_of_xml),
    Program("diskspd-text", "DiskSpd", lambda text: diskspd.kind_of(text) == "diskspd-text", diskspd.jobs_of_text),
    Program("vdbench-flatfile", "vdbench", vdbench.is_flatfile, vdbench.jobs_of_flatfile),
    Program("vdbench-summary", "vdbench", vdbench.is_summary, vdbench.jobs_of_summary),
    Program("elbencho", "elbencho", elbencho.is_results, elbencho.jobs_of_results),
    Program("sysbench-fileio", "sysbench", sysbench.is_fileio, sysbench.jobs_of_fileio),
    Program("crystaldiskmark", "CrystalDiskMark", quick.is_crystaldiskmark, quick.jobs_of_crystaldiskmark),
    Program("pg-test-fsync", "pg_test_fsync", quick.is_pg_test_fsync, quick.jobs_of_pg_test_fsync),
    Program("rados-bench", "rados bench", quick.is_rados_bench, quick.jobs_of_rados_bench),
    Program("bonnie", "bonnie++", bonnie.is_bonnie, bonnie.jobs_of_bonnie),
    Program("hdparm", "hdparm -t", quick.is_hdparm, quick.jobs_of_hdparm),
    Program("dd", "dd", quick.is_dd, quick.jobs_of_dd),
)

KINDS = tuple(BENCHMARKS)


def kind_of(text: str) -> str | None:
    """Which of the results a text is, or None."""
    return kind_among(BENCHMARKS, text)


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
        raise file_error(source, f"holds no result of {BENCHMARKS[kind].what}", "is it the whole output?")
    named = [replace(job, program=BENCHMARKS[kind].what) for job in jobs]
    return [limited_as_measured(without_impossible(job)) for job in named]
