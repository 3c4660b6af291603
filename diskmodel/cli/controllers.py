"""`diskmodel controllers`: list the controllers of the catalogue, or show one with what was measured of it."""

from __future__ import annotations

from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, show
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import ends_well


@ends_well
def controllers(
    name: Annotated[str | None, typer.Argument(help="One controller: its name in the catalogue.")] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """List the bundled controllers, or show one of them."""
    from diskmodel.controller import profile_of
    from diskmodel.controller.catalogue import profiles

    if name is not None:
        profile = profile_of(name)
        if as_json:
            own = {"year": profile.year, "source": profile.source, "evidence": dict(profile.evidence)}
            print_json({**profile.controller.to_dict(), **own})
        else:
            typer.echo(profile.text, nl=False)
        return
    if as_json:
        rows = [
            {"name": key, "title": profile.controller.name, "year": profile.year, "source": profile.source}
            for key, profile in profiles().items()
        ]
        print_json({"controllers": rows})
        return
    from diskmodel.cli.shared.screen import plain_table

    table = plain_table()
    for heading in ("name", "year", "controller"):
        table.add_column(heading, no_wrap=heading != "controller")
    for key, profile in profiles().items():
        table.add_row(key, str(profile.year), profile.controller.name)
    show(table, "`diskmodel controllers NAME` shows one with what was measured of it.")
