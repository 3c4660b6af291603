"""The rule of thumb of RAID calculators for the lab's settings."""

from __future__ import annotations

from typing import Any

from diskmodel.analytic import rule_of_thumb
from diskmodel.array import Array
from diskmodel.lab.settings import Settings
from diskmodel.plan import calculator_disk_iops


def calculator(settings: Settings, array: Array) -> dict[str, Any]:
    """Return the rule of thumb for `settings`: penalty, disk operations per request, host requests per second."""
    per_disk = calculator_disk_iops(array.drive)
    rule = rule_of_thumb(
        settings.level,
        read_fraction=settings.read_ratio,
        cache_hit=settings.read_hit_ratio,
        disks=settings.disks,
        per_disk_iops=per_disk,
        counts_only=True,
    )
    return {
        "write_penalty": rule.write_penalty,
        "per_disk_iops": per_disk,
        "back_end_per_host": rule.back_end_per_host,
        "iops": rule.host_iops,
    }
