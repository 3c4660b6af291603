"""A plan in one call, with the options of `diskmodel plan`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from diskmodel.array import Array
from diskmodel.errors import DescriptionError, Fault, choose_from
from diskmodel.options import OF_A_PLAN
from diskmodel.plan.answer.plan_result import PlanResult
from diskmodel.plan.question.options import plan_from, plan_options
from diskmodel.plan.question.presets import preset as preset_called
from diskmodel.plan.run.plan import run_plan


def ask(
    path: str | Path | None = None,
    *,
    preset: str | None = None,
    array: Array | None = None,
    by_chance: bool = True,
    **options: Any,
) -> PlanResult:
    """Return the answer to a question as `diskmodel plan` takes it.

    Parameters
    ----------
    path : path, optional
        A plan file, whose fields options replace.
    preset : str, optional
        Name of a preset, instead of the file.
    array : Array, optional
        An array that exists: its drive, controller, host and strip are those of the candidates.
    by_chance : bool
        As for `run_plan`.
    **options
        Options of the command, with `_` for `-`: numbers, or texts with units. `drive` and `level` are one text or
        several.

    Returns
    -------
    PlanResult

    Raises
    ------
    DescriptionError
        When essentials are missing, or anything breaks a rule.

    Examples
    --------
    >>> from diskmodel.plan import ask
    >>> found = ask(iops=500, reads="70%", block="8k", capacity="1 TB", drive="generic-15k", level="raid10",
    ...             max_disks=8, by_chance=False)
    >>> found.best.disks
    8
    """
    unknown = [key for key in options if key not in OF_A_PLAN]
    if unknown:
        faults = [Fault(key, None, "is not an option of a plan", choose_from(key, OF_A_PLAN)) for key in unknown]
        raise DescriptionError(faults)
    texts = {"drive", "level"}
    given = {key: [value] if key in texts and isinstance(value, str) else value for key, value in options.items()}
    plan, _ = plan_from(
        plan_options({key: _as_text(value) for key, value in given.items()}),
        path=None if path is None else Path(path),
        preset=None if preset is None else preset_called(preset),
        array=array,
    )
    return run_plan(plan, by_chance=by_chance, with_details=False)


def _as_text(value: Any) -> Any:
    """Return a rate as a command line has it: its unit is that of the option."""
    return repr(value) if isinstance(value, float) else value
