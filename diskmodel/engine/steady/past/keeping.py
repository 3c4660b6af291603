"""What is drawn of the past is kept: many runs of a question begin with the same."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from diskmodel.engine.steady.unused_memory import give_back_memory

P = ParamSpec("P")
T = TypeVar("T")

#: Memory of the results of a function beyond which only the last one is kept, bytes. At half, two searches with caches
#: of 16 GiB forget each other's; at double, `explain` of a controller with a cache of 256 GiB takes more than 1 GB.
MAX_BYTES = 140_000_000
#: The same of all functions together: the result that was used longest ago goes first. At half, trials of large caches
#: draw their past again; at double, comparisons of arrays with large caches take more than 1 GB.
MOST_BYTES = 240_000_000

#: One result at a time is made: two that are large would take twice the memory, and are often the same one.
making = threading.RLock()


#: What is kept of all functions, by function and arguments, the result that was used longest ago first; and the memory
#: of each.
_results: OrderedDict[tuple[Hashable, Hashable], tuple[Any, int]] = OrderedDict()


def kept(n_results: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep the last results of a function of hashable arguments, fewer of them where they are large.

    Nobody may change a column of a result.
    """

    def keeping(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def found(*args: P.args, **kwargs: P.kwargs) -> T:
            key = (function, (args, tuple(sorted(kwargs.items()))))
            with making:
                if key not in _results:
                    result = _fixed(function(*args, **kwargs))
                    _results[key] = result, _bytes_of(result)
                    give_back_memory()
                _results.move_to_end(key)
                own = [other for other in _results if other[0] is function]
                _forget(own, n_results, MAX_BYTES)
                _forget(list(_results), len(_results), MOST_BYTES)
                return cast("T", _results[key][0])

        return found

    return keeping


def _forget(keys: list[tuple[Hashable, Hashable]], most: int, most_bytes: int) -> None:
    """Forget the first ones of these results but the last, until they are few enough, and take little enough memory."""
    n_bytes = sum(_results[key][1] for key in keys)
    for n_left, key in zip(range(len(keys), 1, -1), keys, strict=False):
        if n_left <= most and n_bytes <= most_bytes:
            return
        n_bytes -= _results.pop(key)[1]


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
