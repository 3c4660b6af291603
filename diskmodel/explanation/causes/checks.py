"""What decides about a cause: a command for the array at hand, what it shows, and whether it is safe in use.

Most only read settings. One that adds load, traces a program, changes something or writes says so where it is printed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from diskmodel.array import Array
from diskmodel.drive import KINDS
from diskmodel.loading import dataclass

#: What a command does to a system that is in use.
READS = "only reads, safe in use"
LOADS = "adds load: slows what is in use"
TRACES = "slows the traced program while it runs"
CHANGES = "CHANGES the system: not while it is in use"
WRITES = "WRITES: only to a device or file without data"
LOOKS = ""


@dataclass(frozen=True)
class Check:
    """One check.

    Attributes
    ----------
    command : str
        With names to replace in capitals: /dev/sdX, PID, POOL.
    shows : str
        What to look for.
    effect : str
        One of the effects above.
    of : str
        Of which arrays: "pool", "controller", "nvme", "flash"; "" of all others.
    """

    command: str
    shows: str = ""
    effect: str = READS
    of: str = ""

    def __str__(self) -> str:
        said = "; ".join(filter(None, (self.shows, self.effect)))
        return f"{self.command} ({said})" if said else self.command


def is_nvme(array: Array) -> bool:
    """Whether its drives have PCIe links."""
    return "PCI" in array.drive.bus or "NVMe" in array.drive.bus


def _kinds(array: Array) -> tuple[str, ...]:
    """Return what an array is, the most particular first."""
    found = []
    if not array.layout.has_strips:
        found.append("pool")
    if array.controller.has_real_cache or array.is_hardware:
        found.append("controller")
    if is_nvme(array):
        found.append("nvme")
    return (*found, "")


def check_of(cause: str, array: Array) -> str:
    """Return the check that decides about a cause in an array, in words."""
    checks = CHECKS[cause]
    own = next((one for kind in _kinds(array) for one in checks if one.of == kind), checks[-1])
    return str(own)


_MDSTAT = "cat /proc/mdstat"
_ZPOOL = "zpool status POOL"
_CACHE = "whether the drive's write cache is on"
_DRIVE_CACHE = (
    Check("hdparm -W /dev/sdX", f"{_CACHE}; SAS: sdparm --get=WCE /dev/sdX"),
    Check("nvme get-feature /dev/nvmeX -f 6", f"{_CACHE}", of="nvme"),
    Check("storcli /c0/vall show all", "Disk Cache Policy", of="controller"),
)
_ALONE = "the same job with nothing else running"
_OPEN = "grep flags /proc/PID/fdinfo/*"

#: By cause; the last one where no other fits.
CHECKS: Mapping[str, Sequence[Check]] = {
    "drive-write-cache-off": _DRIVE_CACHE,
    "drive-write-cache-on": _DRIVE_CACHE,
    "ncq-off": (
        Check("cat /sys/block/nvmeXn1/queue/nr_requests", "1 or 2: queues are off", of="nvme"),
        Check("cat /sys/block/sdX/device/queue_depth", "1: command queuing is off"),
    ),
    "look-ahead-off": (Check("hdparm -A /dev/sdX", "look-ahead"),),
    "emulated-sectors": (Check("cat /sys/block/sdX/queue/physical_block_size; parted /dev/sdX align-check opt 1"),),
    "shingled": (
        Check("smartctl -i /dev/sdX", "the model, and in its sheet SMR; or the same job after an idle hour: faster"),
    ),
    "vibration": (Check("smartctl -x /dev/sdX", "read errors, reallocated and pending sectors; and those of others"),),
    "long-retries": (
        Check("smartctl -x /dev/sdX", "pending and reallocated sectors, error log; and journalctl -k for its name"),
    ),
    "thermal-throttling": (
        Check("nvme smart-log /dev/nvmeX", "temperature, thermal management times", of="nvme"),
        Check("smartctl -x /dev/sdX", "temperature now and its highest"),
    ),
    "flash-fresh": (
        Check("smartctl -x /dev/sdX", "data written so far: less than the capacity means fresh"),
        Check("smartctl -x /dev/nvmeX", "Data Units Written: less than the capacity means fresh", of="nvme"),
    ),
    "flash-full": (
        Check("nvme list", "Usage; after space was freed, fstrim of one file system at a quiet time", of="nvme"),
        Check("df -h; lsblk -D", "space in use; whether discards arrive: DISC-MAX is not 0"),
    ),
    "slc-exhausted": (Check("iostat -xm 5", "wMB/s falls after some GB and recovers after a pause of minutes"),),
    "slow-flushes": (Check("smartctl -i /dev/sdX", "the model, and in its sheet power-loss protection"),),
    "other-medium": (
        Check("cat /sys/block/sdX/queue/rotational; smartctl -i /dev/sdX", "on the host that has the drives"),
    ),
    "slow-sata-link": (Check("smartctl -i /dev/sdX", "SATA Version is: … (current: …)"),),
    "pcie-link": (
        Check(
            "cat /sys/class/nvme/nvmeX/device/current_link_{width,speed}",
            "fewer lanes or a lower speed than max_link_* beside them",
        ),
    ),
    "member-failed": (
        Check(_MDSTAT, "[UU_U]: a member is missing"),
        Check(_ZPOOL, "DEGRADED, FAULTED", of="pool"),
        Check("storcli /c0/vall show", "Dgrd", of="controller"),
    ),
    "rebuild-running": (
        Check(_MDSTAT, "recovery = …%"),
        Check("storcli /c0/eall/sall show rebuild", of="controller"),
    ),
    "resync-running": (
        Check(_MDSTAT, "check or resync = …%"),
        Check("storcli /c0 show patrolread; storcli /c0/vall show cc", of="controller"),
    ),
    "scrub-running": (Check(_ZPOOL, "scan: scrub in progress"),),
    "resilver-running": (Check(_ZPOOL, "scan: resilver in progress"),),
    "write-intent-bitmap": (Check(_MDSTAT, "a line with bitmap:"),),
    "one-slow-disk": (
        Check("iostat -x 5 3", "one disk with a longer r_await or w_await; its recording of all members names it here"),
        Check("zpool iostat -vly POOL 5 3", "one disk with longer disk_wait", of="pool"),
    ),
    "one-disk-retries": (
        Check("smartctl -x /dev/sdX", "of each: pending and reallocated sectors, error log; and dmesg"),
    ),
    "one-disk-works": (Check("iostat -x 5 3; lvs --segments", "one disk busy, the others idle"),),
    "other-strip": (
        Check("mdadm --detail /dev/mdX", "Chunk Size"),
        Check("storcli /c0/vall show all", "Strip Size", of="controller"),
    ),
    "controller-write-through": (Check("storcli /c0/vall show; storcli /c0/cv show", "WT instead of WB; battery"),),
    "controller-queue-shared": (
        Check("iostat -x 5 3", "other volumes of the controller are busy at the same time; then the same job alone"),
    ),
    "pool-record": (
        Check("zfs get recordsize,volblocksize DATASET", "files written before a change keep the old one"),
    ),
    "raidz-width": (Check(_ZPOOL, "disks below each raidz line"),),
    "rate-limit": (
        Check("cat /sys/fs/cgroup/*/io.max; virsh blkdeviotune DOMAIN DEVICE", "limits; else the page of the provider"),
    ),
    "token-bucket": (
        Check("cat /sys/fs/cgroup/*/io.max; virsh blkdeviotune DOMAIN DEVICE", "limits; else the page of the provider"),
    ),
    "bandwidth-limit": (
        Check("cat /sys/fs/cgroup/*/io.max", "limits; or the same job with half the block size: twice the rate"),
    ),
    "slow-network": (Check("ethtool ethX; lsusb -t", "Speed"),),
    "added-latency": (
        Check("ping -c 20 STORAGE-HOST", "its time; or the job with --iodepth=1 on the array's own host"),
    ),
    "few-at-once": (Check("iostat -x 5 3", "aqu-sz; or the same job with --direct=1"),),
    "host-processor": (Check("mpstat -P ALL 5 3", "one processor at 100 %; more jobs are faster"),),
    "md-lock": (Check("top -H -b -n 1", "mdX_raid5 at 100 %; and cat /sys/block/mdX/md/group_thread_cnt"),),
    "cache-hits": (
        Check(
            "fio with --direct=1 on a file four times as large as all memory, written before",
            "reads then take what the disks take",
            LOADS,
        ),
    ),
    "elevator": (Check("cat /sys/block/sdX/queue/scheduler"),),
    "flushes": (
        Check(
            f"iostat -x 5 3; {_OPEN}",
            "f/s; octal flags of open files: 010000 is O_DSYNC, 04010000 O_SYNC; and mount for sync",
        ),
    ),
    "journal-commits": (Check("filefrag -v FILE before and after", "the file grows with each write"),),
    "depth-lost": (Check("iostat -x 5 3", "aqu-sz below what was asked for; fio's own line IO depths"),),
    "other-load": (Check("iostat -x 5 3; iotop -o -b -n 3", "before the job starts: what else reads and writes"),),
    "larger-records": (
        Check("iostat -x 5 3; blockdev --getra /dev/sdX", "rareq-sz, wareq-sz larger than what was asked for"),
    ),
    "runs": (Check("iostat -x 5 3", "rrqm/s and wrqm/s above 0; fio's job file: rw=randread, norandommap"),),
    "few-blocks": (Check("ls -l FILE; lsblk -b /dev/sdX", "how much of the disk the job goes over"),),
    "fragmented": (Check("filefrag FILE", "thousands of extents"),),
    "thin-unmapped": (Check("lvs -a -o+data_percent,chunk_size", "Data% near 100, or an area that was never written"),),
    "several-readers": (Check("iotop -o -b -n 3", "more than one program that reads"),),
    "inner-tracks": (Check("lsblk -o NAME,START,SIZE", "a partition near the end of the disk"),),
    "misaligned": (Check("lsblk -o NAME,START,ALIGNMENT; parted /dev/sdX align-check opt 1"),),
    "instance-limit": (
        Check(
            "aws cloudwatch get-metric-statistics --namespace AWS/EC2 --metric-name InstanceEBSIOPSExceededCheck …",
            "1 where it was exceeded; else the provider's table of instances beside the sum of all volumes",
        ),
    ),
    **{one.name: (Check(one.command, one.shows),) for drive in KINDS.values() for one in drive.troubles},
}
