"""What is drawn of the past is kept: many runs of a question begin with the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

#: Memory of the results of a function beyond which only the last one is kept, bytes. At half, two searches with caches
#: of 16 GiB forget each other's; at double, `explain` of a controller with a cache of 256 GiB takes more than 1 GB.
MAX_BYTES = 140_000_000

#: One result at a time is made: two that are large would take twice the memory, and are often the same one.
making = threading.RLock()


def kept(n_results: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the last results of a function of hashable arguments, fewer of them where they are large.

    Nobody may change a column of a result.
    """

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        results: OrderedDict[Hashable, T] = OrderedDict()

        @wraps(function)
        def found(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (args, tuple(sorted(kwargs.items())))
            with making:
                if key not in results:
                    results[key] = _fixed(function(*args, **kwargs))
                results.move_to_end(key)
                while len(results) > 1 and (len(results) > n_results or _bytes_of(results.values()) > MAX_BYTES):
                    results.popitem(last=False)
                return results[key]

        return found

    return keeping


def _fixed(result: T) -> T:
    """Return the result with columns that cannot be changed."""
    if isinstance(result, np.ndarray):
        result.flags.writeable = False
    elif isinstance(result, tuple):
        for part in result:
            _fixed(part)
    return result


def _bytes_of(result: Any) -> int:
    """Return the memory of the columns of a result."""
    if isinstance(result, np.ndarray):
        return int(result.nbytes)
    if isinstance(result, int | float | str | None):
        return 0
    return sum(_bytes_of(part) for part in result)
