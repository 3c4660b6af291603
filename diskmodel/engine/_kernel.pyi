from typing import Any

__all__ = ["IS_DEBUG_BUILD", "run", "serve_array"]

IS_DEBUG_BUILD: bool

def run(
    array: dict[str, Any], requests: dict[str, Any], out: dict[str, Any]
) -> tuple[int, int, int | None, list[list[int]]]: ...
def serve_array(array: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]: ...
