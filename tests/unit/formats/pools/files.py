"""Outputs of zpool status and arcstats, as OpenZFS prints them, from a few words."""

from __future__ import annotations

HEADER = "\tNAME        STATE     READ WRITE CKSUM\n"


def row(depth: int, name: str, state: str = "ONLINE", more: str = "") -> str:
    """Return a line of the devices."""
    return f"\t{'  ' * depth}{name + ' ':<{20 - 2 * depth}}{state:<9}    0     0     0{more}\n"


def vdev(kind: str, *disks: str, state: str = "ONLINE") -> str:
    """Return a vdev with its disks, "sda" or "sda OFFLINE"."""
    own = [disk.partition(" ") for disk in disks]
    return row(1, kind, state) + "".join(row(2, name, word or "ONLINE") for name, _, word in own)


def status(
    devices: str, *, name: str = "tank", state: str = "ONLINE", scan: str = "none requested", after: str = ""
) -> str:
    """Return the output for one pool."""
    return (
        f"  pool: {name}\n state: {state}\n  scan: {scan}\nconfig:\n\n{HEADER}{row(0, name, state)}{devices}\n"
        f"errors: No known data errors\n{after}"
    )


TWO_RAIDZ2 = vdev("raidz2-0", *(f"sd{x}" for x in "abcdef")) + vdev("raidz2-1", *(f"sd{x}" for x in "ghijkl"))
OTHERS = (
    "\tlogs\t\n" + vdev("mirror-2", "nvme0n1p1", "nvme1n1p1") + "\tcache\n" + row(1, "nvme0n1p2") + "\tspares\n"
    "\t  sdm       AVAIL   \n"
)
STATUS = status(
    TWO_RAIDZ2 + OTHERS, scan="scrub repaired 0B in 07:30:00 with 0 errors on Sun Nov  8 07:55:06 2026", after=""
)
RESILVER = status(
    row(1, "raidz1-0", "DEGRADED")
    + row(2, "sda")
    + row(2, "replacing-1", "DEGRADED")
    + row(3, "4711", "UNAVAIL", "  was /dev/sdb1")
    + row(3, "sde", more="  (resilvering)")
    + row(2, "sdc")
    + row(2, "sdd"),
    name="vault",
    state="DEGRADED",
    scan=(
        "resilver in progress since Thu Nov 26 19:53:32 2026\n\t11.0T / 40.0T scanned at 2.78G/s, 4.00T / 40.0T issued "
        "at 290M/s\n\t341G resilvered, 10.00% done, 1 days 12:00:00 to go"
    ),
)

#: The scan of a pool of dRAID whose disk sdc is resilvered onto a distributed spare, in the words of OpenZFS 2.0.
SEQUENTIAL = (
    "resilver (draid2:4d:11c:1s-0) in progress since Tue Nov 24 14:34:25 2026\n\t35.1T scanned at 13.4G/s, 15.9T "
    "issued 6.07G/s, 60T total\n\t1.26T resilvered, 25.00% done, 10:30:00 to go"
)


def draid(spare: str = "  (resilvering)", *, beside: str = "", scan: str = SEQUENTIAL, vdevs: int = 1) -> str:
    """Return a pool of vdevs of dRAID; sdc of the first one is lost, and its distributed spare in use."""
    devices = row(1, "draid2:4d:11c:1s-0", "DEGRADED")
    for letter in "abcdefghijk":
        if letter != "c":
            devices += row(2, f"sd{letter}", more="  (resilvering)" if "resilver (" in scan else "")
            continue
        devices += row(2, "replacing-2" if beside else "spare-2", "DEGRADED")
        depth = 4 if beside else 3
        devices += row(3, "spare-0", "DEGRADED") if beside else ""
        devices += row(depth, "sdc", "OFFLINE") + row(depth, "draid2-0-0", more=spare)
        devices += row(3, beside, more="  (resilvering)") if beside else ""
    for number in range(1, vdevs):
        devices += vdev(f"draid2:4d:11c:1s-{number}", *(f"d{number}{letter}" for letter in "abcdefghijk"))
    devices += "\tspares\n" + row(1, "draid2-0-0", "INUSE", "  currently in use")
    devices += "".join(row(1, f"draid2-{number}-0", "AVAIL") for number in range(1, vdevs))
    return status(devices, state="DEGRADED", scan=scan)


def arcstats(*, hits: int = 900, io_hits: int | None = 0, misses: int = 100, **others: int) -> str:
    """Return a snapshot of Linux; the counts are of what programs read of data."""
    counters = {
        "hits": hits + 50,
        "misses": misses + 10,
        "demand_data_hits": hits,
        **({} if io_hits is None else {"demand_data_iohits": io_hits}),
        "demand_data_misses": misses,
        "demand_metadata_hits": 50,
        "demand_metadata_misses": 0,
        "prefetch_data_hits": 0,
        "prefetch_data_misses": 10,
        "c": 64 << 30,
        "c_max": 64 << 30,
        "size": 62 << 30,
        **others,
        "memory_available_bytes": -(16 << 30),
    }
    lines = [f"{name:<31} {3 if value < 0 else 4}    {value}" for name, value in counters.items()]
    return "\n".join(["13 1 0x01 147 39984 4444 55555", f"{'name':<31} type data", *lines]) + "\n"
