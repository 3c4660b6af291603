"""What people call things: storage that is not modeled, and drives and controllers by part of their names.

Also how a package has names for others (`face`).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskmodel.naming.matching import MODEL, close_to, meant, several, words_of
    from diskmodel.naming.signposts import signpost


def face(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Parameters
    ----------
    package : str
        Its name.
    homes : mapping of str to str
        By module inside it, the names that are there, separated by spaces. Type checkers see the same names as imports
        in the package's own source.
    """
    home_of = {name: module for module, names in homes.items() for name in names.split()}

    def attribute(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        with _without_searches():
            value = getattr(import_module(f"{package}.{home_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute


@contextmanager
def _without_searches() -> Iterator[None]:
    """Search for no garbage meanwhile: what modules make stays, and looking through it takes a tenth of their time.

    Nor is it looked through afterwards, as what is new is: it counts as old.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            if not gc.get_freeze_count():  # else somebody has set things aside, which stay there
                gc.freeze()
                gc.unfreeze()  # into the oldest generation
            gc.enable()


__getattr__ = face(
    __name__,
    {
        "matching": "MODEL close_to meant several words_of",
        "signposts": "signpost",
    },
)
