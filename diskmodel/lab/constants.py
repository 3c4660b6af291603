"""Constants of Python that the lab's page uses, as a module of JavaScript: each has one owner, and none is copied."""

from __future__ import annotations

import json

from diskmodel.lab import curves
from diskmodel.lab.effort import MAX_OUTSTANDING_COMMANDS
from diskmodel.layout.md import STRIPED
from diskmodel.plan import SUSTAINED_RATIO, Candidates, GroupWidth
from diskmodel.result.statistics import batches, heat_map, quantiles, stability, throughput

#: Name of the module among those of the page.
CONSTANTS = "constants.js"


def constants_js() -> str:
    """Return the module: a constant a line, named as in Python, those of curves by stage for the native kernel."""
    widths = GroupWidth()
    values = {
        "BATCH_COUNTS": batches.BATCH_COUNTS,
        "LONG_SERIES": quantiles.LONG_SERIES,
        "MIN_BEYOND": quantiles.MIN_BEYOND,
        "MIN_BEYOND_IN_LONG": quantiles.MIN_BEYOND_IN_LONG,
        "CORRELATION_Z": batches.CORRELATION_Z,
        "LARGEST_CORRELATION": batches.LARGEST_CORRELATION,
        "STUDENT_T": batches.STUDENT_T_975,
        "N_SLOTS": throughput.N_SLOTS,
        "N_SAMPLES": stability.N_SAMPLES,
        "N_COUNTS": stability.N_COUNTS,
        "DEVIATIONS": stability.DEVIATIONS,
        "MIN_JUDGED": stability.MIN_JUDGED,
        "SHORT_REQUESTS": stability.SHORT_REQUESTS,
        "BUDGET": {stage: n for (engine, stage), n in curves.BUDGET.items() if engine == "native"},
        "MIN_REQUESTS": curves.MIN_REQUESTS,
        "MAX_REQUESTS": curves.MAX_REQUESTS,
        "LOADS": curves.LOADS,
        "SHARES": curves.SHARES,
        "SATURATING": curves.SATURATING,
        "MAX_OUTSTANDING": MAX_OUTSTANDING_COMMANDS,
        "MAX_DISKS": Candidates.model_fields["max_disks"].default,
        "WIDEST": {level: (getattr(widths, level), STRIPED[level][1]) for level in ("raid5", "raid6")},
        "SUSTAINED": SUSTAINED_RATIO,
        "N_TIMES": heat_map.N_TIMES,
        "N_LATENCIES": heat_map.N_LATENCIES,
        "BEYOND": heat_map.BEYOND,
        "MARGIN": heat_map.MARGIN,
        "LEAST_RANGE": heat_map.LEAST_RANGE,
        "PART_NAMES": heat_map.PART_NAMES,
    }
    return "".join(f"export const {name} = {json.dumps(value)};\n" for name, value in values.items())
