"""fio's job files: what to run, section by section."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.fio.job import FioJob, job_from_options
from diskmodel.formats.fio.options import canonical

_SECTION = re.compile(r"\[(.+)\]\Z")
_TEMPLATE = re.compile(r"\{%|\{\{")
_OPTION = re.compile(r"([A-Za-z_][\w.-]*)\s*(?:=\s*(.*))?\Z", re.ASCII)


@dataclass
class _Section:
    name: str
    options: dict[str, str] = field(default_factory=dict)


def looks_like_jobfile(text: str) -> bool:
    """Whether the first line that says anything opens a section, and some line sets an option that fio needs."""
    lines = [_without_comment(line) for line in text.split("\n")]
    meaningful = [line for line in lines if line and not line.startswith("include ")]
    needed = re.compile(r"(rw|readwrite|bs|blocksize|ioengine|filename|size|runtime|iodepth|read_iolog)\s*=")
    return bool(meaningful) and _SECTION.match(meaningful[0]) is not None and any(map(needed.match, meaningful))


def _without_comment(line: str) -> str:
    """A line up to the first ; or #, wherever it stands: so does fio."""
    return re.split("[;#]", line, maxsplit=1)[0].strip()


def jobs_of(text: str, source: str = "") -> list[FioJob]:
    """Return the jobs of a job file, in order.

    Jobs of one `group` run at the same time. `stonewall` (also in a global section, where it counts for each job that
    follows) waits for all earlier jobs, `wait_for` for the named one. Global sections count for the sections that
    follow them, as in fio. A job without `rw` reads, which is fio's default. `include` and `${VARIABLES}` are not
    followed; an option that uses one stays as it is written.

    Raises
    ------
    FormatError
        For lines that are neither a section nor an option, and options without a usable value.
    """
    return jobs_of_sections([(section.name, section.options) for section in _sections(text, source)], source)


def jobs_of_sections(sections: Sequence[tuple[str, Mapping[str, str]]], source: str = "") -> list[FioJob]:
    """Return the jobs of sections, each a name and its options; as `jobs_of`."""
    shared: dict[str, str] = {}
    jobs: list[FioJob] = []
    faults: list[Fault] = []
    group_of: dict[str, int] = {}
    first_group = 0
    for name, own in sections:
        own = {canonical(option): value for option, value in own.items()}
        if name == "global":
            shared |= own
            continue
        options = shared | own
        if any(options.get(wall, "0") != "0" for wall in ("stonewall", "wait_for_previous")) and group_of:
            first_group = max(group_of.values()) + 1
        group = first_group
        if awaited := options.get("wait_for"):
            if awaited not in group_of:
                rule = "must be the name of an earlier job"
                faults.append(Fault(f"{name}.wait_for", awaited, rule))
            group = max(group, group_of.get(awaited, -1) + 1)
        group_of[name] = max(group, group_of.get(name, 0))
        notes = () if "rw" in options else (f"{name}: without rw fio reads sequentially",)
        try:
            job = job_from_options(name, {"rw": "read"} | options, group=group, source=source)
            jobs.append(replace(job, notes=notes))
        except FormatError as error:
            faults += [Fault(f"{name}.{f.field}", f.value, f.rule, f.fix) for f in error.faults]
    if faults:
        raise FormatError(faults, source)
    if not jobs:
        raise file_error(source, "describes no job", "add a section besides [global]")
    return sorted(jobs, key=lambda job: job.group)


def section_options(lines: list[str]) -> dict[str, dict[str, str]]:
    """Return section → options with the global ones, from lines that may hold anything else too."""
    shared: dict[str, str] = {}
    found: dict[str, dict[str, str]] = {}
    here: dict[str, str] | None = None
    for raw in lines:
        line = _without_comment(raw)
        if match := _SECTION.match(line):
            here = shared if match[1].strip() == "global" else found.setdefault(match[1].strip(), dict(shared))
        elif here is not None and (option := _OPTION.match(line)):
            here[canonical(option[1])] = (option[2] or "").strip()
    return found


def _sections(text: str, source: str) -> list[_Section]:
    sections: list[_Section] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        if _TEMPLATE.search(raw):
            raise LineError(source, number, 0, "", raw, "is part of a template", "fill the template in first")
        line = _without_comment(raw)
        if not line or line.startswith("include "):
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
