"""Results as plain data for JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import Any


class Record:
    """Base of the dataclasses that users read as JSON."""

    def json_fields(self) -> Mapping[str, Any]:
        """Return the values by JSON key; by default all fields of the dataclass by their names."""
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; None in place of nan and infinity."""
        return {key: plain(value) for key, value in self.json_fields().items()}


def plain(value: Any) -> Any:
    """Return `value` with JSON's own types only; None in place of nan and infinity."""
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy, which a command like `rule` need not load
        return plain(value.tolist())
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path) else value
