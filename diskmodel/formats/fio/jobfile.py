"""fio's job files: what to run, section by section."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.fio.job import FioJob, job_from_options
from diskmodel.formats.fio.options import canonical

_SECTION = re.compile(r"\[(.+)\]\Z")
_OPTION = re.compile(r"([A-Za-z_][\w.-]*)\s*(?:=\s*(.*))?\Z", re.ASCII)


@dataclass
class _Section:
    name: str
    options: dict[str, str] = field(default_factory=dict)


def looks_like_jobfile(text: str) -> bool:
    """Whether the first line that says anything opens a section, and some line sets an option that fio needs."""
    lines = [line.strip() for line in text.split("\n")]
    meaning = [line for line in lines if line and line[0] not in "#;"]
    wanted = re.compile(r"(rw|readwrite|bs|blocksize|ioengine|filename|size|runtime|iodepth)\s*=")
    return bool(meaning) and _SECTION.match(meaning[0]) is not None and any(map(wanted.match, meaning))


def jobs_of(text: str, source: str = "") -> list[FioJob]:
    """Jobs of a job file, in order. Jobs of one `group` start at the same time; `stonewall` opens a new one.

    Global sections count for the sections that follow them, as in fio. `include` and `${VARIABLES}` are not followed;
    an option that uses one stays as it is written.

    Raises
    ------
    FormatError
        For lines that are neither a section nor an option, and options without a usable value.
    """
    sections = _sections(text, source)
    shared: dict[str, str] = {}
    jobs: list[FioJob] = []
    faults: list[Fault] = []
    group = 0
    for section in sections:
        if section.name == "global":
            shared |= section.options
            continue
        options = shared | section.options
        waits = any(
            section.options.get(name, "0") != "0" for name in ("stonewall", "wait_for_previous") if name in options
        )
        group += bool(waits and jobs)
        try:
            jobs.append(job_from_options(section.name, options, group=group, source=source))
        except FormatError as error:
            faults += [Fault(f"{section.name}.{fault.field}", fault.value, fault.rule) for fault in error.faults]
    if faults:
        raise FormatError(faults, source)
    if not jobs:
        raise file_error(source, "describes no job", "add a section besides [global]")
    return jobs


def _sections(text: str, source: str) -> list[_Section]:
    sections: list[_Section] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        line = raw.strip()
        if not line or line[0] in "#;" or line.startswith("include "):
            continue
        if match := _SECTION.match(line):
            sections.append(_Section(match[1].strip()))
            continue
        option = _OPTION.match(line)
        if option is None:
            raise LineError(source, number, 0, "", raw, "is neither a [section] nor an option")
        if not sections:
            raise LineError(source, number, 0, "", raw, "stands before the first section", "put [global] above it")
        sections[-1].options[canonical(option[1])] = (option[2] or "").strip()
    return sections
