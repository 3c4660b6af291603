"""`diskmodel plan` for a file with volumes: which arrays, and which volumes on which."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskmodel.cli.shared.console import print_json, say, show
from diskmodel.cli.shared.searching import searching
from diskmodel.cli.shared.status import no_answer
from diskmodel.errors import DescriptionError, Fault


def has_volumes(path: Path) -> bool:
    """Return whether a plan file asks about volumes; False also where it cannot be read, which its reader reports."""
    from diskmodel.description import read_toml

    try:
        return "volumes" in read_toml(path)
    except DescriptionError:
        return False


def plan_server(
    path: Path,
    given: Mapping[str, Any],
    *,
    refused: Mapping[str, Any],
    save: Path | None,
    report: Path | None,
    explain: bool,
    with_sensitivity: bool,
    by_chance: bool,
    memory: Path | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Answer a plan file with volumes, and print or write the answer.

    Parameters
    ----------
    path : Path
    given : mapping
        Values of the options of a plan by key; None where an option was not given.
    refused : mapping
        Values of options that only a plan for one workload takes.
    save, report, explain, with_sensitivity, by_chance, memory, cluster, as_json
        Options of `diskmodel plan`.

    Raises
    ------
    DescriptionError
        When an option does not apply, or the file breaks a rule.
    """
    from diskmodel.output import write_text
    from diskmodel.plan import plan_options, server_from, short_toml

    rule, fix = "is for a plan with one workload, and this one has volumes", "leave it out"
    faults = [Fault(name, str(value), rule, fix) for name, value in refused.items() if value is not None]
    if faults:
        raise DescriptionError(faults)
    question, notes = server_from(plan_options(given), path)
    for note in notes:
        say(note)
    if save is not None:
        write_text(save, f"# Answer it with: diskmodel plan {save.name}\n{short_toml(question)}", "save")
        say(f"question: {save}")
    from diskmodel.plan import run_server

    is_short = not (explain or as_json or report)
    with searching(memory, cluster) as options_of_search:
        result = run_server(
            question,
            with_sensitivity=with_sensitivity,
            with_details=not is_short,
            by_chance=by_chance,
            **options_of_search,
        )
    if as_json:
        print_json({**result.to_dict(), "question_notes": notes})
    else:
        from diskmodel.plan import server_explanation, server_table

        show(server_table(result), *([server_explanation(result)] if explain else ()))
    if report is not None:
        from diskmodel.plan import write_server_report

        write_server_report(result, report)
        say(f"report: {report}")
    if not result.is_feasible:
        raise no_answer("no arrangement meets every objective; --explain shows what limits each array")
