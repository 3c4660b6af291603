"""Processes that run a check on many inputs, and the eye on them: time, memory, and whether they live."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from typing import Any

from tests.fuzz.check import Check

#: An input that takes more processor time than this hangs.
MAX_CORE_S = 5.0
#: The same without processor time: it waits for something.
MAX_WAIT_S = 120.0
#: Address space that a process may take beyond what it has when it starts.
MAX_BYTES = 1 << 30
#: Findings after which a process gives up: they are the same thing, mostly.
MAX_FINDINGS = 10

_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Finding:
    """An input that failed, by its number, and how."""

    number: int
    report: str


@dataclass
class Watched:
    """What a check came to.

    Attributes
    ----------
    n, n_understood : int
        Inputs, and those that were not refused.
    core_s : float
        Processor time of all inputs together.
    slowest, slowest_s : int, float
        Number and processor time of the slowest input.
    grew_bytes : int
        Resident memory that was taken beyond the first inputs' at most, of one process.
    findings : list of Finding
    stopped_at : int or None
        Number to go on with where the run was interrupted.
    """

    n: int = 0
    n_understood: int = 0
    core_s: float = 0.0
    slowest: int = -1
    slowest_s: float = 0.0
    grew_bytes: int = 0
    findings: list[Finding] = field(default_factory=list)
    stopped_at: int | None = None

    def add(self, other: Watched) -> None:
        """Take in what another process came to."""
        self.n, self.core_s = self.n + other.n, self.core_s + other.core_s
        if other.slowest_s >= self.slowest_s:
            self.slowest, self.slowest_s = other.slowest, other.slowest_s
        self.grew_bytes = max(self.grew_bytes, other.grew_bytes)
        self.findings += other.findings


def watch(check: Check, numbers: range, jobs: int = 1) -> Watched:
    """Run `check` on inputs of these numbers in `jobs` processes."""
    total, started = Watched(), time.monotonic()
    workers = [_Worker(check, numbers[job::jobs]) for job in range(jobs)]
    alive, last_report = list(workers), started
    try:
        while alive:
            wait([worker.end for worker in alive], timeout=1)
            for worker in list(alive):
                if worker.look(total):
                    alive.remove(worker)
            if time.monotonic() - last_report > 30:
                last_report = time.monotonic()
                at = min((worker.at for worker in alive), default=numbers.stop)
                print(f"{check.name}: {at} after {last_report - started:.0f} s", file=sys.stderr, flush=True)
    except KeyboardInterrupt:
        total.stopped_at = min(worker.at for worker in alive)
        for worker in alive:
            worker.kill()
            total.n += worker.numbers.index(worker.at)
    return total


class _Worker:
    """One process on its share of the numbers, started again behind an input that ended it."""

    def __init__(self, check: Check, numbers: range) -> None:
        self.check, self.numbers = check, numbers
        self._shared = _fork.RawArray("q", (numbers.start, 0))  # number of the input, how many were understood
        self._start()

    def _start(self) -> None:
        self.end, theirs = _fork.Pipe(duplex=False)
        self._seen, self._core_s, self._since = -1, 0.0, time.monotonic()
        self._process: Any = _fork.Process(
            target=_work, args=(self.check, self.numbers, self._shared, theirs), daemon=True
        )
        self._process.start()
        theirs.close()

    @property
    def at(self) -> int:
        """Number of the input it is at."""
        return int(self._shared[0])

    def kill(self) -> None:
        """End the process."""
        self._process.kill()

    def look(self, total: Watched) -> bool:
        """Whether it is done; findings and counts go into `total`."""
        if self._hangs():
            self.kill()
            self._process.join()
        while self.end.poll():
            try:
                report = self.end.recv()
            except EOFError:
                return self._ended(total)
            if isinstance(report, Finding):
                total.findings.append(report)
                continue
            total.add(report)
            total.n_understood += self._shared[1]
            self._process.join()
            return True
        return False

    def _ended(self, total: Watched) -> bool:
        """Its process is gone without a word: go on behind the input that it was at."""
        self._process.join()
        number, report = self.at, f"ended its process: {self._process.exitcode} (a signal, where below 0)"
        if self._hung:
            report = f"took more than {MAX_CORE_S:.0f} s of processor time, or {MAX_WAIT_S:.0f} s of waiting"
        done = self.numbers.index(number) + 1
        total.add(Watched(n=done, core_s=self._core_s, findings=[Finding(number, report)]))
        self.numbers = self.numbers[done:]
        if not self.numbers or len(total.findings) >= MAX_FINDINGS:
            return True
        self._start()
        return False

    def _hangs(self) -> bool:
        self._hung = False
        now, core_s = time.monotonic(), _core_s(self._process.pid)
        if self.at != self._seen:
            self._seen, self._core_s, self._since = self.at, core_s, now
        self._hung = core_s - self._core_s > MAX_CORE_S or now - self._since > MAX_WAIT_S
        return self._hung


def _core_s(pid: int) -> float:
    """Processor time of another process; 0 when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(check: Check, numbers: range, shared: Any, reports: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one who watches
    warnings.simplefilter("error")
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MAX_BYTES,) * 2)
    watched, choose, clock = Watched(), Random(), time.process_time
    settled = n_findings = 0
    watcher = os.getppid()
    started = before = clock()
    for number in numbers:
        shared[0] = number
        choose.seed(f"{check.name} {number}")
        try:
            shared[1] += check.run(choose)
        except BaseException:  # a panic of the kernel is no Exception
            reports.send(Finding(number, traceback.format_exc(limit=-6)))
            n_findings += 1
            if n_findings >= MAX_FINDINGS:
                break
        watched.n += 1
        now = clock()
        if now - before > watched.slowest_s:
            watched.slowest, watched.slowest_s = number, now - before
        before = now
        if watched.n == 1000:
            settled = _peak_bytes()
        if watched.n % 1000 == 0 and os.getppid() != watcher:
            return  # the parent process has ended
    watched.core_s = clock() - started
    watched.grew_bytes = _peak_bytes() - settled if settled else 0
    reports.send(watched)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
