"""The files of the lab for a folder of its own on the site."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from diskmodel.lab.animation import page_template
from diskmodel.lab.constants import CONSTANTS, constants_js
from diskmodel.lab.quiz import quiz_tables
from diskmodel.lab.scenes import scene_tables
from diskmodel.lab.server import PAGE, SHARED
from diskmodel.lab.site.bundle import bundle
from diskmodel.lab.site.tables import DRIVES, drive_tables, level_tables, packed, packed_json, page_offers

#: The compiled kernel, which `make wasm` leaves here.
KERNEL = Path(__file__).parents[3] / "build" / "wasm" / "kernel.wasm"

_MISSING = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>diskmodel lab</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="lab.css">
</head>
<body>
<main class="columns alone">
<p>The live experiment is missing from this copy of the site: the kernel could not be compiled to WebAssembly where the
site was built. <code>diskmodel lab</code> shows the same on your own machine.</p>
</main>
</body>
</html>
"""


def files(kernel: Path = KERNEL) -> dict[str, str]:
    """Return the text of each file by its name in the folder; a page that says so where the kernel was not compiled.

    Parameters
    ----------
    kernel : Path
        The compiled kernel.

    Notes
    -----
    Pages that are opened from disk may load neither modules nor data nor workers from files. So everything is a classic
    script: `kernel.js` has the compiled kernel as text, `drives/NAME.js` the tables of a drive, `lab.js` the page with
    the text of its worker.
    """
    styles = {"lab.css": (PAGE / "lab.css").read_text(), "heat_map.css": SHARED["heat_map.css"].read_text()}
    if not kernel.is_file():
        return {"index.html": _MISSING, "lab.css": styles["lab.css"]}
    logo = (PAGE / "logo.svg").read_text()
    offers = page_offers()
    data: dict[str, Any] = {"offers": offers, "levels": level_tables(), "worker": worker_script(), "drives": {}}
    data |= {"scenes": scene_tables(), "quiz": quiz_tables(), "head": page_template()}
    begin = f'{bundled("at_site.js")}["at_site.js"].openAtSite(diskmodelLab);\n'
    made = {
        "index.html": _page(offers["defaults"]["drive"]),
        **styles,
        "logo.svg": logo,
        "lab.js": begin,
        "data.js": f"const diskmodelLab = {_script_json(data)};\n",
        "kernel.js": f'diskmodelLab.kernel = "{packed(kernel.read_bytes())}";\n',
    }
    for name in DRIVES:
        made[f"drives/{name}.js"] = f'diskmodelLab.drives["{name}"] = "{packed_json(drive_tables(name))}";\n'
    return made


def bundled(entry: str) -> str:
    """Return a module of the page with all that it imports, as one script (`bundle`)."""
    return bundle(PAGE / entry, {CONSTANTS: constants_js(), "heat_map.js": SHARED["heat_map.js"].read_text()})


def worker_script() -> str:
    """Return the script of the thread that simulates."""
    return f'{bundled("worker.js")}["worker.js"].begin();\n'


def _page(drive: str) -> str:
    """Return the page of `diskmodel lab` with the files of the folder instead of the server's."""
    page = (PAGE / "index.html").read_text()
    server_script = '<script type="module" src="/page/at_server.js"></script>'
    server_style = 'rel="stylesheet" href="/page/'
    if server_script not in page or server_style not in page:
        raise ValueError("index.html: loads its script or its style in another way than the page of the site expects")
    scripts = ("data.js", "kernel.js", f"drives/{drive}.js", "lab.js")
    own = "\n".join(f'<script defer src="{name}"></script>' for name in scripts)
    page = page.replace(server_script, own).replace(server_style, 'rel="stylesheet" href="')
    page = page.replace('"/page/logo.svg"', '"logo.svg"')
    return page.replace(">diskmodel lab</h1>", '><a href="../lab.html">diskmodel lab</a></h1>')


def _script_json(data: object) -> str:
    """Return plain data as an expression of JavaScript that cannot end the script element early."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
