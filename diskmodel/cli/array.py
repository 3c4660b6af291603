"""`diskmodel array`: the array that mdstat, mdadm, storcli, MegaCli, ssacli, arcconf, lsblk or zpool show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diskmodel.cli.shared.console import print_json, show
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.errors import DescriptionError, Fault

if TYPE_CHECKING:
    from diskmodel.formats import Described


@ends_well
def array(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE…",
            help="Output of cat /proc/mdstat, mdadm --detail, storcli, perccli, MegaCli, ssacli, arcconf, zpool "
            "status, zpool list -v, and of lsblk -J or smartctl -j for the drives; recognized by content.",
        ),
    ],
    name: Annotated[str | None, typer.Option("--name", help="The array, when the files show several.")] = None,
    drive: Annotated[
        str | None, typer.Option(help="Drive instead of the one that the files show: a profile, or a name.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="TOML file to write the array to.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Turn what a program shows of an array into the array, in words and as a description."""
    from diskmodel.description import toml_text
    from diskmodel.formats import read_described
    from diskmodel.output import write_text

    check_place(out, "out")
    found = read_described(files, name, drive)
    if found.array is None and out is not None:
        fix = "name it with --drive, or add lsblk -J -b -o NAME,TYPE,SIZE,MODEL,ROTA,TRAN"
        raise DescriptionError(Fault("--out", str(out), "needs the drive, which no file shows", fix))
    short = found.fields()
    if short is not None and out is not None:
        write_text(out, toml_text(short))
    if as_json:
        print_json({**found.record, "words": found.words, "array": short, "notes": [*found.notes, *found.word_notes]})
        return
    _show(found)
    if short is None:
        show("  next: name its drives with --drive, or add lsblk -J -b -o NAME,TYPE,SIZE,MODEL,ROTA,TRAN")
    elif out is None:
        typer.echo("\n" + toml_text(short).rstrip())
    else:
        show(f"  written to {out}; next: diskmodel capacity {out} --reads 70% --block 8k")


def _show(found: Described) -> None:
    show(f"{found.title}", *(f"  {fact}" for fact in found.facts))
    show(f'  in words: "{found.words}"')
    show(*(f"  {note}" for note in (*found.word_notes, *found.notes)))
