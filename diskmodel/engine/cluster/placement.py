"""Which OSDs hold what: placement groups on OSDs, objects of an image in placement groups (rules E3, E4)."""

from __future__ import annotations

import numpy as np

from diskmodel.drive import OBJECT_BYTES, ClusterPool
from diskmodel.records import Int64

_MIX = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_BITS = (1 << 64) - 1


def placed(pool: ClusterPool, seed: int) -> list[tuple[int, ...]]:
    """Return the OSDs of each placement group, its primary first; those of failed nodes are left out.

    The balancer of Ceph evens out how many groups an OSD has, so that OSDs differ by one; which of them is primary is
    drawn, and uneven. OSD `o` is on node `o // pool.osds_per_node`.
    """
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0xCE94,))))
    is_by_host = pool.failure_domain == "host"
    n_places = pool.nodes if is_by_host else pool.n_osds
    down = set(rng.permutation(pool.nodes)[: pool.failed_nodes].tolist())
    # one node uses the volumes and has a copy of each, where clients are on the nodes (rule E15)
    has_one_home = is_by_host and pool.program.is_local and pool.n_clients == 1
    home = next(node for node in range(pool.nodes) if node not in down)
    places = _Deck(rng, n_places)
    within = [_Deck(rng, pool.osds_per_node) for _ in range(pool.nodes)]
    groups = []
    for _ in range(pool.n_groups):
        chosen = places.hand(pool.width)
        if has_one_home and home not in chosen:
            chosen[0] = home
        osds = [place * pool.osds_per_node + within[place].hand(1)[0] if is_by_host else place for place in chosen]
        up = [osd for osd in osds if osd // pool.osds_per_node not in down]
        first = int(rng.integers(len(up)))
        if has_one_home:
            first = next((at for at, osd in enumerate(up) if osd // pool.osds_per_node == home), first)
        groups.append((up[first], *up[:first], *up[first + 1 :]))
    return groups


class _Deck:
    """Deals places in random order, each as often as the others."""

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self._rng, self._n = rng, n
        self._left: list[int] = []

    def hand(self, n: int) -> list[int]:
        """Return `n` different places."""
        found: list[int] = []
        aside: list[int] = []
        while len(found) < n:
            if not self._left:
                self._left = self._rng.permutation(self._n).tolist()
            place = self._left.pop()
            (aside if place in found else found).append(place)
        self._left.extend(aside)
        return found


def group_of(objects: Int64, n_groups: int) -> Int64:
    """Return the placement group of each object of an image: a hash of its number."""
    x = (objects.astype(np.uint64) + np.uint64(1)) * np.uint64(_MIX[0])
    x = (x ^ (x >> np.uint64(30))) * np.uint64(_MIX[1])
    x = (x ^ (x >> np.uint64(27))) * np.uint64(_MIX[2])
    return ((x ^ (x >> np.uint64(31))) % np.uint64(n_groups)).astype(np.int64)


def pieces(offset: int, length: int) -> list[tuple[int, int, int]]:
    """Return the parts of a request: object, first byte in it, bytes.

    Examples
    --------
    >>> pieces((4 << 20) - 4096, 8192)
    [(0, 4190208, 4096), (1, 0, 4096)]
    """
    found = []
    while length > 0:
        number, first = divmod(offset, OBJECT_BYTES)
        n = min(length, OBJECT_BYTES - first)
        found.append((number, first, n))
        offset, length = offset + n, length - n
    return found
