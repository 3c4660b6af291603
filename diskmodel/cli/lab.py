"""`diskmodel lab`: the model behind sliders, in the browser."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from diskmodel.cli.shared.console import print_json, say
from diskmodel.cli.shared.options import Debug, Json
from diskmodel.cli.shared.status import ends_well


@ends_well
def lab(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on 127.0.0.1; 0 picks a free one.")] = 0,
    drive: Annotated[
        list[Path] | None, typer.Option(help="Your own profile, in addition to the catalogue; may be repeated.")
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Open a page with sliders, live curves, the moving head and a quiz; Ctrl-C stops it.

    The page is reachable only from this machine and loads nothing from the network.
    """
    from diskmodel.lab import set_own_drives
    from diskmodel.lab.server import WORKERS, listen, server, url_of, warm_up

    set_own_drives(drive or ())
    sock = listen(port)
    url = url_of(sock)
    warm_up()
    if as_json:
        print_json({"url": url, "port": sock.getsockname()[1]})
        typer.get_text_stream("stdout").flush()
    say(f"the lab is at {url} (press Ctrl-C to stop)")
    if not no_browser:
        # the socket is already listening, so a browser that starts faster than the server waits
        threading.Thread(target=_open, args=(url,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server().run(sockets=[sock])
    say("the lab has stopped")
    if WORKERS.is_running:
        # Python would wait for the simulation, or stop its thread in the middle of native code
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _open(url: str) -> None:
    if not webbrowser.open(url):
        say("no browser could be opened; copy the address above into one")
