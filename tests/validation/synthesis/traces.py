"""The public traces of the evidence folder, read as `diskmodel replay` reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from diskmodel.formats.replaying import load_replay
from diskmodel.records import Requests

#: Folder of evidence; None where there is none.
EVIDENCE = os.environ.get("DISKMODEL_EVIDENCE")


def paths() -> list[Path]:
    """Return the files of all traces, in order of name; none without evidence."""
    folder = Path(EVIDENCE or "nowhere") / "real-files" / "trace"
    return sorted(folder.iterdir()) if folder.is_dir() else []


def title(path: Path) -> str:
    """Return the name of a trace: its file's own, without the repository it comes from."""
    return path.name.split("__")[-1].split(".")[0]


def read(path: Path) -> Requests:
    """Return the requests of a trace at their recorded times."""
    return load_replay(path, format=None, device=None, timing="original", wraps=True, name=title(path))[0].trace


def rows(requests: Requests, chosen: slice) -> Requests:
    """Return some rows of a trace; time counts from the first of them."""
    when = requests.when_ns[chosen]
    return Requests(
        when_ns=when - when[0],
        op=requests.op[chosen],
        offset=requests.offset[chosen],
        length=requests.length[chosen],
        stream=np.zeros(len(when), dtype=np.int32),
        cache_draw=np.zeros(len(when)),
        streams=requests.streams,
    )


def pieces(requests: Requests, n: int) -> Iterator[Requests]:
    """Yield so many pieces of a trace, one after the other, with equal numbers of requests."""
    cuts = np.linspace(0, len(requests), n + 1).astype(int)
    yield from (rows(requests, slice(first, last)) for first, last in pairwise(cuts))
