"""Command lines of fio, alone or in a shell script: what to run, one command after the other."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import file_error
from diskmodel.formats.fio.job import FioJob
from diskmodel.formats.fio.jobfile import jobs_of_sections

#: Prompts ("user@host:~$ "), and words that a command may come after.
_COMMAND = re.compile(
    r"(?:\[[^]]*\])?(?:\S{0,80}[$#>%] )?(?:(?:sudo|time|exec)(?: -\w+)* )*(?:\S*/)?fio\s+(--?[A-Za-z].*)"
)
#: Where the shell takes the rest of a line for itself.
_END = re.compile(r"\A(?:[|;&]+|\d?>.*|\d?<.*)\Z")
#: Options that stand alone; the others take the next word where no = follows.
_FLAGS = frozenset(
    """
    time_based group_reporting thread norandommap softrandommap stonewall wait_for_previous new_group exitall unlink
    fill_device refill_buffers zero_buffers fsync_on_close end_fsync create_on_open minimal eta-newline readonly
    disable_lat disable_clat disable_slat direct sync invalidate gtod_reduce append-terse overwrite do_verify
    randrepeat allow_file_create
    """.split()
)


def looks_like_command(text: str) -> bool:
    """Whether a line calls fio with options."""
    return any(_COMMAND.match(line.strip()) for line in text.split("\n"))


def jobs_of(text: str, source: str = "") -> list[FioJob]:
    """Return the jobs of every call of fio in a text; later calls are later groups.

    Raises
    ------
    FormatError
        When a call cannot be split into words, names a job file, or has options without a usable value.
    """
    jobs: list[FioJob] = []
    if text.startswith("#!"):  # in a script # begins a comment; elsewhere it may be root's prompt
        text = re.sub(r"(?m)^[ \t]*#.*$", "", text)
    for line in text.replace("\\\n", " ").split("\n"):
        if match := _COMMAND.match(line.strip()):
            first_group = max((job.group for job in jobs), default=-1) + 1
            found = jobs_of_sections(_sections(match[1], source), source)
            jobs += [replace(job, group=job.group + first_group) for job in found]
    if not jobs:
        raise file_error(source, "calls fio nowhere")
    return jobs


def single_job(line: str) -> dict[str, str] | None:
    """Return the options of a line that calls fio with one job; None for any other line."""
    match = _COMMAND.match(line)
    if match is None:
        return None
    try:
        sections = _sections(match[1], "")
    except FormatError:
        return None
    return dict(sections[0][1]) if len(sections) == 1 else None


def _sections(line: str, source: str) -> list[tuple[str, dict[str, str]]]:
    """Return the jobs of a call with their options; those before the first name belong to the first job."""
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise file_error(source, f"has a command that cannot be split into words: {error}", value=line[:120]) from None
    sections: list[tuple[str, dict[str, str]]] = []
    options: dict[str, str] = {}
    is_named = False
    place = 0
    while place < len(words):
        word = words[place]
        place += 1
        if _END.match(word):
            break
        if not word.startswith("-"):
            rule = "names a job file, which holds the jobs"
            raise FormatError(Fault("fio", word, rule, "give that file instead"), source)
        name, equals, value = word.lstrip("-").partition("=")
        if not equals and name not in _FLAGS and place < len(words) and not re.match(r"-|[|;&<>]", words[place]):
            value = words[place]
            place += 1
        if name == "name":
            if is_named:
                options = {}
            is_named = True
            sections.append((value or "fio", options))
        options[name] = value
    return sections or [("fio", options)]
