from typing import Any

IS_DEBUG_BUILD: bool

def run(
    array: dict[str, Any], requests: dict[str, Any], out: dict[str, Any]
) -> tuple[int, int, int | None, list[list[int]]]: ...
def serve_array(array: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]: ...
