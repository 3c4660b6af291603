"""zpool status (OpenZFS): the vdevs of pools, their disks, and the scrub or resilver that is in progress."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from diskmodel.formats.faults import LineError, file_error
from diskmodel.formats.pools.figures import SIZE, scaled

_KEY = re.compile(
    r"\s{0,8}(pool|state|status|action|see|scan|scrub|remove|checkpoint|expand|config|errors|dedup): ?(.*)\Z"
)
_HEADER = re.compile(r"(\s*)NAME\s+STATE\s+READ\s+WRITE\s+CKSUM\b")
_ROW = re.compile(r"(\s*)(\S.*?)\s+([A-Z]{5,})\b(.*)\Z")
#: Devices of other classes than data stand below these words.
CLASSES = ("logs", "cache", "spares", "special", "dedup")
_CLASS = re.compile(rf"\s*({'|'.join(CLASSES)})\s*\Z")
_STATES = frozenset(("ONLINE", "DEGRADED", "FAULTED", "OFFLINE", "UNAVAIL", "REMOVED", "AVAIL", "INUSE", "SPLIT"))
#: Longest line of a device, with its path and what is said of it; longer ones are damage, and slow to take apart.
_LONGEST_LINE = 4096
#: Changes of a pool's shape that zpool status reports on.
_CHANGES = {"expand": "an expansion is in progress", "remove": "the removal of a vdev is in progress"}
#: Those of a disk that can be read.
_WORKING = frozenset(("ONLINE", "DEGRADED", "AVAIL", "INUSE"))
#: Vdevs of several disks; the number behind the last "-" is that of the vdev.
_VDEV = re.compile(r"(mirror|raidz[123]?|draid[123]?(?::\d+[a-z])*)-\d+\Z")
#: A distributed spare: parity, number of its vdev, and its own number there.
_DISTRIBUTED = re.compile(r"draid[123]-\d+-\d+\Z")
#: What holds the disks of one place while they are exchanged.
_EXCHANGE = re.compile(r"(replacing|spare)-\d+\Z")
_INDIRECT = re.compile(r"indirect-\d+\Z")
_BLOCKS = re.compile(r"block size: (\d+)B configured, (\d+)B native")

_LENGTH = re.compile(r"(?:(\d+) days? )?(\d+):(\d\d):(\d\d)|(\d+)h(\d+)m|(\d+)m\b")
#: Letters of a scan that are looked at: three lines of zpool have some two hundred.
_LONGEST_SCAN = 2000
_SCAN = re.compile(
    r"(?:thorough )?(?P<what>scrub|resilver|resilvered)\b(?: \((?P<vdev>[^)]*)\))?\s*"
    r"(?P<state>in progress|paused|canceled|repaired|stopped|completed)?"
)


@dataclass(frozen=True)
class Scan:
    """A scrub or a resilver.

    Attributes
    ----------
    is_resilver : bool
    is_running : bool
        False: it is finished.
    done_ratio : float
    total_bytes : float or None
        All that it goes through: what the pool stores, with parity, but of mirrors one side.
    bytes_per_s : float or None
        Mean rate at which commands were issued.
    hours : float or None
        Of a finished one how long it took; else the estimate of what is left.
    vdev : str or None
        The only vdev that it goes through, in the order of its space (a sequential resilver); None: the whole pool,
        record by record.
    """

    is_resilver: bool
    is_running: bool
    done_ratio: float = 1.0
    total_bytes: float | None = None
    bytes_per_s: float | None = None
    hours: float | None = None
    vdev: str | None = None

    def __str__(self) -> str:
        what = "scrub" if not self.is_resilver else "sequential resilver" if self.vdev else "resilver"
        if not self.is_running:
            return f"the last {what} took {self.hours:.3g} h" if self.hours is not None else f"a {what} has ended"
        parts = [f"a {what} is in progress, {self.done_ratio:.1%} done".replace("%", " %")]
        if self.bytes_per_s is not None:
            parts.append(f"{self.bytes_per_s / 2**20:.4g} MiB/s")
        if self.hours is not None:
            parts.append(f"{self.hours:.3g} h to go")
        return ", ".join(parts)


@dataclass
class Disk:
    """A place for a disk.

    Attributes
    ----------
    name : str
        As zpool shows it; of a place where one disk replaces another that of the new one, and of one that a
        distributed spare replaces that of the lost disk.
    is_failed : bool
        Nothing can be read from it, or not yet.
    is_resilvering : bool
    spare : str
        The distributed spare that has its data, or gets them; "" without one.
    replaced_by : str
        The new disk that a working one is copied to; "" without one.
    """

    name: str
    is_failed: bool = False
    is_resilvering: bool = False
    spare: str = ""
    replaced_by: str = ""

    @property
    def is_distributed_spare(self) -> bool:
        """Whether it is no disk, but space on those of a vdev of dRAID."""
        return _DISTRIBUTED.match(self.name) is not None


@dataclass
class Vdev:
    """Disks that keep a record together.

    Attributes
    ----------
    kind : str
        "disk", "mirror", "raidz1" …, or "draid…" with its numbers.
    disks : list of Disk
    """

    kind: str
    disks: list[Disk] = field(default_factory=list)

    @property
    def shape(self) -> tuple[str, int]:
        """What decides how it works: its kind and its number of disks."""
        return self.kind, len(self.disks)

    @property
    def is_distributed(self) -> bool:
        """Whether it is dRAID."""
        return self.kind.startswith("draid")


@dataclass
class Pool:
    """A pool as zpool status shows it.

    Attributes
    ----------
    name, state : str
    vdevs : list of Vdev
        Those of data.
    others : dict of str to list of Vdev
        Devices of the classes in `CLASSES`; spares and cache devices are vdevs of one disk. Distributed spares are
        among the spares, and are no disks of their own.
    scan : Scan or None
        The running one, else the last one that zpool shows.
    ashift : int or None
        Where zpool says that it is smaller than the drives' own.
    notes : list of str
        What was seen and left out.
    """

    name: str
    state: str = ""
    vdevs: list[Vdev] = field(default_factory=list)
    others: dict[str, list[Vdev]] = field(default_factory=dict)
    scan: Scan | None = None
    ashift: int | None = None
    notes: list[str] = field(default_factory=list)

    @property
    def disks(self) -> list[Disk]:
        """Places of data disks, vdev by vdev."""
        return [disk for vdev in self.vdevs for disk in vdev.disks]

    @property
    def n_spares(self) -> int:
        """Number of spares that are disks."""
        return sum(not disk.is_distributed_spare for vdev in self.others.get("spares", ()) for disk in vdev.disks)

    def in_words(self) -> str:
        """Return its shape: "2 × 6 raidz2"."""
        counts: dict[tuple[str, int], int] = {}
        for vdev in self.vdevs:
            counts[vdev.shape] = counts.get(vdev.shape, 0) + 1
        parts = [f"{n} × {width} {kind}" if kind != "disk" else f"{n} × disk" for (kind, width), n in counts.items()]
        return " and ".join(parts)


def is_status(text: str) -> bool:
    """Whether a text holds an output of zpool status."""
    head = text[:65536].expandtabs()
    return re.search(r"^\s*pool: \S", head, re.M) is not None and any(map(_HEADER.match, head.split("\n")))


def pools_of_text(text: str, source: str) -> list[Pool]:
    """Return the pools of an output of zpool status, in its order.

    Raises
    ------
    FormatError
        When it holds no pool, or a pool without its devices.
    LineError
        For a line of the devices that is none.
    """
    pools: list[Pool] = []
    sections: dict[str, list[str]] = {}
    key = ""
    table: _Table | None = None
    before: Scan | None = None
    changes: dict[tuple[str, str], list[str]] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").expandtabs().split("\n"), start=1):
        found = _KEY.match(line)
        if found and (found[1] != "dedup" or key != "config"):
            key = found[1]
            if key == "pool":
                pools.append(Pool(found[2].strip()))
                sections, table = {}, None
            sections[key] = [found[2]]
            if pools and key == "state":
                pools[-1].state = found[2].strip()
        elif not pools or not line.strip():
            continue
        elif key == "config":
            if header := _HEADER.match(line):
                table = _Table(pools[-1], len(header[1]))
            elif table is not None:
                table.add(line, (source, number))
        else:
            sections[key].append(line.strip())
        if pools and key in _CHANGES:
            changes[pools[-1].name, key] = sections[key]
        if pools and key in ("scan", "scrub"):
            if found:
                before = pools[-1].scan
            scan = _scan(" ".join(sections[key]))
            # a scrub runs behind a resilver that has ended and is shown below it
            is_over = scan is None or not scan.is_running
            pools[-1].scan = before if is_over and before is not None and before.is_running else scan
    if pools and "errors" not in sections:
        pools[-1].notes.append(
            'zpool status ends with a line "errors", missing here: if it was cut short, devices are missing, too'
        )
    for pool in pools:
        _settle(pool)
        pool.notes += [
            f"{what} and left out: {' '.join(changes[pool.name, key][:3]).strip()}; the pool is taken as it is shown"
            for key, what in _CHANGES.items()
            if any("in progress" in part for part in changes.get((pool.name, key), [])[:3])
        ]
        if not pool.vdevs:
            rule = f'shows no devices of the pool {pool.name}: its part "config" is missing or cut short'
            raise file_error(source, rule, "give the whole output of zpool status")
    if not pools:
        raise file_error(source, "holds no pool", "give the output of zpool status")
    return pools


class _Table:
    """Takes the lines of the devices of one pool: two blanks more for each level."""

    def __init__(self, pool: Pool, column: int) -> None:
        self.pool, self.column = pool, column
        self.group = ""  # of the devices below: "" data
        self.exchange: Disk | None = None
        self.exchange_depth = 0
        self.has_pool = False

    def add(self, line: str, place: tuple[str, int]) -> None:
        source, number = place
        if one := _CLASS.match(line):
            self.group = one[1]
            self.pool.others.setdefault(self.group, [])
            return
        row = _ROW.match(line) if len(line) <= _LONGEST_LINE else None
        if row is None or row[3] not in _STATES or (len(row[1]) - self.column) % 2:
            raise LineError(
                source,
                number,
                0,
                "",
                line.strip(),
                "is no line of the devices in zpool status: a name, a state, and counts of errors",
                "give the output as it was printed, with its blanks",
            )
        depth, name, state, rest = (len(row[1]) - self.column) // 2, row[2], row[3], row[4]
        if not self.has_pool and not self.group:
            self.has_pool = True
            return
        if not depth:
            rule = "begins where its pool does: the blanks before the names, which show what belongs to what, are lost"
            raise LineError(source, number, 0, "", line.strip(), rule, "give the output as it was printed")
        if _INDIRECT.match(name):
            self.pool.notes.append(f"{name} is what is left of a vdev that was removed: its data lies on the others")
            return
        if blocks := _BLOCKS.search(rest):
            self.pool.ashift = int(blocks[1]).bit_length() - 1
        self._place(depth, name, state, rest, place)

    def _place(self, depth: int, name: str, state: str, rest: str, place: tuple[str, int]) -> None:
        vdevs = self.pool.others[self.group] if self.group else self.pool.vdevs
        is_new = "resilvering)" in rest or "(awaiting resilver" in rest
        disk = Disk(name, state not in _WORKING, is_new)
        if self.exchange is not None and depth > self.exchange_depth:
            _exchange(self.exchange, disk)
            return
        self.exchange = None
        if depth == 1 and (whole := _VDEV.match(name)):
            vdevs.append(Vdev("raidz1" if whole[1] == "raidz" else whole[1]))
            return
        if depth == 1:
            vdevs.append(Vdev("disk"))
        elif not vdevs:
            source, number = place
            raise LineError(source, number, 0, "", name, "is a disk without its vdev", "give the whole output")
        if _EXCHANGE.match(name):
            disk = self.exchange = Disk(name, is_failed=True)
            self.exchange_depth = depth
        vdevs[-1].disks.append(disk)


def _exchange(place: Disk, disk: Disk) -> None:
    """Add one of the disks of a place that is exchanged: it works as soon as one of them has all data."""
    works = not (disk.is_failed or disk.is_resilvering)
    if disk.is_distributed_spare:
        place.spare = disk.name
    elif not place.spare:
        if disk.is_resilvering and not place.is_failed:
            place.replaced_by = disk.name
        elif not (place.is_resilvering and works):
            place.name = disk.name
        else:
            place.name, place.replaced_by = disk.name, place.name
    place.is_resilvering = place.is_resilvering or disk.is_resilvering
    place.is_failed = place.is_failed and (disk.is_failed or disk.is_resilvering)


def _settle(pool: Pool) -> None:
    """Decide which disks that are resilvered have their data.

    A new side of a mirror has none. A disk that was away for a while lacks only what was written meanwhile, and its
    vdev is not said to have lost data. Onto a distributed spare every disk of a vdev of dRAID writes a share.
    """
    for vdev in pool.vdevs:
        is_shared = vdev.is_distributed and any(disk.is_failed and disk.is_resilvering for disk in vdev.disks)
        for disk in vdev.disks:
            if disk.spare and not disk.is_failed:
                disk.is_resilvering = False
                pool.notes.append(
                    f"what {disk.name} had is on the distributed spare {disk.spare}: the disk is taken to work, and "
                    "the spare to be free, as after the disk is replaced"
                )
                continue
            if not disk.is_resilvering or disk.is_failed:
                continue
            if disk.replaced_by:
                disk.is_resilvering = False
                pool.notes.append(
                    f"{disk.name} works and is being replaced by {disk.replaced_by}: it counts as whole, and "
                    "the copy to the new disk is left out"
                )
                continue
            if is_shared:
                disk.is_resilvering = False
                continue
            others = [
                other for other in vdev.disks if other is not disk and not (other.is_failed or other.is_resilvering)
            ]
            if vdev.kind == "mirror" and others:
                disk.is_failed = True
            else:
                disk.is_resilvering = False
                pool.notes.append(f"{disk.name} is resilvered with what it missed: it is taken to have its data")


def _scan(text: str) -> Scan | None:
    """Return a scan from what stands behind "scan:"; None where there was none."""
    text = text[:_LONGEST_SCAN]
    found = _SCAN.match(text)
    if found is None or found["state"] == "canceled":
        return None
    is_resilver = found["what"] != "scrub"
    if found["state"] not in ("in progress", "paused"):
        took = re.search(r"\b(?:in|after) (" + _LENGTH.pattern + ")", text)
        return Scan(is_resilver, is_running=False, hours=_hours(took[1]) if took else None, vdev=found["vdev"])
    done = re.search(r"(\d+(?:[.,]\d+)?)% done", text)
    issued = re.search(SIZE + r"(?: / " + SIZE + r")? issued(?: (?:at )?" + SIZE + r"/s)?", text)
    scanned = re.search(
        SIZE + r"(?: scanned out of " + SIZE + r"| / " + SIZE + r" scanned)(?: at " + SIZE + r"/s)?", text
    )
    total = re.search(SIZE + r" total", text) or re.search(r"(?:scanned out of | / )" + SIZE, text)
    left = re.search(r"(" + _LENGTH.pattern + r") to go", text)
    rate = None
    if issued and issued[5]:
        rate = scaled(issued[5], issued[6])
    elif not issued and scanned and scanned[7]:
        rate = scaled(scanned[7], scanned[8])
    return Scan(
        is_resilver,
        is_running=True,
        done_ratio=min(float(done[1].replace(",", ".")) / 100, 1.0) if done else 0.0,
        total_bytes=scaled(total[1], total[2]) if total else None,
        bytes_per_s=rate,
        hours=_hours(left[1]) if left else None,
        vdev=found["vdev"],
    )


def _hours(text: str) -> float:
    found = _LENGTH.search(text)
    assert found is not None
    days, hours, minutes, seconds, old_hours, old_minutes, only_minutes = (float(part or 0) for part in found.groups())
    return 24 * days + hours + old_hours + (minutes + old_minutes + only_minutes) / 60 + seconds / 3600
