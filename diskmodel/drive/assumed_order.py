"""What is known of how firmware orders queued commands, for drives of which it was not measured."""

from __future__ import annotations

from typing import NamedTuple

from diskmodel.queue import AGE_WEIGHT, COMMITTED, MISS_MARGIN_NS


class Order(NamedTuple):
    """Parameters of `rpo` (rule Q12), cached writes among which a drive chooses, when a command is overdue (D12).

    Of a drive that orders by another scheduler: its name, and the commands that it weighs.
    """

    miss_margin_ns: int = MISS_MARGIN_NS
    age_weight: float = AGE_WEIGHT
    committed: int = COMMITTED
    weighed_writes: int | None = None
    miss_ratio: float = 0.0
    overdue_ns: int | None = None
    scheduler: str = "rpo"
    weighed: int | None = None


class AssumedOrder(NamedTuple):
    """A kind of drives whose firmware is assumed to be like that of others.

    Attributes
    ----------
    words : str
        Where the assumption comes from, as messages give it.
    order : Order, optional
        What profiles of this kind have: the slower side where the evidence leaves a choice. None: first come, first
        served.
    drawn : tuple of Order
        What drives of this kind may have, by what was measured; each is as likely as the others, and what is more
        likely is there several times. Empty where nothing was.
    """

    words: str
    order: Order | None
    drawn: tuple[Order, ...]

    @property
    def scheduler(self) -> str:
        """The scheduler of profiles of this kind."""
        return "fcfs" if self.order is None else self.order.scheduler


#: Fitted to each of the three drives of docs/explanation/validation-firmware.md. Cached writes were measured of the
#: first and the last.
SAMSUNG_F1 = Order(2_000_000, 0.1, 3, 128)
BEHIND_P420I = Order(2_000_000, 0.05, 1, 128)
WD_RAPTOR = Order(2_500_000, 0.05, 3, 512)

#: Fits all three best.
OLDER_SATA = Order(2_000_000, 0.05, 2, 128)
#: Few commands of drives since 2015 wait for much more than a quarter of a second: p99.9 of ten random reads is 250 to
#: 390 ms from 512 bytes to 1 MiB, though the mean grows from 33 to 140 ms, and random reads beside two streams wait 210
#: and 290 ms in the median. At half of it many random requests become overdue, at double few reads pass the streams.
LONGEST_WAIT_NS = 250_000_000
#: The margin of the drives above, 2 ms at an average seek of 8 to 9 ms, as a part of the seek: drives since 2015 order
#: a small part of the disk much better than that margin allows. That they wait for no newcomer, and hardly prefer what
#: has waited (like the two nearline SAS drives below), shows in the longest waits of two desktop drives of 2016 and
#: 2018: 5 and 8 times the mean at p99 and p99.9, ten reads outstanding (docs/explanation/validation/disks.md).
RECENT_SATA = Order(0, 0.01, 0, 128, 0.25, LONGEST_WAIT_NS)
#: As good as a server's disk of 2015 over 10 GiB, and more careful than any that was measured.
RECENT_SATA_TOO = (
    Order(0, 0.01, 0, 128, 0.0, LONGEST_WAIT_NS),
    Order(0, 0.01, 0, 128, 0.35, LONGEST_WAIT_NS),
)
#: Weighs few commands, and only their seeks: published of a 500 GB drive and an ST2000DM006 (`generic-7k2-desktop`).
DESKTOP_SATA = Order(scheduler="look", weighed=8)
#: What seven desktop drives do at depth 32 and more over a file of 1 GiB (tests/data/units/disks.toml): four read 200
#: to 210 blocks a second, as `DESKTOP_SATA` does (190), one 306, as older ones with `rpo` do (230 to 260), and two 430
#: and 460, as recent ones do (480).
DESKTOP_SATA_DRAWN = (*(DESKTOP_SATA,) * 4, OLDER_SATA, RECENT_SATA, RECENT_SATA)
#: From data sheets (no margin) and the latencies of one drive (age weight between 0.1 and 0.5).
NEARLINE = Order(0, 0.3, 1)

#: Fits two nearline SAS drives at depths 2 to 128 best (docs/explanation/validation-firmware.md), and age weights whose
#: misfit is at most a quarter larger.
NEARLINE_SAS = Order(0, 0.01, 0)
NEARLINE_SAS_TOO = (Order(0, 0.02, 0), Order(0, 0.05, 0))

#: By name, as `queue.assumed_from` of a profile gives it.
ASSUMED_ORDERS: dict[str, AssumedOrder] = {
    "older-sata": AssumedOrder(
        "like three SATA drives of 2004 to 2012, measured at depths 2 to 64",
        OLDER_SATA,
        (SAMSUNG_F1, BEHIND_P420I, WD_RAPTOR),
    ),
    "any-sata": AssumedOrder(
        "like three SATA drives of 2004 to 2012, measured at depths 2 to 64; recent nearline drives are faster",
        OLDER_SATA,
        (SAMSUNG_F1, BEHIND_P420I, WD_RAPTOR, NEARLINE),
    ),
    "recent-sata": AssumedOrder(
        "like three SATA drives of 2015 to 2018, measured at depths 5 to 120 over a small part of the disk",
        RECENT_SATA,
        (RECENT_SATA, *RECENT_SATA_TOO, NEARLINE),
    ),
    "desktop-sata": AssumedOrder(
        "like seven desktop drives, measured at depth 32 over 1 GiB: four weigh few commands, three order them better",
        DESKTOP_SATA,
        DESKTOP_SATA_DRAWN,
    ),
    "nearline": AssumedOrder(
        "like recent nearline drives: rates of data sheets at depth 16, latencies of one drive at depth 24",
        NEARLINE,
        (Order(0, 0.1, 1), Order(0, 0.5, 1), Order(0, 0.1, 3), Order(0, 0.5, 3)),
    ),
    "nearline-sas": AssumedOrder(
        "like two SAS drives of 7,200 rpm, measured at depths 2 to 128 behind a controller",
        NEARLINE_SAS,
        (NEARLINE_SAS, *NEARLINE_SAS_TOO),
    ),
    "sas": AssumedOrder(
        "from the rates of twelve SAS drives of 15,000 rpm and the latencies of three SATA drives",
        Order(0, 0.05, 2),
        (Order(0, 0.1, 3), Order(0, 0.05, 1), Order(0, 0.05, 3), NEARLINE),
    ),
}

#: `queue.assumed_from` of a drive of which only single requests were measured.
ONE_AT_A_TIME = "one-at-a-time"
#: All that `queue.assumed_from` may be.
ASSUMPTIONS: dict[str, AssumedOrder] = ASSUMED_ORDERS | {
    ONE_AT_A_TIME: AssumedOrder(
        "it takes one at a time, in the order in which they come to it, because its profile comes from single "
        "requests; a drive that chooses among several is faster",
        None,
        (),
    )
}
