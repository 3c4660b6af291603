"""Excerpts of a trace, and the course of phases that they stand for: times, operations, sizes and places together."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from diskmodel.description import Description
from diskmodel.records import Int64, Op
from diskmodel.workload.draws import Draws, Kind

SECTOR_BYTES = 512

#: Steps in which the requests of an excerpt are moved, bytes: requests keep their place within strips and pages of up
#: to this size. At half, large requests fall across other strips than before; at double, files are hardly smaller.
SHIFT_BYTES = 1 << 20

#: Steps of a stored time in an octave: a gap is off by at most 1.1 %, a phase by 0.14 %. With half as many, the rate of
#: a short burst is off by 2 %; with twice as many, files are a tenth larger.
_STEPS_OF_GAP = 32
_STEPS_OF_PHASE = 256

#: Work of a request that does not continue the one before, ns, and bytes per ns of transfer: a disk's. And utilization
#: of the one server on which a course begins when it is idle. Nearer to 1, few places are left to begin at; at half,
#: long bursts are cut in two.
POSITIONING_NS = 5e6
BYTES_PER_NS = 0.15
_UTILIZATION = 0.9

#: Share by which the end of a course may lengthen the mean wait when its beginning follows, at one server that is half
#: utilized as planned arrays are. A course that would exceed it begins at its own beginning: a trace that was cut in a
#: burst never saw what the rest of the burst does to its first requests. At 10 %, the mean of such a trace is off by
#: as much; at 0.1 %, most courses begin at one place, and short runs from several seeds see the same requests.
_JOIN_UTILIZATION = 0.5
_JOIN_SHARE = 0.01

#: Most requests of a cycle: its columns take 33 bytes each, 140 MB. A damaged file cannot ask for more.
MAX_CYCLE = 1 << 22

#: Longest cycle, ns: its times have to fit 64 bits.
_MAX_NS = 2.0**62

_Count = Annotated[int, Field(ge=1, le=MAX_CYCLE)]


class Cycle(NamedTuple):
    """The requests of all phases once, in order.

    Attributes
    ----------
    gap_ns : float64, shape (n,)
        Time before each request, from the one before it in the cycle.
    before_ns : float64, shape (n + 1,)
        Sum of the gaps before each request, and the length of the cycle.
    op : uint8, shape (n,)
    length, place : int64, shape (n,), bytes
        Places count from the start of the region, which is used as a ring: they may lie before it or beyond it.
    idle : int64, shape (m,)
        Rows that would find one server idle: places to begin at. Only row 0 where the end would delay the beginning.
    wait_ns : float64, shape (n,)
        Time that each request waits at one server that is half busy, when the cycle repeats.
    """

    gap_ns: NDArray[np.float64]
    before_ns: NDArray[np.float64]
    op: NDArray[np.uint8]
    length: Int64
    place: Int64
    idle: Int64
    wait_ns: NDArray[np.float64]

    @property
    def rate_per_s(self) -> float:
        """Mean rate over the cycle."""
        return len(self.op) * 1e9 / float(self.before_ns[-1])

    @property
    def read_ratio(self) -> float:
        """Share of reads."""
        return float((self.op == Op.READ).mean())


class Excerpts(Description):
    """Parts of a trace that are kept request by request, and the phases that each of them stands for.

    A trace is a sequence of phases, each of about a hundred requests. Each phase is represented by an excerpt: itself,
    or a phase that was much like it. Requests are drawn by going through the phases in the order of the trace, again
    and again, from a place that the seed decides. The requests of a phase are those of its excerpt, moved together to
    where the phase was; its duration is its own.

    Attributes
    ----------
    n_phases, n_excerpts, n_requests : int
        Numbers of phases and excerpts, and of the requests of all excerpts.
    phases, ends, requests : str
        Packed columns: excerpt, duration and shift of each phase; where each excerpt ends; gap, operation, size and
        place of each request.

    Notes
    -----
    Whatever repeats at a scale below a phase (batches, interleaved sequential runs, sizes with their operations) is
    that of the excerpt; whatever changes at a scale above it (rates of minutes and hours) is that of the trace. Lost
    are differences between phases that share an excerpt, and runs that continue from one phase into the next.

    References
    ----------
    B. Hong, T. M. Madhyastha, B. Zhang, *Cluster-based input/output trace synthesis*, IPCCC 2005. T. Sherwood et al.,
    *Automatically characterizing large scale program behavior*, ASPLOS 2002 (phases and their representatives).
    """

    n_phases: _Count
    n_excerpts: _Count
    n_requests: _Count
    phases: str
    ends: str
    requests: str

    @model_validator(mode="after")
    def _readable(self) -> Excerpts:
        self.cycle  # noqa: B018  decoded once here, so that a damaged file is refused before anything runs
        return self

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Counts only: the packed columns are no reading."""
        yield from ((name, getattr(self, name)) for name in ("n_phases", "n_excerpts", "n_requests"))

    @property
    def cycle(self) -> Cycle:
        """The requests of all phases."""
        return _cycle(self.n_phases, self.n_excerpts, self.n_requests, self.phases, self.ends, self.requests)

    @classmethod
    def pack(
        cls,
        *,
        excerpt: ArrayLike,
        duration_ns: ArrayLike,
        shift_bytes: ArrayLike,
        ends: ArrayLike,
        gap_ns: ArrayLike,
        op: ArrayLike,
        length: ArrayLike,
        place: ArrayLike,
    ) -> Excerpts:
        """Return excerpts from their columns.

        Parameters
        ----------
        excerpt, duration_ns : array_like of int, shape (n_phases,)
            Number of the excerpt of each phase, and the time from the last request of the phase before to its last.
        shift_bytes : array_like of int, shape (n_phases,)
            How far the requests of the phase lie from those of its excerpt; whole multiples of `SHIFT_BYTES`.
        ends : array_like of int, shape (n_excerpts,)
            Row after the last one of each excerpt.
        gap_ns, op, length, place : array_like of int, shape (n_requests,)
            Time before a request (only the proportions within an excerpt matter), `Op`, bytes, first byte from the
            start of the region. Bytes are whole sectors.

        Raises
        ------
        DescriptionError
            When columns contradict each other.
        """
        first, size = np.asarray(place) // SECTOR_BYTES, np.asarray(length) // SECTOR_BYTES
        jump = np.diff(first + size, prepend=0) - size
        starts = np.concatenate([[0], np.asarray(ends)[:-1]])
        jump[starts] = first[starts]
        return cls(
            n_phases=len(np.asarray(excerpt)),
            n_excerpts=len(starts),
            n_requests=len(first),
            phases=_packed(
                [excerpt, _steps(duration_ns, _STEPS_OF_PHASE), _zigzag(np.asarray(shift_bytes) // SHIFT_BYTES)]
            ),
            ends=_packed([np.diff(np.asarray(ends), prepend=0)]),
            requests=_packed([_steps(gap_ns, _STEPS_OF_GAP), op, size, _zigzag(jump)]),
        )

    def part(self, first_ratio: float, length_ratio: float) -> Excerpts:
        """Return some of the phases, at least one, from a place in their course on; its beginning follows its end.

        Parameters
        ----------
        first_ratio : float in [0, 1)
            Share of the phases before the first one.
        length_ratio : float in (0, 1]
            Share of the phases that are taken.

        Raises
        ------
        DescriptionError
            When no time passes in them.
        """
        n = max(round(length_ratio * self.n_phases), 1)
        at = (int(first_ratio * self.n_phases) + np.arange(n)) % self.n_phases
        columns = _unpacked(self.phases, 3, self.n_phases, "phases")
        return Excerpts.parse({**dict(self), "n_phases": n, "phases": _packed([column[at] for column in columns])})

    def waits_of_parts(self, n_parts: int, length_ratio: float) -> NDArray[np.float64]:
        """Return the mean wait in each of so many parts that begin at equal distances, about; shape (n_parts,), ns."""
        wait_ns = self.cycle.wait_ns
        n = max(round(length_ratio * len(wait_ns)), 1)
        total = np.concatenate([[0.0], np.cumsum(np.tile(wait_ns, 2))])
        first = np.arange(n_parts) * len(wait_ns) // n_parts
        found: NDArray[np.float64] = (total[first + n] - total[first]) / n
        return found

    def when(self, n: int, draws: Draws, rate_per_s: float) -> Int64:
        """Return issue times of rows from `draws.first_row` on at a mean rate; the first row of all is at 0."""
        cycle = self.cycle
        first, row = self._rows(n, draws)
        # the gap before the first row is not waited for
        whole, within = np.divmod(row + 1, len(cycle.op))
        length_ns = cycle.before_ns[-1]
        # rounded, a request at the end of a cycle may lie behind the beginning of the next
        at = np.minimum(whole * length_ns + cycle.before_ns[within], (whole + 1) * length_ns)
        found: Int64 = np.rint((at - cycle.before_ns[first + 1]) * (cycle.rate_per_s / rate_per_s)).astype(np.int64)
        return found

    def ops(self, n: int, draws: Draws, read_ratio: float) -> NDArray[np.uint8]:
        """Return `Op` values; where the share of reads differs from the excerpts', some of them are exchanged."""
        cycle = self.cycle
        op = cycle.op[self._rows(n, draws)[1] % len(cycle.op)]
        own = cycle.read_ratio
        draw = draws.uniform(Kind.OP, n)
        if read_ratio > own:
            op[(op == Op.WRITE) & (draw * (1 - own) < read_ratio - own)] = Op.READ
        elif read_ratio < own:
            op[(op == Op.READ) & (draw * own < own - read_ratio)] = Op.WRITE
        return op

    def lengths(self, n: int, draws: Draws) -> Int64:
        """Return request sizes; int64, shape (n,), bytes."""
        cycle = self.cycle
        return cycle.length[self._rows(n, draws)[1] % len(cycle.op)]

    def places(self, n: int, draws: Draws) -> Int64:
        """Return the first byte of each request from the start of the region."""
        cycle = self.cycle
        return cycle.place[self._rows(n, draws)[1] % len(cycle.op)]

    def _rows(self, n: int, draws: Draws) -> tuple[int, Int64]:
        """Return where in the cycle the first row of all lies, and the rows from `draws.first_row` on."""
        # the same place for all kinds of draws, and for what came before the run
        idle = self.cycle.idle
        first = int(idle[int(Draws.generator(draws, Kind.EXCERPT).random() * len(idle))])
        return first, first + draws.first_row + np.arange(n, dtype=np.int64)


@lru_cache(maxsize=16)
def _cycle(n_phases: int, n_excerpts: int, n_requests: int, phases: str, ends: str, requests: str) -> Cycle:
    """Decode packed columns; 16 decoded workloads are kept, because a search draws from the same one many times."""
    excerpt, duration_steps, shift = _unpacked(phases, 3, n_phases, "phases")
    (rows,) = _unpacked(ends, 1, n_excerpts, "ends")
    gap_steps, op, size, jump = _unpacked(requests, 4, n_requests, "requests")
    _check(
        (int(excerpt.max()) < n_excerpts, "phases", "names an excerpt that is missing"),
        (int(rows.min()) > 0 and int(rows.sum()) == n_requests, "ends", "does not add up to n_requests"),
        (int(op.max()) <= Op.WRITE, "requests", "has an operation that is neither a read nor a write"),
        (int(size.min()) > 0 and int(size.max()) < 1 << 32, "requests", "has a size out of range"),
        (int(duration_steps.max()) < 64 * _STEPS_OF_PHASE, "phases", "has a duration out of range"),
        (int(gap_steps.max()) < 64 * _STEPS_OF_GAP, "requests", "has a time out of range"),
        (int(rows[excerpt].sum()) <= MAX_CYCLE, "phases", f"has more than {MAX_CYCLE} requests in all"),
        (bool((duration_steps > 0).any()), "phases", "takes no time"),
    )
    gap_ns, duration_ns = _of_steps(gap_steps, _STEPS_OF_GAP), _of_steps(duration_steps, _STEPS_OF_PHASE)
    end = np.cumsum(rows)
    begin = end - rows
    jump, shift = _unzigzag(jump), _unzigzag(shift)
    _check((int(np.abs(shift).max()) < 1 << 41, "phases", "has a place out of range"))
    # an excerpt's first jump is its place; all others count from the end of the request before
    moved = jump + np.concatenate([[0], size[:-1]])
    moved[begin] = jump[begin]
    total = np.cumsum(moved)
    place = total - np.repeat(total[begin] - jump[begin], rows)
    _check((int(place.min()) >= 0 and int(place.max()) < 1 << 52, "requests", "has a place out of range"))
    own_ns = np.add.reduceat(gap_ns, begin)
    gap_ns[begin[own_ns == 0]] = 1.0
    own_ns[own_ns == 0] = 1.0
    n_rows = rows[excerpt]
    at = np.arange(int(n_rows.sum())) - np.repeat(np.cumsum(n_rows) - n_rows - begin[excerpt], n_rows)
    stretched = gap_ns[at] * np.repeat(duration_ns / own_ns[excerpt], n_rows)
    _check((float(stretched.sum()) < _MAX_NS, "phases", "lasts longer than 140 years"))
    work_ns = (moved[at] != size[np.maximum(at - 1, 0)]) * POSITIONING_NS + size[at] * (SECTOR_BYTES / BYTES_PER_NS)
    work = work_ns * (float(stretched.sum()) / float(work_ns.sum()))
    wait_ns = _repeated(stretched, _JOIN_UTILIZATION * work)
    return Cycle(
        gap_ns=stretched,
        before_ns=np.concatenate([[0.0], np.cumsum(stretched)]),
        op=op[at].astype(np.uint8),
        length=size[at] * SECTOR_BYTES,
        place=place[at] * SECTOR_BYTES + np.repeat(shift * SHIFT_BYTES, n_rows),
        idle=_idle(stretched, work, wait_ns),
        wait_ns=wait_ns,
    )


def _idle(gap_ns: NDArray[np.float64], work: NDArray[np.float64], again: NDArray[np.float64]) -> Int64:
    """Return the rows to begin at: those that find one server of `_UTILIZATION` idle when the cycle repeats.

    Only the first one where the requests of a repeated cycle wait longer than those of a single one.
    """
    once = queued(gap_ns, _JOIN_UTILIZATION * work)
    if float(again.sum()) > (1 + _JOIN_SHARE) * float(once.sum()):
        return np.zeros(1, np.int64)
    # rounding must not hide the longest pause
    queue = _repeated(gap_ns, _UTILIZATION * work)
    return np.flatnonzero(queue <= max(float(queue.min()), 0.0))


def _repeated(gap_ns: NDArray[np.float64], work_ns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the work that each request finds in the second of two cycles."""
    return queued(np.tile(gap_ns, 2), np.tile(work_ns, 2))[len(gap_ns) :]


def queued(gap_ns: NDArray[Any], work_ns: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the work that each request finds at one server: Lindley's recursion; float64, shape (n,), ns."""
    net = np.cumsum(np.concatenate([[0.0], work_ns[:-1]]) - gap_ns)
    found: NDArray[np.float64] = net - np.minimum.accumulate(np.minimum(net, 0.0))
    return found


def _check(*rules: tuple[bool, str, str]) -> None:
    for holds, field, rule in rules:
        if not holds:
            raise ValueError(f"{field}: {rule}; write the file anew with `diskmodel workload TRACE --fit`")


def _steps(time_ns: ArrayLike, per_octave: int) -> Int64:
    """Return times as whole steps on a logarithmic scale; 0 is no time at all."""
    time = np.asarray(time_ns, dtype=np.float64)
    found: Int64 = np.where(time >= 1, 1 + np.rint(per_octave * np.log2(np.maximum(time, 1))), 0).astype(np.int64)
    return found


def _of_steps(steps: Int64, per_octave: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.where(steps > 0, np.exp2((steps - 1) / per_octave), 0.0)
    return found


def _zigzag(values: Int64) -> Int64:
    """Return integers of at least 0 for integers of either sign, small ones for small ones."""
    found: Int64 = (values << 1) ^ (values >> 63)
    return found


def _unzigzag(values: Int64) -> Int64:
    found: Int64 = (values >> 1) ^ -(values & 1)
    return found


def _packed(columns: Sequence[Any]) -> str:
    """Return columns of integers of at least 0 as text: bytes of equal weight together, compressed, in base 85."""
    packed = bytearray()
    for column in columns:
        values = np.asarray(column).astype("<u8")
        width = max((int(values.max()).bit_length() + 7) // 8, 1)
        packed.append(width)
        packed += values.view(np.uint8).reshape(-1, 8)[:, :width].T.tobytes()
    return base64.b85encode(zlib.compress(bytes(packed), 9)).decode("ascii")


def _unpacked(text: str, n_columns: int, n: int, field: str) -> list[Int64]:
    """Return the columns in `text`, `n` values each."""
    most = n_columns * (1 + 8 * n)
    try:
        packed = zlib.decompressobj().decompress(base64.b85decode(text), most + 1)
    except (ValueError, zlib.error):
        packed = b""
    columns = []
    for _ in range(n_columns):
        width = packed[0] if packed else 0
        _check((1 <= width <= 7 and len(packed) > width * n, field, f"is damaged: {n} values in it cannot be read"))
        planes = np.frombuffer(packed, np.uint8, width * n, 1).reshape(width, n)
        values = np.zeros((n, 8), np.uint8)
        values[:, :width] = planes.T
        columns.append(values.view("<u8").reshape(-1).astype(np.int64))
        packed = packed[1 + width * n :]
    _check((not packed, field, f"is damaged: it has more than {n} values"))
    return columns
