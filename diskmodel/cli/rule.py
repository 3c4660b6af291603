"""`diskmodel rule`: what a calculator says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, show
from diskmodel.cli.shared.numbers import plain_number, ratios
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import ends_well

if TYPE_CHECKING:
    from diskmodel.errors import Fault

#: Levels that are compared where none is named.
USUAL_LEVELS = ("raid10", "raid5", "raid6")


@ends_well
def rule(
    reads: Annotated[
        str,
        typer.Option("--reads", "--read-fraction", help="Share of reads among the host's requests: 70%, 70 or 0.7."),
    ],
    level: Annotated[
        str | None, typer.Option(help="RAID level (raid0, raid5, …) or erasure; without one, the usual are compared.")
    ] = None,
    disks: Annotated[int | None, typer.Option(help="Disks that share the load.")] = None,
    iops: Annotated[
        float | None, typer.Option(parser=plain_number, metavar="<float>", help="Requests per second of the host.")
    ] = None,
    per_disk_iops: Annotated[
        float | None,
        typer.Option(parser=plain_number, metavar="<float>", help="Requests per second that one disk is rated for."),
    ] = None,
    cache_hit: Annotated[str, typer.Option(help="Share of the reads that a cache serves, 30% or 0.3.")] = "0",
    utilization_ceiling: Annotated[
        str, typer.Option(help="Highest load on a disk as a share of its rating; 85% is a common choice.")
    ] = "1",
    n_parity: Annotated[int | None, typer.Option(help="Number of parities of an erasure code.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Count disk operations as RAID calculators do; give two of --disks, --iops and --per-disk-iops."""
    from diskmodel.analytic import rule_of_thumb
    from diskmodel.errors import DescriptionError, Fault, InputError
    from diskmodel.options import percent

    given = {"reads": reads, "cache_hit": cache_hit, "utilization_ceiling": utilization_ceiling}
    read_fraction, hit, ceiling = ratios(**{name: str(percent(text)) for name, text in given.items()})
    if level is None and n_parity is not None:
        fix = "add --level erasure, or leave it out"
        raise DescriptionError(Fault("--n-parity", n_parity, "only applies to level erasure", fix))
    question: dict[str, Any] = {
        "read_fraction": read_fraction,
        "cache_hit": hit,
        "disks": disks,
        "iops": iops,
        "per_disk_iops": per_disk_iops,
        "utilization_ceiling": ceiling,
        "n_parity": n_parity,
    }
    answers: list[dict[str, Any]] = []
    left_out: dict[str, InputError] = {}
    for name in _usual_levels(disks) if level is None else (level,):
        try:
            answers.append(rule_of_thumb(name, **question).to_dict())
        except InputError as error:
            if level is None and [fault.field for fault in error.faults] == ["disks"]:
                left_out[name] = error
                continue
            asked = {"read_fraction": ("--reads", reads), "cache_hit": ("--cache-hit", cache_hit)}
            raise InputError([_as_written(fault, asked) for fault in error.faults]) from None
    if not answers:
        raise next(iter(left_out.values()))
    why_not = {name: error.faults[0].rule for name, error in left_out.items()}
    if as_json:
        print_json({"levels": answers, "left_out": why_not} if level is None else answers[0])
        return
    writes = 1 - read_fraction
    for data in answers:
        penalty = data["write_penalty"]
        show(
            f"A write costs {penalty} disk operations in {data['level']}, a read that misses the cache 1:",
            f"  {read_fraction:g} × (1 − {hit:g}) + {writes:g} × {penalty} "
            f"= {_counted(data['back_end_per_host'])} per request",
            *(f"  {line}" for line in _lines(data, ceiling, is_rating_given=per_disk_iops is not None)),
        )
    for rule_broken in why_not.values():
        show(f"Left out for {disks} disks: {rule_broken}.")
    show("The rule of thumb ignores queueing, seeks, rotation and scheduling: see `diskmodel simulate`.")


def _usual_levels(disks: int | None) -> tuple[str, ...]:
    """Return the levels to compare: two disks can only be a mirror."""
    return ("raid1",) if disks == 2 else USUAL_LEVELS


def _as_written(fault: Fault, asked: dict[str, tuple[str, str]]) -> Fault:
    """Return a fault of a share by the name and the text of its option."""
    from diskmodel.errors import Fault

    if fault.field not in asked:
        return fault
    option, text = asked[fault.field]
    number = float(text.rstrip("%"))
    meant = number if 1 < number <= 100 and not text.endswith("%") else 70
    return Fault(option, text, "must lie from 0 to 100%", f"write {meant:g}% or {meant / 100:g}")


def _lines(data: dict[str, float], ceiling: float, *, is_rating_given: bool) -> list[str]:
    limited = f" at a ceiling of {ceiling:.0%}" if ceiling < 1 else ""
    texts = {
        "back_end_iops": "{} per second in total",
        "per_disk_iops": "{:,} operations per second per disk, its required rating" + limited,
        "array_iops": "{:,} operations per second from all disks together",
        "host_iops": "{:,} requests per second from the array" + limited,
        "disks_needed": "{:,} disks needed" + limited,
        "utilization_ratio": "{:.1%} utilization of each disk",
    }
    if is_rating_given:
        del texts["per_disk_iops"]
    figures: dict[str, object] = {**data}
    if "back_end_iops" in data:
        figures["back_end_iops"] = _counted(data["back_end_iops"])
    return [text.format(figures[name]) for name, text in texts.items() if name in figures]


def _counted(operations: float) -> str:
    return f"{operations:,} disk operation{'' if operations == 1 else 's'}"
