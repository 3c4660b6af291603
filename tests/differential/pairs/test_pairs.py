"""Both engines on every pair of features: each pair is in a fixed case, or cannot be in one description."""

from __future__ import annotations

from itertools import combinations

import pytest

from diskmodel.layout.levels import LEVELS
from tests.differential.cases import N_FIXED, random_case
from tests.differential.compare import difference
from tests.differential.pairs.features import features_of, features_of_pool, pairs_of
from tests.differential.pairs.pools import KINDS, pair_case

#: Cases behind the fixed list that have the pairs which it lacks.
RARE = (400, 490, 565, 580, 690, 697, 850, 852, 970, 1000, 1577, 1689, 1904, 2043, 2394, 3573, 4080, 6449, 9890)
#: Pools that have all pairs between them, each of which SimPy runs in less than a second.
POOLS = (38, 198, 80, 264, 226, 5, 82, 43, 211, 25, 36, 21, 74, 17, 2, 12, 104, 13, 194)

_FLASH = frozenset({"flash drives", "suspended programs", "unused flash"})
_OF_HDD = frozenset({"drive cache", "write-back in drives", "media cache", "retries", "two actuators", "drive_fua"})
_REMOTE = frozenset({"virtual drives", "cloud drives"})
_LOGS = frozenset({"bitmap", "journal of md", "partial parity log"})
_OF_MD = frozenset({"stripe cache", "journal of md", "partial parity log", "write throttle"})
_NOT_REDUNDANT = frozenset({"jbod", "raid0"})
_PARITY_OF_MD = frozenset({"raid4", "raid5", "raid6"})
_COPIES = frozenset({"raid10", "raid1e"})
_LEVELS = frozenset(LEVELS)
#: Features that no description has together, and why.
EXCLUSIVE = (
    ("an array has one kind of drive", _FLASH, frozenset({"hdd drives"}) | _REMOTE | _OF_HDD),
    ("only hard disks have these", _REMOTE, frozenset({"hdd drives"}) | _REMOTE | _OF_HDD),
    ("an array has one level", _LEVELS, _LEVELS),
    ("without redundancy nothing is lost, checked or logged", _NOT_REDUNDANT,
     _LOGS | {"a lost disk", "a rebuild", "a check", "stripe cache", "far copies", "largest request"}),
    ("a check needs all disks", frozenset({"a check"}), frozenset({"a lost disk", "a rebuild", "far copies"})),
    ("an array has one of these logs", _LOGS, _LOGS),
    ("an arm that waits belongs to a controller, not to md", frozenset({"held disks"}), _OF_MD),
    ("only these parity levels of md have them", _OF_MD - {"write throttle"}, _LEVELS - _PARITY_OF_MD),
    ("only RAID 5 logs partial parity", frozenset({"partial parity log"}), _LEVELS - {"raid5"}),
    ("only RAID 10 has far copies", frozenset({"far copies"}),
     (_LEVELS - {"raid10"}) | (_OF_MD - {"write throttle"})),
    ("only copies have strips that requests are cut to", frozenset({"largest request"}),
     (_LEVELS - _COPIES) | (_OF_MD - {"write throttle"})),
    ("a read cache has a size, or hits are drawn", frozenset({"drawn hits"}),
     frozenset({"read cache", "read-ahead of the controller"})),
    ("a host that pauses has one processor and no lock", frozenset({"pauses"}), frozenset({"lock"})),
    ("zones are written on a single shingled disk", frozenset({"write zones"}),
     _FLASH | _LOGS | (_LEVELS - {"jbod"})
     | _REMOTE
     | {"media cache", "a lost disk", "a rebuild", "a check", "stripe cache", "held disks",
        "far copies", "largest request"}),
)  # fmt: skip
#: The same of pools.
EXCLUSIVE_OF_POOLS = (
    ("a pool has one kind of vdev", frozenset(KINDS), frozenset(KINDS)),
    ("a pool has one drive", *[frozenset({"drives md-raid-10k", "drives with a cache", "drives generic-sas-ssd",
                                          "drives micron-7450-pro-1920"})] * 2),
    ("a stream has clients or a rate", frozenset({"clients"}), frozenset({"a rate"})),
    ("a stream has one sync", frozenset({"dsync"}), frozenset({"fdatasync"})),
    ("records have one size", frozenset({"large records"}), frozenset({"small records"})),
    ("commits are of a log alone", frozenset({"commits"}), frozenset({"reads in order", "writes"})),
)  # fmt: skip


def _missing(
    found: list[frozenset[str]], exclusive: tuple[tuple[str, frozenset[str], frozenset[str]], ...]
) -> set[tuple[str, str]]:
    seen = pairs_of(found)
    every = sorted(frozenset().union(*found))
    return {
        pair
        for pair in combinations(every, 2)
        if pair not in seen
        and not any((pair[0] in a and pair[1] in b) or (pair[1] in a and pair[0] in b) for _, a, b in exclusive)
    }


def test_every_pair_of_features_is_drawn() -> None:
    found = [features_of(random_case(seed)) for seed in (*range(N_FIXED), *RARE)]
    assert not _missing(found, EXCLUSIVE)


def test_no_pair_is_excluded_that_is_drawn() -> None:
    """A reason that no longer holds would hide pairs that can be drawn by now."""
    seen = pairs_of(features_of(random_case(seed)) for seed in range(2_000))
    for why, a, b in EXCLUSIVE:
        both = [pair for pair in seen if (pair[0] in a and pair[1] in b) or (pair[1] in a and pair[0] in b)]
        assert not both, why


def test_every_pair_of_features_of_pools_is_drawn() -> None:
    assert not _missing([features_of_pool(pair_case(seed)) for seed in POOLS], EXCLUSIVE_OF_POOLS)


@pytest.mark.parametrize("seed", RARE)
def test_the_engines_agree_on_rare_pairs(seed: int) -> None:
    divergence = difference(random_case(seed))
    assert divergence is None, f"random_case({seed}): {divergence}"


@pytest.mark.parametrize("seed", POOLS)
def test_the_engines_agree_on_pairs_in_pools(seed: int) -> None:
    divergence = difference(pair_case(seed))
    assert divergence is None, f"pair_case({seed}): {divergence}"


@pytest.mark.long
@pytest.mark.parametrize("block", range(8))
def test_the_engines_agree_on_many_pools(block: int) -> None:
    for seed in range(block, 600, 8):
        divergence = difference(pair_case(seed))
        assert divergence is None, f"pair_case({seed}): {divergence}"
