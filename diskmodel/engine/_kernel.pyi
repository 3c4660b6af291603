from typing import Any

IS_DEBUG_BUILD: bool

def run_hdd(
    array: dict[str, Any], requests: dict[str, Any], out: dict[str, Any]
) -> tuple[int, int, list[list[int]]]: ...
