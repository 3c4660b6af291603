"""The glossary defines every term that a reader meets in options, JSON keys, descriptions, help and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

from diskmodel import Array, Flash, Hdd, PlanDescription, Virtual, Workload
from diskmodel.cli.app import app
from diskmodel.records import PARTS

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"
CLI = ROOT / "docs" / "reference" / "cli.md"

#: Words of options and JSON keys that mean what any dictionary says, so that no reader looks for them in a glossary.
ORDINARY = {
    *("allow", "as", "below", "best", "bytes", "ceiling", "complete", "conditions", "correlation", "curve", "data"),
    *("debug", "decided", "derived", "description", "device", "difference", "directory", "disk", "disks", "elapsed"),
    *("error", "errors", "experiments", "explain", "findings", "first", "fit", "folder", "form", "factor", "high"),
    *("json", "keep", "kind", "load", "lost", "low", "matrix", "max", "mean", "measured", "measurement", "message"),
    *("most", "n", "name", "names", "nature", "needed", "no", "browser", "notes", "null", "not", "number", "of", "out"),
    *("parameters", "per", "plot", "port", "predicted", "quick", "thorough", "ratio", "read", "realtime", "reads"),
    *("reason", "report", "requests", "resume", "rotating", "run", "scale", "second", "seconds", "size", "source"),
    *("statistic", "target", "time", "title", "toml", "trials", "undecided", "unit", "unmounted", "url", "value"),
    *("list", "meaning", "question", "save", "step", "format", "alone", "cost", "result", "usd", "ends"),
    *("wall", "warnings", "write", "writes", "wrap", "year", "is", "bus", "late", "fraction", "differences"),
}
#: Endings of names that are units.
UNITS = {"ns", "ms", "s", "hours", "bytes", "ratio", "mae"}
#: Terms of the field, each with a pattern of how help and tables write it. Whichever is written must be defined.
TERMS = {
    "back_end": r"back-end|disk operations",
    "breakdown": r"time went|breakdown",
    "cache": r"\bcache",
    "candidate": r"\bcandidate",
    "capacity": r"\bcapacity",
    "closed": r"\bclosed\b",
    "converged": r"converge",
    "degraded": r"degraded|disk failed",
    "demerit": r"demerit",
    "elevator": r"\belevator",
    "evidence": r"\bevidence\b",
    "fault": r"\bfault",
    "feasible": r"feasible",
    "headroom": r"headroom",
    "held_out": r"held[ -]out",
    "interval": r"\binterval",
    "knee": r"\bknee\b",
    "latency": r"latenc",
    "level": r"\blevel",
    "limiting_factor": r"limiting factor|\bbinds\b",
    "objective": r"\bobjective",
    "outstanding": r"outstanding",
    "overhead": r"\boverhead\b",
    "parity": r"\bparit",
    "percentile": r"percentile|\bp99\b",
    "platter": r"\bplatter",
    "profile": r"\bprofile",
    "queue_depth": r"queue[ -]depth",
    "rebuild": r"rebuild",
    "residual": r"residual",
    "rule_of_thumb": r"rule of thumb|calculator",
    "scheduler": r"scheduler",
    "scratch_file": r"scratch file",
    "seed": r"\bseed\b",
    "sensitivity": r"sensitivit",
    "small_write": r"small[ -]write",
    "stable": r"stable",
    "strip": r"\bstrips?\b",
    "synthetic": r"synthetic",
    "throughput": r"throughput",
    "trace": r"\btrace",
    "utilization_ratio": r"utili[sz]ation",
    "workload": r"workload",
    "write_penalty": r"write penalty",
}


def normalized(term: str) -> str:
    """Return a term in lower case with single underscores between its words."""
    return re.sub(r"[\W_]+", "_", term.lower()).strip("_")


@cache
def entries() -> frozenset[str]:
    """Return the terms that the glossary defines."""
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    heads = [line for line, after in pairwise(lines) if after.startswith(":   ")]
    return frozenset(normalized(term) for head in heads for term in re.findall(r"`([^`]+)`", head))


def is_defined(name: str) -> bool:
    """Whether each word of a name is ordinary, a unit, or part of a defined term in the name."""
    words = re.sub(r"([a-z])ies\b", r"\1y", normalized(name)).split("_")
    at = 0
    while at < len(words):
        spans = (words[at:end] for end in range(len(words), at, -1))
        known = next((span for span in spans if is_entry("_".join(span))), None)
        if known is None and not {words[at], words[at].removesuffix("s")} & (ORDINARY | UNITS):
            return False
        at += len(known) if known else 1
    return True


def is_entry(term: str) -> bool:
    """Whether a term is in the glossary, in the singular or with a unit or a count in its name."""
    forms = {
        term,
        term.removesuffix("s"),
        term.removesuffix("es"),
        f"{term}d",
        f"{term}_ratio",
        f"{term}_bytes",
        f"{term}_load",
        f"{term}_hours",
    }
    return bool(forms & entries())


def options() -> Iterator[tuple[str, str]]:
    """Return every option and argument of every command."""
    group: Any = typer.main.get_command(app)
    for command in group.commands.values():
        yield from ((command.name, parameter.name) for parameter in command.params)


def keys() -> set[str]:
    """Return the JSON keys that the reference of the commands lists (another test compares it with the commands)."""
    text = CLI.read_text(encoding="utf-8")
    lists = [part for part in re.split(r"\n\n", text) if part.startswith("Keys")]
    lists += re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text, re.MULTILINE)
    return {key for part in lists for key in re.findall(r"`(\w+)`", part)}


def choices(schema: Any, field: str, inside: str = "") -> set[str]:
    """Return the values that a field of a description can take, wherever the schema has it."""
    found: set[str] = set()
    if isinstance(schema, list):
        return found.union(*(choices(item, field, inside) for item in schema))
    if isinstance(schema, dict):
        if inside == field:
            found |= {str(value) for value in schema.get("enum", ())}
        for key, value in schema.items():
            if key in ("properties", "$defs"):
                found = found.union(*(choices(item, field, name) for name, item in value.items()))
            elif key not in ("default", "enum"):
                found |= choices(value, field, inside)
    return found


def read_by_people() -> str:
    """Return the help of every command, and the answers that README and start page show."""
    group: Any = typer.main.get_command(app)
    context = typer.Context(group, info_name="diskmodel")
    texts = [group.get_help(context)]
    for command in group.commands.values():
        texts.append(command.get_help(typer.Context(command, parent=context, info_name=command.name)))
    pages = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/index.md")]
    texts += [
        block for page in pages for block in re.findall(r"^```console\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    ]
    return "\n".join(texts)


def test_each_term_is_defined_once() -> None:
    lines = GLOSSARY.read_text(encoding="utf-8").splitlines()
    heads = [line for line, after in pairwise(lines) if after.startswith(":   ")]
    # "parity" of a breakdown and "block" of flash say in brackets what they are of
    terms = [term for head in heads if " (of " not in head for term in re.findall(r"`([^`]+)`", head)]
    assert len(terms) > 100
    assert sorted(terms) == sorted(set(terms))


def test_each_definition_has_a_source() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    bare = [line for line in text.splitlines() if line.startswith(":   ") and not line.rstrip().endswith("*")]
    assert bare == []


def test_options_are_defined() -> None:
    found = list(options())
    assert len(found) > 50
    undefined = sorted({option for _, option in found if not is_defined(option)})
    assert not undefined, f"not in the glossary: {', '.join(undefined)}"


def test_json_keys_are_defined() -> None:
    found = keys()
    assert len(found) > 80
    undefined = sorted(key for key in found if not is_defined(key))
    assert not undefined, f"not in the glossary: {', '.join(undefined)}"


@pytest.mark.parametrize("field", ["scheduler", "level"])
def test_choices_are_defined(field: str) -> None:
    schemas = [kind.model_json_schema() for kind in (Array, Workload, PlanDescription, Hdd, Flash, Virtual)]
    found = choices(schemas, field)
    assert len(found) >= 10
    assert sorted(choice for choice in found if normalized(choice) not in entries()) == []


def test_components_of_a_response_are_defined() -> None:
    assert [part for part in PARTS if part not in entries()] == []


def test_terms_in_help_and_answers_are_defined() -> None:
    text = read_by_people()
    written = {term for term, pattern in TERMS.items() if re.search(pattern, text, re.IGNORECASE)}
    assert len(written) > 20
    assert sorted(written - entries()) == []


def test_an_undefined_word_is_noticed() -> None:
    assert is_defined("mean_latency_ms")
    assert not is_defined("mean_frobnication_ms")
