"""`diskmodel drives`: list the catalogue, or show one drive in detail."""

from __future__ import annotations

import io
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any

import typer

from diskmodel.cli.shared.console import print_json, show
from diskmodel.cli.shared.options import Debug, Json, Plot
from diskmodel.cli.shared.status import check_place, ends_well
from diskmodel.errors import DescriptionError, Fault
from diskmodel.naming import MODEL, meant, words_of
from diskmodel.output import write_bytes

if TYPE_CHECKING:
    from rich.table import Table

    from diskmodel.drive import Drive


@ends_well
def drives(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="One drive: a name in the catalogue, or a profile (TOML file). Any other words list the drives "
            "whose name, maker, bus or kind they match; a single one is shown.",
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="List drives of one kind: hdd, nearline, 10k, 15k, smr (shingled), host-managed (shingled, zones "
            "written in order by the host), sata-ssd, sas-ssd or nvme.",
        ),
    ] = None,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the drive's description, as a start for your own profile.")
    ] = False,
    plot: Plot = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the bundled drives, or show one of them."""
    from diskmodel.drive import catalogue, find_drives, load_drive, validation_of

    name = " ".join(names) if names else None
    # programs that search get a list, whatever it holds
    if name is not None and kind is None and not _is_one(name):
        if len(alone := meant(name, catalogue().titles)) == 1 and (toml or plot or _has_number(name)):
            name = alone[0]
        elif not (toml or plot or as_json):
            found = find_drives(catalogue(), name)
            name = found[0] if len(found) == 1 else name
    if name is None or kind is not None or not (toml or plot or _is_one(name)):
        if toml or plot:
            option = "toml" if toml else "plot"
            raise DescriptionError(Fault(option, None, "needs the name of one drive", "write: diskmodel drives NAME"))
        _list(find_drives(catalogue(), name, kind), as_json)
        return
    check_place(plot, "plot", (".png", ".svg"))
    drive = load_drive(name)
    if plot is not None:
        _plot(drive, plot)
    if as_json:
        print_json({**drive.to_dict(), "derived": drive.derived(), "validation": validation_of(name) or None})
    elif toml:
        typer.echo(drive.to_toml(), nl=False)
    else:
        show(_card(drive, validation_of(name)))


def _is_one(name: str) -> bool:
    """Whether this is a drive's name or a path rather than a word to search for."""
    from diskmodel.drive import catalogue

    return name in catalogue() or name.endswith(".toml") or "/" in name or Path(name).exists()


def _has_number(name: str) -> bool:
    """Whether a word is a maker's model number."""
    return any(MODEL.fullmatch(word) for word in words_of(name))


def _list(names: list[str], as_json: bool) -> None:
    from diskmodel.drive import by_class, catalogue
    from diskmodel.units import nominal_bytes

    classes = by_class({name: catalogue()[name] for name in names})
    rows = [{"name": name, **_summary(catalogue()[name])} for of_class in classes.values() for name in of_class]
    if as_json:
        print_json({"drives": rows})
        return
    from rich.text import Text

    from diskmodel.cli.shared.screen import plain_table

    table = plain_table()
    table.add_column("name", no_wrap=True)
    for heading in ("year", "size", "rpm"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("drive")
    titles = {of_class[0]: title for title, of_class in classes.items()}
    for row in rows:
        if row["name"] in titles and len(classes) > 1:
            if table.row_count:
                table.add_row()
            table.add_row(Text(titles[row["name"]], style="bold"))
        year, rpm = str(row["year"] or ""), f"{row['rpm']:,.0f}" if row["rpm"] else row["kind"]
        title = Text(row["title"], no_wrap=True, overflow="ellipsis")
        table.add_row(row["name"], year, nominal_bytes(row["capacity_bytes"]), rpm, title)
    count = f"{len(rows)} drive{'s' if len(rows) != 1 else ''}"
    show(table, f"{count}; `diskmodel drives NAME` shows one in detail.")


def _summary(drive: Drive) -> dict[str, Any]:
    from diskmodel.drive import kinds_of

    return {
        "title": drive.name,
        "kind": drive.kind,
        "kinds": kinds_of(drive),
        "year": drive.year,
        "capacity_bytes": drive.capacity_bytes,
        "rpm": drive.spindle_rpm if drive.has_arms else None,
        "form_factor": drive.form_factor,
        "bus": drive.bus,
        "source": drive.source,
    }


def _card(drive: Drive, validation: str) -> Table:
    from rich.table import Table

    table = Table(title=drive.name, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    for label, text in card_rows(drive, validation):
        table.add_row(label, text)
    return table


def card_rows(drive: Drive, validation: str) -> list[tuple[str, str]]:
    """Return what there is to say about a drive: label, text."""
    from diskmodel.units import nominal_bytes

    rows: list[tuple[str, str]] = [
        ("size", f"{nominal_bytes(drive.capacity_bytes)}, sectors of {drive.sector_bytes} bytes")
    ]
    rows += drive.facts()
    rows += [("interface", drive.bus), ("form factor", drive.form_factor), ("source", drive.source)]
    rows += [("year", str(drive.year or "")), ("reliability", _reliability(drive)), ("power", _power(drive))]
    rows += [("assumed", _assumed(drive)), ("validation", validation), ("notes", drive.notes)]
    return [(label, text) for label, text in rows if text]


#: Endings of fields that state a unit, which a list of names in words does without.
_UNITS = ("_bytes_per_s", "_bytes", "_hours", "_per_bit", "_ns", "_w")
#: Most assumed figures that the card lists by name, about one line; beyond, it lists those that are not. Half of
#: it would hide what most hard disks assume, and twice of it would list all parameters of a flash drive.
_MAX_NAMED = 8
_NAMES = {"mttf": "mean time to failure", "ure": "read errors"}


def _assumed(drive: Drive) -> str:
    """Return which figures are assumed: "seek (average, full stroke), read overhead", or all but the sourced ones."""
    assumed = drive.provenance.get("assumed", [])
    if len(assumed) <= _MAX_NAMED:
        return _in_words(assumed)
    sourced = [field for key in ("printed", "quoted") for field in drive.provenance.get(key, [])]
    return f"all but {_in_words(sourced)}" if sourced else "all figures"


def _in_words(fields: list[str]) -> str:
    """Return names of fields in words, those of a group together."""
    groups: dict[str, list[str]] = {}
    for field in fields:
        unit = next((unit for unit in _UNITS if field.endswith(unit)), "")
        words = field.removesuffix(unit).replace("_ratio", "").replace("_", " ")
        words = _NAMES.get(words, words) + (" rate" if unit == "_bytes_per_s" else "")
        group, _, rest = words.rpartition(".")
        groups.setdefault(group or words, []).extend([rest] if group else [])
    return ", ".join(f"{group} ({', '.join(rest)})" if rest else group for group, rest in groups.items())


def _reliability(drive: Drive) -> str:
    parts = []
    if drive.mttf_hours is not None:
        parts.append(f"mean time to failure of {drive.mttf_hours:,.0f} hours")
    if drive.ure_per_bit:
        parts.append(f"one unrecoverable read error in {1 / drive.ure_per_bit:.0e} bits".replace("e+", "e"))
    return ", ".join(parts)


def _power(drive: Drive) -> str:
    return "" if drive.power_w is None else f"{drive.power_w:g} W"


def _plot(drive: Drive, path: Path) -> None:
    if not drive.plotted_by:
        raise DescriptionError(Fault("plot", drive.kind, "is only drawn for hard disks", "leave --plot out"))
    drawn = io.BytesIO()
    resolve_name(drive.plotted_by)(drive).savefig(drawn, format=path.suffix[1:].lower())
    write_bytes(path, drawn.getvalue(), "plot")
