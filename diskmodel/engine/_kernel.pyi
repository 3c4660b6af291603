from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskmodel.engine.boundary import Outcome
from diskmodel.records import Int64

_Floats = NDArray[np.float64]
_Complexes = NDArray[np.complex128]

__all__ = [
    "IS_DEBUG_BUILD",
    "break_off",
    "expected_phasors",
    "filled_media_cache",
    "folded",
    "likeliest_layout",
    "run",
    "run_streamed",
    "runs_of_writes",
    "scheduler_names",
    "schema",
    "serve_array",
    "stop_runs",
    "sweep_rounds",
]

IS_DEBUG_BUILD: bool

def break_off() -> None: ...
def expected_phasors(likely: _Floats, aside: float, jump: float) -> _Complexes: ...
def filled_media_cache(
    lba: Int64, n: Int64, band: Int64 | None, max_extents: int, log_sectors: int
) -> tuple[Int64, Int64, bool, int]: ...
def folded(x: _Floats, phasor: _Complexes, frequencies: _Floats, n_bins: int) -> _Complexes: ...
def likeliest_layout(
    blocks: _Floats, angle: _Floats, layouts: Mapping[str, Any], judgement: Mapping[str, float]
) -> tuple[int, int, list[int]]: ...
def run(array: Mapping[str, Any], requests: Mapping[str, Any], out: Mapping[str, Any]) -> Outcome: ...
def run_streamed(
    array: Mapping[str, Any], streams: list[dict[str, int]], next_block: Callable[[int], dict[str, Any]]
) -> dict[str, Any]: ...
def runs_of_writes(disk: Int64, lba: Int64, end: Int64) -> tuple[Int64, Int64]: ...
def scheduler_names() -> list[str]: ...
def schema() -> list[str]: ...
def serve_array(array: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]: ...
def stop_runs() -> None: ...
def sweep_rounds(uses: Int64, waiting: Int64, n: int, lanes: Mapping[str, Any]) -> tuple[int, int, int]: ...
