"""How fast a rebuild, a check or a resync went beside a workload; of a pool a resilver or a scrub."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from diskmodel.loading import dataclass
from diskmodel.plain import Record

#: What the passes over all members are called in output, and those of OpenZFS.
PASSES: Mapping[str, str] = {"recover": "rebuild", "check": "check", "resync": "resync"}
POOL_PASSES: Mapping[str, str] = {"recover": "resilver", "check": "scrub"}


@dataclass(frozen=True)
class RebuildRate(Record):
    """Rate of a pass over the members in one run.

    Attributes
    ----------
    action : "recover", "check" or "resync"
    bytes_per_s : float
        Of each disk, over the whole run; too low where the pass ended within it.
    member_bytes : int
        What a whole pass goes through on each disk.
    is_finished : bool
        Whether the pass ended within the run: later requests were alone.
    is_of_pool : bool
        Whether it is a pass of OpenZFS, which goes through what is stored only.
    """

    action: str
    bytes_per_s: float
    member_bytes: int
    is_finished: bool
    is_of_pool: bool = False

    @property
    def hours(self) -> float:
        """Hours that a whole pass takes at this rate; inf where it does not move.

        Disks transfer less towards the end, so a run that begins at `done_ratio = 0.5` shows the mean best.
        """
        return self.member_bytes / self.bytes_per_s / 3600 if self.bytes_per_s else math.inf

    @property
    def name(self) -> str:
        return POOL_PASSES[self.action] if self.is_of_pool else PASSES[self.action]

    @property
    def messages(self) -> tuple[str, ...]:
        """What the reader must know of a run whose pass ended within it."""
        if not self.is_finished:
            return ()
        return (
            f"the {self.name} ended within the run, so some latencies are those of an array without it; simulate fewer "
            "requests, or begin with a lower rebuild.done_ratio",
        )

    @classmethod
    def across(cls, rates: Sequence[RebuildRate | None]) -> RebuildRate | None:
        """Return the mean over runs that differ in their seeds only."""
        known = [rate for rate in rates if rate is not None]
        if not known:
            return None
        mean = sum(rate.bytes_per_s for rate in known) / len(known)
        return replace(known[0], bytes_per_s=mean, is_finished=any(rate.is_finished for rate in known))

    def json_fields(self) -> Mapping[str, Any]:
        return {
            "action": self.action,
            "bytes_per_s": self.bytes_per_s,
            "hours": self.hours,
            "finished": self.is_finished,
        }
