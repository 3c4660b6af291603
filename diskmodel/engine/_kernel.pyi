from collections.abc import Callable, Mapping
from typing import Any, TypedDict, type_check_only

import numpy as np
from numpy.typing import NDArray

from diskmodel.records import Int64

_Floats = NDArray[np.float64]
_Complexes = NDArray[np.complex128]

__all__ = [
    "IS_DEBUG_BUILD",
    "break_off",
    "expected_phasors",
    "folded",
    "likeliest_layout",
    "run",
    "run_streamed",
    "scheduler_names",
    "serve_array",
    "sweep_rounds",
]

IS_DEBUG_BUILD: bool

@type_check_only
class Outcome(TypedDict):
    end_ns: int
    rebuilt_sectors: int
    cache_full_ns: int | None
    counters: dict[str, list[int]]
    long_places: list[int]
    long_values: list[int]
    levels: list[list[int]]

def break_off() -> None: ...
def expected_phasors(likely: _Floats, aside: float, jump: float) -> _Complexes: ...
def folded(x: _Floats, phasor: _Complexes, frequencies: _Floats, n_bins: int) -> _Complexes: ...
def likeliest_layout(
    blocks: _Floats, angle: _Floats, layouts: Mapping[str, Any], judgement: Mapping[str, float]
) -> tuple[int, int, list[int]]: ...
def run(array: Mapping[str, Any], requests: Mapping[str, Any], out: Mapping[str, Any]) -> Outcome: ...
def run_streamed(
    array: Mapping[str, Any], streams: list[dict[str, int]], next_block: Callable[[int], dict[str, Any]]
) -> dict[str, Any]: ...
def scheduler_names() -> list[str]: ...
def serve_array(array: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]: ...
def sweep_rounds(uses: Int64, waiting: Int64, n: int, lanes: Mapping[str, Any]) -> tuple[int, int, int]: ...
