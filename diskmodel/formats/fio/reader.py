"""Read any output or job file of fio, recognized by its content."""

from __future__ import annotations

from pathlib import Path

from diskmodel.formats.faults import file_error
from diskmodel.formats.fio import command, jobfile, json_output, terse, text_output
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.results import settled
from diskmodel.formats.opening import read_document

KINDS = ("fio-json", "fio-terse", "fio-text", "fio-job", "fio-command")


def kind_of(text: str) -> str | None:
    """Which kind of fio's files a text is, the most exact one when it holds several; None when none."""
    if '"jobs"' in text or '"client_stats"' in text:
        start = 0 if text.startswith("{") else text.find("\n{") + 1
        if text.startswith("{", start):
            return "fio-json"
    if any(terse.is_terse(line) for line in text.split("\n")):
        return "fio-terse"
    if text_output.looks_like_text(text):
        return "fio-text"
    if jobfile.looks_like_jobfile(text):
        return "fio-job"
    return "fio-command" if command.looks_like_command(text) else None


def read_fio(path: str | Path, *, kind: str | None = None) -> list[FioJob]:
    """Jobs of a file of fio: results as JSON, json+, terse or normal text, a job file or command lines.

    The file may be compressed. When it holds several outputs (`--output-format=normal,json`), the most exact one is
    read; `kind` forces one.

    Parameters
    ----------
    path : str or Path
    kind : {"fio-json", "fio-terse", "fio-text", "fio-job", "fio-command"}, optional

    Raises
    ------
    FormatError
        When it cannot be read, is none of these, or is malformed.
    """
    text = read_document(path)
    return jobs_of_text(text, str(path), kind)


def jobs_of_text(text: str, source: str = "", kind: str | None = None) -> list[FioJob]:
    """As `read_fio`, for text already in memory."""
    if kind is not None and kind not in KINDS:
        raise file_error(source, "is not a kind of fio's files", f"use one of {', '.join(KINDS)}", value=kind)
    kind = kind or kind_of(text)
    read = {
        "fio-json": _json_jobs,
        "fio-terse": _terse_jobs,
        "fio-text": text_output.jobs_of,
        "fio-job": jobfile.jobs_of,
        "fio-command": command.jobs_of,
    }.get(kind or "")
    if read is None:
        raise file_error(source, "is no file of fio", f"accepted are {', '.join(KINDS)}")
    jobs = read(text, source)
    return jobs if kind in ("fio-job", "fio-command") else settled(jobs, source)


def _json_jobs(text: str, source: str) -> list[FioJob]:
    documents = json_output.find_documents(text, source)
    if not documents:
        raise file_error(source, "holds no JSON document of fio")
    return json_output.jobs_of_all(documents, source)


def _terse_jobs(text: str, source: str) -> list[FioJob]:
    jobs = terse.jobs_of(text, source)
    if not jobs:
        raise file_error(source, "holds no terse line of fio (version 3, 4 or 5)")
    return jobs
