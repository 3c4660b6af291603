"""The native kernel as it is compiled; `boundary` checks that it has the schema of the Python code."""

from __future__ import annotations

from diskmodel.errors import StaleKernelError

__all__ = ["kernel"]

try:
    from diskmodel.engine import _kernel as kernel
except ImportError as error:
    raise StaleKernelError(f"cannot be imported ({error})") from None
