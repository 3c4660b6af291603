"""Storage capacity planning by simulation: how many disks, which level, and why.

The names below are the public interface. Each is imported when it is first used, so that `import diskmodel` is quick.

Examples
--------
>>> import diskmodel
>>> array = diskmodel.Array.parse({"drive": "generic-15k", "layout": {"level": "raid10", "disks": 4}})
>>> workload = diskmodel.Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "clients": 8})
>>> diskmodel.simulate(array, workload, n_requests=2000).is_stable
True
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from diskmodel.naming import face
from diskmodel.version import __version__

if TYPE_CHECKING:
    from diskmodel.analytic import rule_of_thumb
    from diskmodel.analytic.estimate import estimate
    from diskmodel.array import Array, Spindles
    from diskmodel.controller import Controller, ReadCache, WriteCache
    from diskmodel.drive import Drive, Flash, Hdd, Virtual, load_drive
    from diskmodel.drive.catalogue import catalogue
    from diskmodel.engine.simulate import simulate
    from diskmodel.engine.sweep import sweep
    from diskmodel.errors import DescriptionError, DiskmodelError, Fault, FormatError, InputError
    from diskmodel.explanation.explain import explain
    from diskmodel.host import Host
    from diskmodel.layout import Layout
    from diskmodel.plan import Comparison, Objective, PlanDescription, PlanResult, ask, compare, run_plan
    from diskmodel.queue import Queue
    from diskmodel.result import Result
    from diskmodel.workload import Stream, Workload

__all__ = [
    "Array",
    "Comparison",
    "Controller",
    "DescriptionError",
    "DiskmodelError",
    "Drive",
    "Fault",
    "Flash",
    "FormatError",
    "Hdd",
    "Host",
    "InputError",
    "Layout",
    "Objective",
    "PlanDescription",
    "PlanResult",
    "Queue",
    "ReadCache",
    "Result",
    "Spindles",
    "Stream",
    "Virtual",
    "Workload",
    "WriteCache",
    "__version__",
    "ask",
    "catalogue",
    "compare",
    "estimate",
    "explain",
    "load_drive",
    "rule_of_thumb",
    "run_plan",
    "simulate",
    "sweep",
]


__getattr__ = face(
    __name__,
    {
        "analytic": "rule_of_thumb",
        "analytic.estimate": "estimate",
        "array": "Array Spindles",
        "controller": "Controller ReadCache WriteCache",
        "drive": "Drive Flash Hdd Virtual load_drive",
        "drive.catalogue": "catalogue",
        "engine.simulate": "simulate",
        "engine.sweep": "sweep",
        "errors": "DescriptionError DiskmodelError Fault FormatError InputError",
        "explanation.explain": "explain",
        "host": "Host",
        "layout": "Layout",
        "plan": "Comparison Objective PlanDescription PlanResult ask compare run_plan",
        "queue": "Queue",
        "result": "Result",
        "workload": "Stream Workload",
    },
)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
