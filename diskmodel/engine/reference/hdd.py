"""Event adapter of a hard disk: queue and buffer decide, mechanics gives the times."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from diskmodel.drive import (
    USUAL,
    Access,
    AccessDraw,
    Arm,
    Dirty,
    DirtyBuffer,
    Draws,
    HddTables,
    Mechanics,
    MediaLog,
    Segment,
    Segments,
    Spindle,
    Step,
    streamed,
)
from diskmodel.engine.reference.clock import COMPLETE, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Counters, Device
from diskmodel.engine.scenario import Scenario
from diskmodel.queue import Head, Policy, Positioning, Waiting, make_policy
from diskmodel.records import FLUSH, READ, WRITE
from diskmodel.units import NS_PER_S


@dataclass
class Stream:
    """Read-ahead behind a read: block `lba` followed at `from_ns` with the arm at `arm`; it ends before `limit`."""

    segment: Segment
    lba: int
    limit: int
    from_ns: int
    arm: Arm
    #: Whether the last read stayed on it.
    is_long: bool = False


@dataclass
class Flush:
    """A flush that waits for the first `last` writes that have a number; `left` of them are not on the media yet."""

    command: Command
    last: int
    left: int


class Actuator:
    """One arm: what waits for it, where it is, and the read-ahead that runs behind its last read."""

    def __init__(self, scheduler: Policy, first_lba: int, media: MediaLog | None = None) -> None:
        self.scheduler = scheduler
        self.media = media
        self.first_lba = first_lba
        self.arm = Arm()
        self.free_ns = 0
        #: When its last access began, and ended, that was not part of a cleaning.
        self.begun_ns = 0
        self.worked_ns = 0
        self.served_end = first_lba
        #: From when on it may take what is overdue again (rule D12).
        self.may_give_way_ns = 0
        self.accepted: list[Command] = []
        #: Kept for a write since `free_ns`, and that write when it has come (rule L12).
        self.is_held = False
        self.follower: Command | None = None
        self.stream: Stream | None = None
        #: Segment of the stream that its last access stayed on (rule C5).
        self.went_on: Segment | None = None


class HardDisk(Device):
    """A hard disk (rules D1 to D9, C1 to C10)."""

    #: Called with every media access as it starts: the request, where its time will go, where the arm was, and when.
    on_access: Callable[[Command | Dirty, Access, Arm, int], None] | None = None

    def __init__(
        self,
        clock: Clock,
        index: int,
        tables: HddTables,
        mechanics: Mechanics,
        spindle: Spindle,
        scheduler: Policy,
        depth: int,
        make_policy: Callable[[], Policy],
        first_draw: int = 0,
    ) -> None:
        super().__init__(clock, index, scheduler, depth)
        self.tables = tables
        self.mechanics = mechanics
        self.spindle = spindle
        per_arm = tables.n_sectors_per_actuator
        self.actuators = [
            Actuator(make_policy(), i * per_arm, _media_log(tables, i * per_arm)) for i in range(tables.actuators)
        ]
        self.segments = Segments(tables.cache_segments, tables.segment_sectors)
        longest = 0 if tables.destages_in_order else tables.segment_sectors
        self.dirty = DirtyBuffer(
            tables.dirty_sectors, longest, tables.n_sectors_per_actuator, tables.write_room_sectors
        )
        #: Writes that wait until the buffer has room for them (rule C7).
        self.blocked: deque[Command] = deque()
        #: Flushes that are not ready, and those that wait for writes (rule D10).
        self.taken_flushes: deque[Command] = deque()
        self.waiting_flushes: list[Flush] = []
        self.read_ahead = tables.read_ahead_sectors
        self.prefill = tables.prefill_sectors
        self.bus_free_ns = 0
        self.draws = Draws(tables, first_draw, index)

    @property
    def n_buffered(self) -> int:
        in_logs = sum(actuator.media.extents.used for actuator in self.actuators if actuator.media is not None)
        return self.dirty.used + in_logs

    def load_log(self, writes: list[tuple[int, int]], runs: list[tuple[int, int]]) -> None:
        """Writes in the media cache when the run begins, and runs that go on: first block and sectors (rule G9)."""
        for places, is_run in ((writes, False), (runs, True)):
            for lba, n in places:
                actuator = self.actuator_of(lba)
                assert actuator.media is not None
                if is_run:
                    actuator.media.begin_run(lba - actuator.first_lba, n)
                else:
                    actuator.media.write(lba - actuator.first_lba, n, in_place=False)
        self.wake(self.clock.now)

    def load(
        self, programmed: list[tuple[int, int]], buffered: list[tuple[int, int, int]], room: Sequence[int]
    ) -> None:
        """Writes that the buffer holds when the run begins; destaging starts at once (rule Z5)."""
        entries = [Dirty(seq, lba, n, 0, room=room[seq]) for seq, lba, n in buffered]
        for entry in entries:
            actuator = self.actuator_of(entry.lba)
            if actuator.media is not None:
                entry.in_place = actuator.media.is_known_run(entry.lba - actuator.first_lba, entry.n_sectors)
        self.dirty.load(entries)
        self.wake(self.clock.now)

    # ------------------------------------------------------------------ queue side
    def overhead_ns(self, command: Command) -> int:
        return self.tables.read_overhead_ns if command.op == READ else self.tables.write_overhead_ns

    def actuator_of(self, lba: int) -> Actuator:
        """The arm that serves block `lba`."""
        return self.actuators[lba // self.tables.n_sectors_per_actuator]

    def positioning(self, now: int) -> Positioning:
        def positioning_ns(command: Waiting, margin_ns: int = 0, move_256ths: int = 0, /) -> int:
            actuator = self.actuator_of(command.lba)
            lba = command.lba - actuator.first_lba
            return self.mechanics.positioning_ns(
                actuator.arm, self.spindle, lba, command.op, now, margin_ns, move_256ths
            )

        return positioning_ns

    def counters_until(self, end_ns: int) -> Counters:
        # an access that the run did not see the end of counts for its part, a held arm to the end; two arms count half
        late = sum(a.free_ns - end_ns if a.is_held else max(a.free_ns - end_ns, 0) for a in self.actuators)
        return replace(self.counters, busy_ns=(self.counters.busy_ns - late) // len(self.actuators))

    def take(self, command: Command, now: int) -> None:
        if command.op == FLUSH:
            self.taken_flushes.append(command)
        else:
            self.actuator_of(command.lba).accepted.append(command)
        if command.ready_ns > now:
            self.wake(command.ready_ns)

    def follow(self, command: Command) -> None:
        self._asked(command)
        self.reserve()
        self.actuator_of(command.lba).follower = command
        self._accept(command, self.clock.now)
        self.wake(self.clock.now)

    # ------------------------------------------------------------------ service
    def dispatch(self, now: int) -> None:
        self._admit(now)
        for actuator in self.actuators:
            self._examine(actuator, now)
        self._begin_flushes(now)
        for actuator in self.actuators:
            while actuator.free_ns <= now and self._serve_one(actuator, now):
                pass
            self._rest(actuator, now)

    def _begin_flushes(self, now: int) -> None:
        """Flushes that are ready wait for what the buffer has accepted until now (rule D10)."""
        while self.taken_flushes and self.taken_flushes[0].ready_ns <= now:
            command = self.taken_flushes.popleft()
            left = 0 if self.tables.is_protected else self.dirty.n_unwritten
            if left:
                self.waiting_flushes.append(Flush(command, self.dirty.n_numbered, left))
            else:
                self.finish(command, command.ready_ns + self.tables.write_completion_overhead_ns)

    def _admit(self, now: int) -> None:
        """Writes that waited for room enter the buffer, in their order (rule C7)."""
        while self.blocked:
            command = self.blocked[0]
            if not self.dirty.accept(command.seq, command.lba, command.n_sectors, now, command.in_place):
                return
            self._from_buffer(self.blocked.popleft(), now)

    def _examine(self, actuator: Actuator, now: int) -> None:
        """Commands that have just become ready: hits and buffered writes need no arm (rules C2, C6, C7)."""
        for command in list(actuator.accepted):
            if command.is_examined or command.ready_ns > now:
                continue
            command.is_examined = True
            if command.op == WRITE:
                self._replace_segments(command)
                if actuator.media is not None:
                    command.in_place = actuator.media.is_in_run(command.lba - actuator.first_lba, command.n_sectors)
                is_follower = command is actuator.follower
                has_turn = is_follower or not self.blocked
                if command.is_fua:
                    command.number = self.dirty.pass_by()
                elif has_turn and self.dirty.accept(command.seq, command.lba, command.n_sectors, now, command.in_place):
                    actuator.accepted.remove(command)
                    if is_follower:
                        self._release(actuator, now)
                    self._from_buffer(command, now)
                elif not is_follower and command.n_sectors <= self.dirty.capacity:
                    actuator.accepted.remove(command)
                    self.blocked.append(command)
                elif self.dirty.capacity:
                    command.number = self.dirty.pass_by()
            elif self._is_hit(actuator, command, now):
                actuator.accepted.remove(command)
                self._from_buffer(command, now)

    def _replace_segments(self, command: Command) -> None:
        """What a write does to the segments (rule C6)."""
        if self.tables.writes_drop_all:
            self.segments.clear()
        else:
            self.segments.drop(command.lba, command.n_sectors)
        if self.tables.keeps_writes:
            self.segments.insert(command.lba, command.lba + command.n_sectors)

    def _release(self, actuator: Actuator, now: int) -> None:
        """The arm is no longer held; it was busy while it was."""
        self.counters.busy_ns += now - actuator.free_ns
        actuator.free_ns, actuator.is_held, actuator.follower = now, False, None

    def _is_hit(self, actuator: Actuator, command: Command, now: int) -> bool:
        if self.dirty.covers(command.lba, command.n_sectors):
            return True
        self._follow_stream(actuator, now)
        segment = self.segments.covers(command.lba, command.n_sectors)
        if segment is None:
            return False
        self.segments.touch(segment)
        self._prolong_stream(actuator, command.lba, command.lba + command.n_sectors, now)
        return True

    def _from_buffer(self, command: Command, now: int) -> None:
        """Transfer between buffer and host only; these transfers go one after the other (rule C2)."""
        start = max(now, self.bus_free_ns)
        self.bus_free_ns = start + self._bus_ns(command.n_sectors)
        command.is_hit = True
        command.transfer_ns = self._bus_ns(command.n_sectors)
        tail_ns = self._tail_ns(command)
        command.overhead_ns += tail_ns
        self.finish(command, self.bus_free_ns + tail_ns)

    def _serve_one(self, actuator: Actuator, now: int) -> bool:
        """Start the next access of a free arm; False when there is none."""
        if actuator.is_held:
            return self._serve_follower(actuator, now)
        oldest = (command for command in actuator.accepted if command.ready_ns <= now)
        ready: list[Command | Dirty] = list(islice(oldest, self.tables.weighed_commands))
        own = [entry for entry in self.dirty.waiting if self.actuator_of(entry.lba) is actuator]
        flushed = self._flushed(ready, own)
        # firmware that could not weigh all of what waits does not leave it until there is nothing else to do (rule C8)
        is_much = 2 * len(own) > self.tables.weighed_writes
        if self.tables.destages_in_order:
            ready = sorted([*ready, *own[: self.tables.weighed_writes]], key=_since)
        elif flushed:
            ready = flushed
        elif overdue := self._overdue(actuator, ready, own, now):
            ready = [overdue]
        elif going_on := self._on_long_stream(actuator, ready, now):
            ready = [going_on]
        elif not ready or is_much or self.dirty.is_pressing or self.blocked:
            ready += own[: self.tables.weighed_writes]
        if not ready:
            return False
        self._follow_stream(actuator, now)
        head = Head(actuator.served_end, self.positioning(now))
        chosen = ready[actuator.scheduler.choose(ready, head, now)]
        if isinstance(chosen, Dirty):
            self._destage(actuator, chosen, now)
            return True
        actuator.accepted.remove(chosen)
        if chosen.op == READ and self._is_hit(actuator, chosen, now):
            self._from_buffer(chosen, now)
            return True
        self._serve(actuator, chosen, now)
        return True

    def _overdue(
        self, actuator: Actuator, ready: Sequence[Command | Dirty], own: Sequence[Dirty], now: int
    ) -> Command | Dirty | None:
        """What has waited for too long and is taken before all else (rule D12)."""
        longest = self.tables.overdue_ns
        if not longest or now < actuator.may_give_way_ns or len(ready) + len(own) < 2:
            return None
        since, overdue = now - longest + 1, None
        for waiting, taken in ((ready, ready), (self.blocked, own)):
            if waiting and taken and waiting[0].arrived_ns < since:
                since, overdue = waiting[0].arrived_ns, taken[0]
        if overdue is not None:
            actuator.may_give_way_ns = now + longest // 8
        return overdue

    def _on_long_stream(self, actuator: Actuator, ready: Sequence[Command | Dirty], now: int) -> Command | Dirty | None:
        """The oldest read that begins in the segment of the stream that the last one stayed on (rule Q13)."""
        stream = actuator.stream
        if stream is None or not stream.is_long or actuator.scheduler.shortens != "positioning":
            return None
        self._follow_stream(actuator, now)
        start, end = stream.segment.start, stream.segment.end
        begun = (one for one in ready if one.op == READ and start <= one.lba < end < one.lba + one.n_sectors)
        return next(begun, None)

    def _flushed(self, ready: list[Command | Dirty], own: list[Dirty]) -> list[Command | Dirty]:
        """Of what is ready and the writes that wait for an arm, those that a flush waits for (rule D10)."""
        last = max((flush.last for flush in self.waiting_flushes), default=0)
        if not last:
            return []
        passing = [command for command in ready if 0 < command.number <= last]
        return [*passing, *[entry for entry in own if entry.number <= last][: self.tables.weighed_writes]]

    def _serve_follower(self, actuator: Actuator, now: int) -> bool:
        """Serve the write that the arm is held for; False when it is not ready."""
        command = actuator.follower
        if command is None or command.ready_ns > now:
            return False
        actuator.accepted.remove(command)
        self._release(actuator, now)
        self._serve(actuator, command, now, is_follower=True)
        return True

    def _serve(self, actuator: Actuator, chosen: Command, now: int, is_follower: bool = False) -> None:
        """Start the media access of a command."""
        access = self._access(actuator, chosen, now, self._data_ns(chosen), is_follower)
        chosen.seek_ns, chosen.rotation_ns = access.seek_ns, access.rotation_ns
        done = access.end_ns
        if chosen.op == READ:
            # overlapped with the media: at least the last sector follows it (rule D6)
            filling = max(access.end_ns - access.first_end_ns, 0) * self.tables.buffer_full_ppm // 1_000_000
            sent = access.first_end_ns + filling + self._bus_ns(chosen.n_sectors)
            done = max(access.end_ns + self._bus_ns(1), sent)
            self._start_stream(actuator, chosen, access)
        chosen.transfer_ns = done - actuator.begun_ns - access.seek_ns - access.rotation_ns
        tail_ns = self._tail_ns(chosen)
        chosen.overhead_ns += tail_ns
        self.finish(chosen, done + tail_ns)
        actuator.is_held = chosen.holds

    def _tail_ns(self, command: Command) -> int:
        tables = self.tables
        return tables.write_completion_overhead_ns if command.op == WRITE else tables.completion_overhead_ns

    def _data_ns(self, command: Command) -> int:
        """When enough of a write's data has come (rule D9)."""
        if command.op == READ:
            return 0
        return command.ready_ns + self._bus_ns(min(command.n_sectors, self.prefill))

    def _access(
        self, actuator: Actuator, wanted: Command | Dirty, now: int, data_ns: int = 0, is_follower: bool = False
    ) -> Access:
        """Move the arm for a command, now, and hold it until the media access ends."""
        lba, n = wanted.lba - actuator.first_lba, wanted.n_sectors
        begun, steps = self._steps(actuator, (wanted.op, lba, n), now, wanted.in_place)
        if steps == [(READ, lba, n)] and self._is_on_stream(actuator, wanted.lba, wanted.lba + n):
            access = self._continue_stream(actuator, wanted.lba + n, begun)
            actuator.went_on = actuator.stream.segment if actuator.stream else None
        else:
            extra_ns = 0 if is_follower else self._travel_to_edge(actuator)
            access = self._chain(actuator.arm, steps, begun, extra_ns, data_ns, self.draws.next())
            if steps[0][1] != lba:
                access = access._replace(first_wait_ns=0)
        if self.on_access is not None:
            self.on_access(wanted, access, actuator.arm, begun)
        actuator.arm = Arm(access.cylinder, access.head)
        actuator.begun_ns, actuator.free_ns, actuator.worked_ns = begun, access.end_ns, access.end_ns
        actuator.served_end = wanted.lba + n
        actuator.stream = None
        self.counters.busy_ns += access.end_ns - now
        self.wake(access.end_ns)
        return access

    def _steps(self, actuator: Actuator, wanted: Step, now: int, in_place: bool) -> tuple[int, list[Step]]:
        """Where the head goes for blocks of an arm, and when it can: a write may wait for a cleaning (rules G3, G6)."""
        op, lba, n = wanted
        media = actuator.media
        if media is None:
            return now, [wanted]
        if op == READ:
            return now, [(READ, place, length) for place, length in media.places(lba, n)]
        in_place = in_place or (media.is_full and not media.tables.band_sectors)
        while not in_place and media.is_full:
            now = self._clean(actuator, now)
        return now, [(WRITE, media.write(lba, n, in_place), n)]

    def _chain(
        self, arm: Arm, steps: list[Step], now: int, extra_ns: int = 0, data_ns: int = 0, drawn: AccessDraw = USUAL
    ) -> Access:
        """Accesses one after the other, as one; the first has drawn `drawn`."""
        (op, lba, n), *others = steps
        whole = self.mechanics.access(arm, self.spindle, op, lba, n, now, extra_ns, data_ns, drawn)
        for op, lba, n in others:
            here = Arm(whole.cylinder, whole.head)
            part = self.mechanics.access(here, self.spindle, op, lba, n, whole.end_ns, 0, data_ns)
            whole = part._replace(
                seek_ns=whole.seek_ns + part.seek_ns,
                rotation_ns=whole.rotation_ns + part.rotation_ns,
                transfer_ns=whole.transfer_ns + part.transfer_ns,
                first_end_ns=whole.first_end_ns,
                first_wait_ns=0,
            )
        return whole

    def _clean(self, actuator: Actuator, now: int) -> int:
        """Make the next step of cleaning from `now` on; return when it ends (rules G7 and G8)."""
        assert actuator.media is not None
        access = self._chain(actuator.arm, actuator.media.clean(), now)
        actuator.arm, actuator.stream = Arm(access.cylinder, access.head), None
        return access.end_ns

    def _rest(self, actuator: Actuator, now: int) -> None:
        """An arm that has had nothing to do for long enough cleans (rule G6)."""
        media = actuator.media
        is_idle = not actuator.accepted and not actuator.is_held and actuator.free_ns <= now
        if media is None or not media.extents or not is_idle:
            return
        due_ns = actuator.worked_ns + media.tables.idle_ns
        if due_ns > now:
            self.wake(due_ns)
            return
        self._follow_stream(actuator, now)
        actuator.free_ns = self._clean(actuator, now)
        self.counters.busy_ns += actuator.free_ns - now
        self.wake(actuator.free_ns)

    def _travel_to_edge(self, actuator: Actuator) -> int:
        """Move the arm to where SCAN and C-SCAN turn, and return how long that takes (rules Q4, Q5)."""
        policy, seek_ns, last = actuator.scheduler, self.mechanics.seek_ns, self.tables.n_cylinders - 1
        if not policy.edge or not policy.turned:
            return 0
        edge = last if policy.swept > 0 else 0
        travel_ns = seek_ns[abs(edge - actuator.arm.cylinder)]
        if policy.edge == "wrap":
            edge, travel_ns = 0, travel_ns + seek_ns[last]
        actuator.arm = Arm(edge, actuator.arm.head)
        return travel_ns

    def _destage(self, actuator: Actuator, entry: Dirty, now: int) -> None:
        """Write dirty data to the media (rule C8)."""
        self.dirty.take(entry)
        access = self._access(actuator, entry, now)

        def written() -> None:
            self.dirty.written(entry)
            self._wrote(entry.number, access.end_ns + self.tables.write_completion_overhead_ns)
            self.wake(access.end_ns)

        self.clock.at(access.end_ns, COMPLETE, self.index, entry.seq, written)

    def _complete(self, command: Command) -> None:
        if command.number:
            self.dirty.n_passing -= 1
            self._wrote(command.number, self.clock.now)
        super()._complete(command)

    def _wrote(self, number: int, end_ns: int) -> None:
        """A write is on the media: flushes that waited for nothing else end, not before `end_ns` (rule D10)."""
        for flush in self.waiting_flushes:
            flush.left -= number <= flush.last
            if not flush.left:
                own_end_ns = flush.command.ready_ns + self.tables.write_completion_overhead_ns
                self.finish(flush.command, max(end_ns, own_end_ns))
        self.waiting_flushes = [flush for flush in self.waiting_flushes if flush.left]

    def _bus_ns(self, n_sectors: int) -> int:
        return n_sectors * self.tables.sector_bytes * NS_PER_S // self.tables.interface_bytes_per_s

    # ------------------------------------------------------------------ read-ahead
    def _start_stream(self, actuator: Actuator, command: Command, access: Access) -> None:
        """After a read: its blocks are a segment, and the head reads on behind them (rule C3)."""
        end = command.lba + command.n_sectors
        went_on, actuator.went_on = actuator.went_on, None
        if went_on is not None:
            segment = self.segments.go_on(went_on, end)
        else:
            segment = self.segments.insert(command.lba - self._passed(actuator, command.lba, access), end)
        if segment is not None and self.read_ahead and not command.holds:
            limit = self._stream_limit(actuator, command.lba, end)
            arm = Arm(access.cylinder, access.head)
            actuator.stream = Stream(segment, end, limit, access.end_ns, arm, went_on is not None)

    def _passed(self, actuator: Actuator, lba: int, access: Access) -> int:
        """Sectors before block `lba` that passed under the head while it waited for that block (rule C10)."""
        if not self.tables.read_on_arrival:
            return 0
        place = self.mechanics.place(lba - actuator.first_lba)
        per_track = self.mechanics.sectors_per_track[place.zone]
        return min(access.first_wait_ns * per_track // self.spindle.revolution_ns, place.sector)

    def _follow_stream(self, actuator: Actuator, now: int) -> None:
        """What was read ahead by now is in the segment, and the arm is where the stream is (rule C4)."""
        stream, first = actuator.stream, actuator.first_lba
        if stream is None or stream.from_ns > now:
            return
        lba, limit = stream.lba - first, stream.limit - first
        front, actuator.arm = streamed(self.mechanics, self.spindle, stream.arm, lba, limit, stream.from_ns, now)
        self.segments.extend(stream.segment, front + first)
        if self.tables.reads_whole_track and now - stream.from_ns >= self.spindle.revolution_ns:
            last = stream.limit - 1
            self.segments.reach_back(stream.segment, last - self.mechanics.place(last - first).sector)

    def _prolong_stream(self, actuator: Actuator, start: int, end: int, now: int) -> None:
        """A hit on what is read ahead moves the limit on; a stream that had stopped there starts again (rule C3)."""
        stream = actuator.stream
        if stream is None or not stream.segment.start <= start <= end <= stream.segment.end:
            return
        limit = self._stream_limit(actuator, start, end)
        if limit > stream.limit:
            if stream.segment.end >= stream.limit:
                stream.lba, stream.from_ns, stream.arm = stream.segment.end, now, actuator.arm
            stream.limit = limit

    def _stream_limit(self, actuator: Actuator, start: int, end: int) -> int:
        last = min(actuator.first_lba + self.tables.n_sectors_per_actuator, self.tables.n_sectors)
        limit = min(end + self.read_ahead, last)
        if self.tables.read_ahead_in_track:
            place = self.mechanics.place(end - 1 - actuator.first_lba)
            if not self.tables.read_ahead_in_own_track or end - start <= place.sector + 1:
                limit = min(limit, end - 1 + self.mechanics.left_on_track(place))
        return limit

    def _is_on_stream(self, actuator: Actuator, start: int, end: int) -> bool:
        """Whether a read begins within the segment of the read-ahead, or right behind it (rule C5)."""
        stream = actuator.stream
        return stream is not None and stream.segment.start <= start <= stream.segment.end < end

    def _continue_stream(self, actuator: Actuator, end: int, now: int) -> Access:
        """A read that goes on where the read-ahead is: the head just stays on it (rule C5).

        A stream that has stopped at its limit starts again from there; all the time is transfer otherwise.
        """
        stream, first = actuator.stream, actuator.first_lba
        assert stream is not None
        front = stream.segment.end
        if front >= stream.limit:
            again = self.mechanics.access(actuator.arm, self.spindle, READ, front - first, end - front, now)
            return again._replace(first_wait_ns=0)
        whole = self.mechanics.access(
            stream.arm, self.spindle, READ, stream.lba - first, end - stream.lba, stream.from_ns
        )
        return whole._replace(
            seek_ns=0, rotation_ns=0, transfer_ns=whole.end_ns - now, first_end_ns=now, first_wait_ns=0
        )


def _since(ready: Command | Dirty) -> int:
    """When it became ready."""
    return ready.ready_ns if isinstance(ready, Command) else ready.arrived_ns


def _media_log(tables: HddTables, first_lba: int) -> MediaLog | None:
    """The media cache of the arm with block `first_lba`."""
    if tables.media_cache is None:
        return None
    return MediaLog(tables.media_cache, min(tables.n_sectors - first_lba, tables.n_sectors_per_actuator))


def hard_disks(clock: Clock, scenario: Scenario, tables: HddTables) -> list[Device]:
    """Return the disks of a scenario."""
    mechanics = Mechanics(tables)
    spindles = [Spindle(int(r), int(p)) for r, p in zip(scenario.revolution_ns, scenario.phase_ns, strict=True)]
    return [
        HardDisk(
            clock,
            i,
            tables,
            mechanics,
            spindles[i],
            make_policy(scenario.queue),
            scenario.depth,
            lambda: make_policy(scenario.drive_queue),
            scenario.first_draw,
        )
        for i in range(scenario.n_devices)
    ]
