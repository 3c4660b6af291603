from collections.abc import Callable
from typing import Any

__all__ = ["IS_DEBUG_BUILD", "break_off", "run", "run_streamed", "serve_array"]

IS_DEBUG_BUILD: bool

def break_off() -> None: ...
def run(
    array: dict[str, Any], requests: dict[str, Any], out: dict[str, Any]
) -> tuple[int, int, int | None, list[list[int]], list[tuple[int, int]], list[list[int]]]: ...
def run_streamed(
    array: dict[str, Any], streams: list[tuple[int, int]], next_block: Callable[[int], dict[str, Any]]
) -> dict[str, Any]: ...
def serve_array(array: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]: ...
