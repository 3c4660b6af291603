"""An array inside a simulation of the user's own: `yield array.read(offset, length)` in any SimPy process."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import simpy

from diskmodel.array import Array
from diskmodel.engine.reference.clock import ARRIVE, Clock
from diskmodel.engine.reference.controller import HostRequest
from diskmodel.engine.reference.pools.writes import PoolWrites
from diskmodel.engine.reference.simpy_engine import make_host, make_rebuild, make_stages
from diskmodel.engine.scenario import resolve
from diskmodel.engine.write_pointers import WritePointers
from diskmodel.errors import DescriptionError, Fault
from diskmodel.records import READ, WRITE

#: Draws of cache hits are made so many at a time.
_DRAWS = 1024


@dataclass(frozen=True, slots=True)
class Completed:
    """What became of one request to the array, times in ns of the environment's clock.

    Attributes
    ----------
    issue_ns, done_ns : int
    is_hit : bool
        Served by the controller's cache.
    parts_ns : dict of str to int
        Where the response time went (keys: `diskmodel.records.PARTS`); adds up to it exactly.
    """

    issue_ns: int
    done_ns: int
    is_hit: bool
    parts_ns: dict[str, int]

    @property
    def response_ns(self) -> int:
        """Time from issue to completion."""
        return self.done_ns - self.issue_ns


class ArrayProcess:
    """An array in a `simpy.Environment` whose time is whole nanoseconds.

    The same model as `simulate(engine="simpy")`, to the nanosecond; a rebuild, if the array describes one, begins at
    once. What processes ask for at one instant arrives after everything that completes at that instant, in the order
    in which they asked.

    Parameters
    ----------
    env : simpy.Environment
    array : Array
    seed : int
        Of the spindles' angles and the hits of a cache that is described by its hit ratio.

    Attributes
    ----------
    capacity_bytes : int
        Bytes that the array offers.

    Raises
    ------
    DescriptionError
        When parts of the array do not fit each other.

    Examples
    --------
    >>> import simpy
    >>> env = simpy.Environment()
    >>> array = ArrayProcess(env, Array.parse({"drive": "generic-15k", "layout": {"level": "raid1", "disks": 2}}))
    >>> def client():
    ...     completed = yield array.read(1_000_000, 4096)
    ...     print(env.now == completed.done_ns, sum(completed.parts_ns.values()) == completed.response_ns)
    >>> _ = env.process(client())
    >>> env.run()
    True True
    """

    def __init__(self, env: simpy.Environment, array: Array, *, seed: int = 0) -> None:
        scenario = resolve(array, seed)
        self.env = env
        self.capacity_bytes = scenario.layout.capacity * scenario.drive.sector_bytes
        self._sector_bytes = scenario.drive.sector_bytes
        zones = array.drive.zones_in_order
        self._pointers = None if zones is None else WritePointers(zones)
        self._clock = Clock(env)
        self._devices, raid, controller = make_stages(self._clock, scenario, self._answered)
        self._host = make_host(self._clock, scenario, controller, self._done)
        self._events: dict[int, simpy.Event] = {}
        self._n_requests = 0
        cache = scenario.controller.read_cache
        self._hit_ratio = cache.hit_ratio if cache is not None and cache.hit_ratio is not None else 0.0
        # a child of its own: the angles of the spindles are drawn from others
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(entropy=seed, spawn_key=(0xCAC4E,))))
        self._draws: list[float] = []
        rebuild = make_rebuild(self._clock, scenario, raid, self._progress)
        if rebuild is not None:
            self._whole_now()
            rebuild.start()
        if isinstance(controller.array, PoolWrites) and scenario.layout.sync_action != "none":
            self._whole_now()
            controller.array.begin(0, 0, 0)

    def _progress(self) -> tuple[int, int]:
        """Return requests that have been issued, and those of them that have completed."""
        return self._n_requests, self._n_requests - len(self._events)

    def read(self, offset: int, length: int) -> simpy.Event:
        """Event of a read that is issued now; its value is a `Completed`.

        Parameters
        ----------
        offset, length : int, bytes
            Within the array; length more than 0.

        Raises
        ------
        DescriptionError
            When the range does not lie on the array, a write is not at its zone's write pointer (rule N3), or the
            environment's time is no whole number.
        """
        return self._request(READ, offset, length)

    def write(self, offset: int, length: int) -> simpy.Event:
        """Event of a write that is issued now; as `read`."""
        return self._request(WRITE, offset, length)

    @property
    def outstanding(self) -> int:
        """Requests that have been issued and not completed."""
        return len(self._events)

    @property
    def busy_ns(self) -> list[int]:
        """Time in which each disk's mechanism was held until now."""
        return [device.counters_until(self._clock.now).busy_ns for device in self._devices]

    def _request(self, op: int, offset: int, length: int) -> simpy.Event:
        self._whole_now()
        if offset < 0 or length <= 0 or offset + length > self.capacity_bytes:
            where = f"[{offset}, {offset + length})"
            rule = f"is not within the array's {self.capacity_bytes} bytes"
            raise DescriptionError(Fault("request", where, rule, "map the addresses onto the array"))
        if op == WRITE and self._pointers is not None and not self._pointers.take(offset, length):
            rule = "is not at the write pointer of its zone, and the drive would fail it"
            raise DescriptionError(Fault("request", f"[{offset}, {offset + length})", rule, "write zones in order"))
        row, self._n_requests = self._n_requests, self._n_requests + 1
        event = self._events[row] = simpy.Event(self.env)
        first = offset // self._sector_bytes
        n = -(-(offset + length) // self._sector_bytes) - first
        request = HostRequest(row, op, first, n, self._draw() < self._hit_ratio, self._clock.now)
        self._clock.at(self._clock.now, ARRIVE, 0, row, lambda: self._host.submit(request))
        return event

    def _whole_now(self) -> None:
        now = self.env.now
        if now != int(now):
            raise DescriptionError(
                Fault("env.now", now, "must be a whole number of nanoseconds", "use timeouts of whole numbers")
            )

    def _draw(self) -> float:
        if not self._draws:
            self._draws = self._rng.random(_DRAWS)[::-1].tolist()
        return self._draws.pop()

    def _answered(self, request: HostRequest) -> None:
        self._host.completed(request)

    def _done(self, request: HostRequest) -> None:
        parts = {
            "link": request.link_ns,
            "cache": request.cache_ns,
            "queue": request.queue_ns,
            "overhead": request.overhead_ns,
            "seek": request.seek_ns,
            "rotation": request.rotation_ns,
            "transfer": request.transfer_ns,
            "parity": request.parity_ns,
            "sync": request.sync_ns,
        }
        self._events.pop(request.row).succeed(Completed(request.issue_ns, self._clock.now, request.is_hit, parts))
