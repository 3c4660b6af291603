"""Event adapter of the layout: hands the pieces of a request to the disks and joins them again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

from diskmodel.controller import BlockCache
from diskmodel.drive import DriveTables
from diskmodel.engine.auxiliary import Auxiliary
from diskmodel.engine.reference.auxiliary.drives import AuxiliaryDrives
from diskmodel.engine.reference.clock import COMPLETE, Clock
from diskmodel.engine.reference.command import Access, Command
from diskmodel.engine.reference.copy_choice import CopyChoice
from diskmodel.engine.reference.device import Device
from diskmodel.engine.reference.flushing import ArrayFlushes, BlockFlushes
from diskmodel.engine.reference.md.barrier import Barrier
from diskmodel.engine.reference.md.journal import StripeJournal
from diskmodel.engine.reference.md.partial import PartialLogs
from diskmodel.engine.reference.request_tags import RequestTags
from diskmodel.engine.reference.submission import Submitter
from diskmodel.engine.steady.start import Start
from diskmodel.layout import READ_AND_HOLD, ChildIo, VolumeTables, merged
from diskmodel.layout.md import BATCH_STRIPES, MdTables, Row, Stripe, StripeCache, Unit, bits_of, row_of
from diskmodel.layout.md.bitmap import Bitmap
from diskmodel.layout.md.journal import batches, within
from diskmodel.layout.md.journal import stripes as stripes_of
from diskmodel.layout.plan import plan
from diskmodel.records import READ, WRITE


class Raid:
    """Disks under a layout (rules L1 to L15)."""

    def __init__(
        self,
        clock: Clock,
        tables: VolumeTables,
        devices: Sequence[Device],
        split_at: int,
        block_queue: int = 0,
        host_work_ns: int = 0,
        drive: DriveTables | None = None,
        log: Auxiliary | None = None,
    ) -> None:
        self.clock = clock
        self.tables = tables
        takes_flushes = drive is not None and drive.takes_flushes
        self.has_fua = drive is not None and drive.has_fua
        #: What is between the array and each disk where it takes flushes (rules Y4 and Y5).
        self.flushes = [BlockFlushes(clock, device, self._number) for device in devices] if takes_flushes else []
        self.array_flushes = ArrayFlushes(clock, len(devices), host_work_ns, self._flushed_disks)
        self.devices = devices
        self.split_at = split_at
        self.n_commands = 0
        self.choice = CopyChoice(tables, devices)
        self.front = tables.rebuild_front
        is_throttled = block_queue > 0 and (tables.has_rows or tables.copies > 1)
        self.submitter = (
            Submitter(clock, devices, block_queue, host_work_ns, self._begins, has_cache=takes_flushes)
            if is_throttled
            else None
        )
        #: Of a single disk, which programs write to themselves.
        is_single = block_queue > 0 and len(devices) == 1 and tables.has_strips and not is_throttled
        self.tags = RequestTags(clock, block_queue, has_cache=takes_flushes) if is_single else None
        md = self._md = tables.md
        self.bitmap = Bitmap(md) if md is not None and md.bitmap_chunk else None
        # a lost disk's blocks are computed anew for each request
        self.stripes = StripeCache(md) if md is not None and md.stripe_cache and not md.failed else None
        self.is_parity = tables.has_rows
        #: The thread of the host itself hands commands to the disks (mirrors); parity arrays have one of their own.
        self.is_host_thread = is_throttled and not self.is_parity
        #: Of an array that is rebuilt, whose requests and steps wait for each other.
        pause_ns = 0 if md is None else md.rebuild_pause_ns
        when_awake = self.submitter.when_awake if self.submitter is not None and self.is_host_thread else None
        self.barrier = Barrier(clock, pause_ns, len(devices) + 1, when_awake) if pause_ns else None
        #: What begins the writes that wait for the bitmap; the first `n_taken` wait for its write in progress.
        self.waiting_for_bits: list[Callable[[], None]] = []
        self.n_taken = 0
        self.is_writing_bits = False
        self.n_bit_writes = 0
        journal = None if md is None else md.journal
        self.journal = None
        if journal is not None:
            assert log is not None
            self.journal = StripeJournal(clock, journal, AuxiliaryDrives(clock, log), self)
        self.partial = None if md is None or md.ppl is None else PartialLogs(md.ppl, self)
        #: What the array's thread has to do when the superblock has been written, where no writes are throttled.
        self.is_asleep = False
        self.asleep: deque[Callable[[], None]] = deque()

    @property
    def md(self) -> MdTables:
        """Tables of an array that is known to be one of Linux md."""
        assert self._md is not None
        return self._md

    def access(
        self,
        op: int,
        sector: int,
        n: int,
        done: Callable[[Access, Command], None],
        is_fua: bool = False,
        row: int = 0,
        *,
        is_of_file: bool = False,
    ) -> None:
        """Start a host access of `n` sectors; `done` gets the access and the command that completed last.

        `row` is for what stands before a pool (`PoolWrites.access`); `is_of_file` whether a program writes through the
        page cache, for which Linux limits the writes in flight (rule Q10).
        """
        is_fua = is_fua and bool(self.flushes)
        if self.tags is not None:
            self._in_place(self.tags, op, sector, n, done, is_fua, is_of_file)
            return
        if self.barrier is not None:
            done = self.barrier.leaving(done)
        if self.bitmap is None or op == READ:
            begin = partial(self._plan, op, sector, n, self.clock.now, done, is_fua)
        else:
            begin = partial(self._intend, sector, n, self.clock.now, done, is_fua)
        if self.barrier is not None:
            begin = partial(self.barrier.enter, begin)
        if self.submitter is not None and self.is_host_thread:
            self.submitter.when_awake(begin)
        else:
            begin()

    def flush(self, done: Callable[[], None]) -> None:
        """Flush all disks, or join what waits for the next flush (rule Y5); none where stripes are logged (Y14)."""
        if self.tables.logs_stripes:
            done()
        elif self.tags is not None and self.flushes:
            self._flush_in_place(self.tags, done)
        elif self.submitter is not None and self.is_host_thread:
            self.submitter.when_awake(partial(self.array_flushes.flush, done))
        else:
            self.array_flushes.flush(done)

    def _in_place(
        self,
        tags: RequestTags,
        op: int,
        sector: int,
        n: int,
        done: Callable[[Access, Command], None],
        is_fua: bool,
        is_of_file: bool,
    ) -> None:
        """Start an access to a single disk, where flushes and writes of files need a place (rule Q10)."""
        number = tags.read_begins() if op == READ else 0

        def ended(access: Access, last: Command) -> None:
            done(access, last)
            if op == READ:
                tags.read_ended(number, self.clock.now - last.arrived_ns)
            elif is_of_file:
                tags.write_ended()
            else:
                tags.exempt_ended()

        begin = partial(self._plan, op, sector, n, self.clock.now, ended, is_fua)
        if op == WRITE and is_of_file:
            tags.take(begin)
        else:
            begin()

    def _flush_in_place(self, tags: RequestTags, done: Callable[[], None]) -> None:
        def ended() -> None:
            done()
            tags.flush_ended()

        tags.take(partial(self.array_flushes.flush, ended))

    def _flushed_disks(self) -> list[BlockFlushes]:
        """Disks that a flush goes to: all that are left, and the spare that is being rebuilt."""
        left = [disk for disk in range(self.tables.n_disks) if disk not in self.tables.failed]
        spare = [self.tables.n_disks] if self.tables.has_new_disk else []
        return [self.flushes[disk] for disk in [*left, *spare]] if self.flushes else []

    def _number(self) -> int:
        """Number of the next command."""
        self.n_commands += 1
        return self.n_commands - 1

    def _intend(
        self, sector: int, n: int, asked_ns: int, done: Callable[[Access, Command], None], is_fua: bool
    ) -> None:
        """A write that needs bits begins when they are set (rule L13)."""
        assert self.bitmap is not None
        bitmap, bits = self.bitmap, bits_of(self.md, sector, n)

        def ended(access: Access, last: Command) -> None:
            bitmap.ended(bits, self.clock.now)
            done(access, last)

        bitmap.enter(bits, self.clock.now)
        self.waiting_for_bits.append(partial(self._plan, WRITE, sector, n, asked_ns, ended, is_fua))
        if self.submitter is not None and not self.is_host_thread:
            self.submitter.in_turn(self._take_waiting)
        elif not self.is_writing_bits:
            self._take_waiting()

    def _take_waiting(self) -> None:
        """All writes that wait begin: now, or when the bits that are pending have been set (rule L13)."""
        assert self.bitmap is not None
        self.n_taken = len(self.waiting_for_bits)
        if self.bitmap.pending:
            self._write_bits()
        else:
            self._begin_taken()

    def _begin_taken(self) -> None:
        taken = self.waiting_for_bits[: self.n_taken]
        del self.waiting_for_bits[: self.n_taken]
        for begin in taken:
            begin()

    def _write_bits(self) -> None:
        """Write the pages of the bitmap with bits that are pending to all disks that are left (rule L13)."""
        assert self.bitmap is not None
        self.is_writing_bits = True
        if self.submitter is not None:
            self.submitter.sleeps_for_bits = True
        tables = self.md
        starts = [tables.bitmap_start + page * tables.bitmap_page for page in self.bitmap.take()]
        pieces = [
            ChildIo(disk, WRITE, lba, min(tables.bitmap_page, tables.bitmap_end - lba))
            for lba in starts
            for disk in range(tables.n_disks)
            if disk not in tables.failed
        ]
        now = self.clock.now
        self._submit(Access(lambda *_: self._bits_written(), [], now, now, is_bitmap=True), pieces)

    def _bits_written(self) -> None:
        self.n_bit_writes += 1
        flush_ns = self.md.bitmap_flush_ns
        if not flush_ns:
            self._bits_durable()
            return
        order = self.n_bit_writes - 1
        self.clock.at(self.clock.now + flush_ns, COMPLETE, len(self.devices) + 3, order, self._bits_durable)

    def _bits_durable(self) -> None:
        """The bits are set: the writes that were taken begin, in their order; then those behind them are taken."""
        assert self.bitmap is not None
        self.bitmap.written()
        self._begin_taken()
        self.is_writing_bits = False
        if self.submitter is not None:
            self.submitter.bits_set()
        elif self.waiting_for_bits:
            self._take_waiting()

    def _plan(
        self, op: int, sector: int, n: int, asked_ns: int, done: Callable[[Access, Command], None], is_fua: bool
    ) -> None:
        if op == WRITE and self.stripes is not None:
            self._write_stripes(self.stripes, sector, n, Access(done, [], asked_ns, self.clock.now, is_fua=is_fua))
            return
        pieces = plan(self.tables, op, sector, n, self.choice.begin(), self.front)
        access = Access(done, pieces.then, asked_ns, self.clock.now, is_fua=is_fua)
        access.is_logged, access.lost = op == WRITE and self.tables.logs_stripes, pieces.lost
        if self.submitter is not None:
            # a parity array that has lost a disk computes reads in its thread, also those that need no lost block
            is_computed = self.is_parity and bool(self.tables.failed)
            access.is_direct = op == READ and not is_computed and not self.is_host_thread
        if op == WRITE and not pieces.then:
            self._write(access, pieces.first)
        else:
            self._submit(access, pieces.first)

    def _write_stripes(self, stripes: StripeCache, sector: int, n: int, request: Access) -> None:
        """Write rows with the stripe cache: reads go first, then what needs none, each of the others by itself."""
        to_submit: list[tuple[Access, list[ChildIo]]] = []
        at_once: list[ChildIo] = []
        together = self._part_of(request)
        for stretch in stripes.write(sector, n):
            busy = stretch.busy
            if busy is None and not stretch.reads:
                at_once += stretch.writes
                together.pages.append(stretch.pages)
                stripes.begin(stretch.pages, together)
            elif isinstance(busy, Access) and not busy.is_written and not stretch.reads:
                request.out += 1
                busy.requests.append(request)
                busy.is_fua = busy.is_fua or request.is_fua
                busy.then += [piece for piece in stretch.writes if not _is_within(piece, busy.then)]
            else:
                access = self._part_of(request)
                access.then, access.pages = stretch.writes, [stretch.pages]
                stripes.begin(stretch.pages, access)
                if isinstance(busy, Access):
                    busy.followers.append(access)
                    access.out = 1
                to_submit.append((access, stretch.reads))
                request.out += 1
        if at_once:
            together.is_written = True
            to_submit.append((together, merged(at_once)))
            request.out += 1
        for access, pieces in to_submit:
            if pieces and access.is_written:
                self._write(access, pieces)
            elif pieces:
                self._submit(access, pieces)

    def _part_of(self, request: Access) -> Access:
        part = Access(self._part_written, [], request.asked_ns, request.start_ns, requests=[request])
        part.is_fua = request.is_fua
        part.is_direct = self.submitter is None
        part.is_logged = self.tables.logs_stripes
        return part

    def _part_written(self, part: Access, last: Command) -> None:
        assert self.stripes is not None
        for pages in part.pages:
            self.stripes.end(pages, part)
        for request in part.requests:
            request.out -= 1
            if not request.out:
                request.parity_ns = last.submitted_ns - request.start_ns
                request.done(request, last)
        for follower in part.followers:
            follower.out -= 1
            if not follower.out:
                self._begin_second(follower)

    def _begin_second(self, access: Access) -> None:
        """Submit the second phase."""
        pieces, access.then = access.then, []
        access.is_written = True
        self._write(access, pieces)

    def _write(self, access: Access, pieces: list[ChildIo]) -> None:
        """Submit the writes of an access: at once, or each batch of stripes when it is in the journal (rule Y13)."""
        tables, journal = self.tables, self.journal
        if access.is_logged and self.partial is not None:
            access.out += 1
            self.in_turn(lambda: self._log_partial(access, pieces))
            return
        if journal is None or not access.is_logged:
            self._submit(access, pieces)
            return
        found = batches([*pieces, *access.lost], tables.data_offset, journal.tables.page, tables.n_parity)
        access.out += len(found)
        for batch in found:
            journal.log(batch.n_blocks, partial(self._write_batch, access, within(pieces, batch.start, batch.stop)))

    def _write_batch(self, access: Access, pieces: list[ChildIo], unit: Unit) -> None:
        """Write to the members what is in the journal."""
        journal = self.journal
        assert journal is not None
        self.write_part(access, pieces, lambda: journal.ended(unit))

    def write_part(self, owner: object, pieces: list[ChildIo], done: Callable[[], None]) -> None:
        """Write a part of an access to the members; call `done` behind who waits for the access."""
        access = owner
        assert isinstance(access, Access)

        def ended(_: Access, last: Command) -> None:
            access.out -= 1
            if not access.out:
                access.parity_ns = last.submitted_ns - access.start_ns
                access.done(access, last)
            done()

        now = self.clock.now
        is_direct = self.submitter is None
        self._submit(Access(ended, [], now, now, is_direct=is_direct, is_fua=access.is_fua), pieces)

    def _log_partial(self, access: Access, pieces: list[ChildIo]) -> None:
        """Log the stripes of a write, as many at a time as md's thread takes, or write those without parity at once."""
        tables, logs = self.md, self.partial
        assert logs is not None
        page = logs.tables.page
        rows: dict[int, Row] = {}

        def row_with(number: int) -> Row:
            row = number * page // tables.strip
            return rows.setdefault(row, row_of(tables, row, self.front))

        every = [*pieces, *access.lost]
        found = stripes_of(every, tables.data_offset, page, tables.n_data, lambda number: row_with(number).parity[0])
        for at in range(0, len(found), BATCH_STRIPES):
            exposed: list[Stripe] = []
            for stripe in found[at : at + BATCH_STRIPES]:
                row = row_with(stripe.number)
                if row.parity[0] not in row.failed:
                    access.out += logs.take(row.parity[0], stripe, access, pieces)
                elif exposed and exposed[-1].stop == stripe.start:
                    exposed[-1] = exposed[-1]._replace(stop=stripe.stop)
                else:
                    exposed.append(stripe)
            access.out += len(exposed)
            for stripe in exposed:
                self.write_part(access, within(pieces, stripe.start, stripe.stop), lambda: None)
            logs.run()
        access.out -= 1

    def write_log(self, disk: int, lba: int, n: int, done: Callable[[], None]) -> None:
        """Write to the log of a member, past its cache."""
        now = self.clock.now
        access = Access(lambda *_: done(), [], now, now, is_direct=self.submitter is None, is_fua=bool(self.flushes))
        self._submit(access, [ChildIo(disk, WRITE, lba, n)])

    def flush_members(self, disks: Sequence[int], done: Callable[[], None]) -> None:
        """Flush members, where they take flushes."""
        if not self.flushes:
            done()
            return
        left = len(disks)

        def flushed() -> None:
            nonlocal left
            left -= 1
            if not left:
                done()

        for disk in disks:
            self.flushes[disk].flush(flushed)

    def in_turn(self, action: Callable[[], None]) -> None:
        """Do this in the array's thread, behind what it still has (rule Q11); at once where it never sleeps."""
        if self.submitter is not None:
            self.submitter.in_turn(action)
        elif self.is_asleep:
            self.asleep.append(action)
        else:
            action()

    def sleep_for_superblock(self, written: Callable[[], None]) -> None:
        """Flush all members and write the superblock to them, while the thread sleeps (rule Y15)."""
        journal, failed = self.md.journal, self.md.failed
        assert journal is not None
        self.is_asleep = True
        if self.submitter is not None:
            self.submitter.sleeps_for_bits = True
        pieces = [ChildIo(n, WRITE, journal.super_first, 1) for n in range(self.tables.n_disks) if n not in failed]

        def ended(_: Access, last: Command) -> None:
            written()
            self.is_asleep = False
            if self.submitter is not None:
                self.submitter.bits_set()
            while self.asleep and not self.is_asleep:
                self.asleep.popleft()()

        def flushed() -> None:
            now = self.clock.now
            self._submit(Access(ended, [], now, now, is_bitmap=True, is_fua=bool(self.flushes)), pieces)

        self.array_flushes.flush(flushed)

    # ------------------------------------------------------------------ what stands before it
    l2arc_reads = (0, 0)

    def begin_with(self, cache: BlockCache | None, start: Start) -> None:
        """Fill the cache in front of it with what it holds when the run begins."""
        for block, is_written in start.uses() if cache is not None else ():
            assert cache is not None
            (cache.write if is_written else cache.insert)(block)

    def hit(self, sector: int, n: int) -> None:
        """Nothing follows a read that a cache in front of it serves."""

    def feed_later(self) -> None:
        """Nothing is fed by what has come into a cache in front of it."""

    def start(
        self,
        first: list[ChildIo],
        then: list[ChildIo],
        done: Callable[[Access, Command], None],
        *,
        is_of_group: bool = False,
        is_of_scan: bool = False,
    ) -> None:
        """Start pieces in two phases; those of a group or of a scan are of classes of their own (rule X14)."""
        now = self.clock.now
        access = Access(done, then, now, now, is_of_group=is_of_group, is_of_scan=is_of_scan)
        self._submit(access, first)

    def read_record(self, record: int, n: int, done: Callable[[Access, Command], None], *, is_ahead: bool) -> None:
        """Read a record of `n` sectors into memory; ahead of a reader as commands of a class of their own (X14)."""
        now = self.clock.now
        pieces = plan(self.tables, READ, record * n, n, self.choice.begin(), self.front)
        self._submit(Access(done, pieces.then, now, now, ahead_of=record if is_ahead else -1), pieces.first)

    def _submit(self, access: Access, pieces: Sequence[ChildIo]) -> None:
        commands = []
        for disk, op, lba, n in pieces:
            for part_lba, part_n in self._within_actuators(lba, n):
                command = self._command(access, disk, READ if op == READ_AND_HOLD else op, part_lba, part_n)
                command.holds = op == READ_AND_HOLD
                commands.append(command)
        access.out += len(commands)
        if self.submitter is not None and not access.is_direct:
            self.submitter.hand_over(commands)
            return
        for command in commands:
            if self.submitter is not None:
                self.submitter.direct(command)
            else:
                self._begins(command)
                self.devices[command.device].submit(command)

    def _begins(self, command: Command) -> None:
        """A command is handed to its disk: flushes wait for a write that one follows (rule Y4)."""
        if command.flushes_after:
            self.flushes[command.device].data_begins()

    def _command(self, access: Access, disk: int, op: int, lba: int, n: int) -> Command:
        done = partial(self._part_done, access)
        command = Command(self._number(), disk, op, lba, n, self.clock.now, done, is_bitmap=access.is_bitmap)
        command.is_of_group, command.is_of_scan = access.is_of_group, access.is_of_scan
        command.ahead_of = access.ahead_of
        if access.is_fua and op == WRITE:
            if self.has_fua:
                command.is_fua = True
            else:
                command.flushes_after = True
                command.done = self.flushes[disk].data_ended(done)
        return command

    def _follow(self, access: Access, read: Command) -> None:
        """Write behind a read on the disk that is held for it (rule L12)."""
        write = self._command(access, read.device, WRITE, read.lba, read.n_sectors)
        write.follows = True
        access.n_following += 1
        self._begins(write)
        device = self.devices[read.device]
        if read.is_hit:
            device.submit(write)
        else:
            device.follow(write)

    def _within_actuators(self, lba: int, n: int) -> list[tuple[int, int]]:
        """A piece cut where the blocks of the next actuator begin (rule D8)."""
        border = (lba // self.split_at + 1) * self.split_at
        if lba + n <= border:
            return [(lba, n)]
        return [(lba, border - lba), *self._within_actuators(border, lba + n - border)]

    def _part_done(self, access: Access, command: Command) -> None:
        self._join(access, command)
        if self.submitter is not None:
            self.submitter.completed(command)

    def _join(self, access: Access, command: Command) -> None:
        if command.follows:
            access.n_following -= 1
        else:
            access.out -= 1
        if command.holds:
            self._follow(access, command)
        if access.out:
            return
        if access.then:
            self._begin_second(access)
            return
        if access.n_following:
            return
        access.parity_ns = command.submitted_ns - access.start_ns
        if self.submitter is None or access.is_direct:
            access.done(access, command)
        elif self.is_host_thread:
            self.submitter.notice(lambda: access.done(access, command))
        else:
            self.submitter.in_turn(lambda: access.done(access, command))


def _is_within(piece: ChildIo, others: Sequence[ChildIo]) -> bool:
    """Whether one of the others, all of the same operation, covers a piece."""
    return any(
        other.disk == piece.disk and other.lba <= piece.lba and piece.lba + piece.n <= other.lba + other.n
        for other in others
    )
