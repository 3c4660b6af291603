"""How much of a load that changes a run has to see."""

from __future__ import annotations

#: Time at a rate from which on that rate is a load of its own: people notice when a minute is slow, and queues settle
#: within it. At half, bursts that a cache absorbs are planned for as if they never ended; at double, two minutes of
#: overload are averaged with the time around them.
LONG_NS = 60e9
#: Longest run that goes through the cycles of a load, requests: some seconds of computing, and the budget of a plan for
#: a verdict. At half, bursts of two seconds a minute are planned for as if they never ended; at double, each count of
#: disks takes twice as long.
MAX_COURSE = 1_000_000
#: Sequential runs at random places that a run has to see: a mean over fewer is that of those which happened to come.
MIN_DRAWS = 20
