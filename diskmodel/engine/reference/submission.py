"""Event adapter of write throttling: who hands commands to the disks, one after the other (rules Q10 and Q11)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from diskmodel.engine.reference.clock import ARRIVE, LAST, Clock
from diskmodel.engine.reference.command import Command
from diskmodel.engine.reference.device import Device
from diskmodel.queue import WriteThrottle
from diskmodel.records import READ


class Submitter:
    """One thread that hands commands to the disks in order and sleeps at a write that a disk does not take yet."""

    def __init__(
        self,
        clock: Clock,
        devices: Sequence[Device],
        block_queue: int,
        host_work_ns: int,
        begins: Callable[[Command], None],
        *,
        has_cache: bool,
    ) -> None:
        self.clock = clock
        self.devices = devices
        #: Called with each command that a disk is handed.
        self.begins = begins
        self.throttles = [WriteThrottle(block_queue, has_cache=has_cache) for _ in devices]
        #: What the thread does in order: commands to hand over, ends to notice, writes to take.
        self.held: deque[Command | Callable[[], None]] = deque()
        self.requests: deque[Callable[[], None]] = deque()
        #: What has ended and has not been noticed.
        self.ends: deque[Callable[[], None]] = deque()
        #: How long the host works between two completions that it notices.
        self.host_work_ns = host_work_ns
        self.is_in_turn = False
        self.is_asleep = False
        #: The thread has the bitmap written and sleeps until its bits are set (rule L13).
        self.sleeps_for_bits = False
        self._is_proceeding = False

    def hand_over(self, commands: Sequence[Command]) -> None:
        """Commands for the thread, behind those that it still has."""
        for command in commands:
            self.devices[command.device].reserve()
        self.held.extend(commands)
        self._proceed()

    def in_turn(self, action: Callable[[], None]) -> None:
        """Notice in the array's thread that an access has ended, or take a write: behind what the thread still has."""
        self.held.append(action)
        self._proceed()

    def bits_set(self) -> None:
        """The thread goes on: the bitmap has been written."""
        self.sleeps_for_bits = False
        self._proceed()

    def direct(self, command: Command) -> None:
        """A command that passes the thread by (a read that another process sends)."""
        self.devices[command.device].reserve()
        self._issue(command)

    def when_awake(self, action: Callable[[], None]) -> None:
        """Take a request in the thread: now, or when it has handed over what it sleeps at."""
        self.requests.append(action)
        self._proceed()

    def notice(self, action: Callable[[], None]) -> None:
        """Notice in the thread that something has ended: behind all requests, and one thing a turn."""
        self.ends.append(action)
        self._proceed()

    def _turn_ended(self) -> None:
        self.is_in_turn = False
        self._proceed()

    def completed(self, command: Command) -> None:
        """A command has completed."""
        throttle = self.throttles[command.device]
        if command.is_bitmap:
            throttle.exempt_completed()
        elif throttle.completed(command.seq, command.op, self.clock.now - command.arrived_ns):
            self._wake(command.device)

    def _proceed(self) -> None:
        # What the thread does gives it more to do. Were that begun at once, each access that waits would run within the
        # one before it, however many they are.
        if self._is_proceeding:
            return
        self._is_proceeding = True
        while self._is_awake_and_has_work:
            if self.held:
                first = self.held[0]
                if isinstance(first, Command) and not self._may_go(first):
                    self.is_asleep = True
                    continue
                self.held.popleft()
                if isinstance(first, Command):
                    self._issue(first)
                else:
                    first()
            elif self.requests:
                self.requests.popleft()()
            else:
                self._notice_one()
        self._is_proceeding = False

    @property
    def _is_awake_and_has_work(self) -> bool:
        is_awake = not self.is_asleep and not self.sleeps_for_bits
        return is_awake and bool(self.held or self.requests or (self.ends and not self.is_in_turn))

    def _notice_one(self) -> None:
        """Notice the first completion; the next one has its turn when what this one leads to has been issued."""
        first = self.ends.popleft()
        if self.ends:
            self.is_in_turn = True
            end_ns = self.clock.now + self.host_work_ns
            self.clock.at(end_ns, ARRIVE, len(self.devices), LAST, self._turn_ended)
        first()

    def _may_go(self, command: Command) -> bool:
        if command.op == READ:
            return True
        throttle = self.throttles[command.device]
        if not throttle.is_open:
            self._open_window(command.device)
        return throttle.n_writes < throttle.limit

    def _issue(self, command: Command) -> None:
        if not command.is_bitmap:
            self.throttles[command.device].issued(command.seq, command.op, self.clock.now)
        self.begins(command)
        self.devices[command.device].submit_reserved(command)

    def _wake(self, device: int) -> None:
        first = self.held[0] if self.is_asleep else None
        if isinstance(first, Command) and first.device == device and self._may_go(first):
            self.is_asleep = False
            self._proceed()

    def _open_window(self, device: int) -> None:
        end_ns = self.clock.now + self.throttles[device].open_window()
        self.clock.at(end_ns, ARRIVE, device, LAST, lambda: self._window_ended(device))

    def _window_ended(self, device: int) -> None:
        throttle = self.throttles[device]
        limit = throttle.limit
        if throttle.close_window(self.clock.now):
            self._open_window(device)
        if throttle.limit > limit:
            self._wake(device)
