"""Storage that people ask about and that is not modeled: why, and the nearest question that can be asked instead.

Messages of commands and the rows of docs/explanation/what-is-left-out.md come from this list. What becomes a model of
its own is taken out of it.
"""

from __future__ import annotations

import re
from functools import cached_property

from diskmodel.loading import dataclass


@dataclass(frozen=True)
class Signpost:
    """Storage that is not modeled.

    Attributes
    ----------
    title : str
        As the documentation names it.
    names : tuple of str
        What people write for it, in lower case. Upper and lower case are alike; for a space they may write a hyphen or
        nothing; a star stands for the rest of the word.
    why : str
        What of it the models lack, in a clause.
    nearest : str
        What can be asked instead, in a few words.
    command : str
        The question, as a command line that runs.
    """

    title: str
    names: tuple[str, ...]
    why: str
    nearest: str
    command: str

    @property
    def rule(self) -> str:
        """Return what is wrong with naming it, as a fault says it."""
        return f"is {self.title}, which is not modeled: {self.why}"

    @property
    def fix(self) -> str:
        """Return the nearest question with its command, as a fault says it."""
        return f"the nearest question is {self.nearest}: {self.command}"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        ways = (re.escape(name).replace(r"\ ", r"[\s_-]*").replace(r"\*", r"[\w-]*") for name in self.names)
        return re.compile(rf"(?<![\w./-])(?:{'|'.join(ways)})(?![\w/-]|\.\w)", re.IGNORECASE)

    def is_in(self, text: str) -> bool:
        """Return whether a text names it."""
        return self._pattern.search(text) is not None


_COPIES = (
    "copies on such drives by no software at all, which is the most that they do",
    'diskmodel simulate "replicated 4 nodes, 2x micron-7450-pro-1920 each, replica 2, 25GbE" '
    "--queue-depth 32 --reads 70% --block 8k",
)
_PAIR = (
    "such a pair by no software at all, which is the most that it does",
    'diskmodel simulate "mirrored 2 nodes, 2x micron-7450-pro-1920 each, 25GbE" '
    "--queue-depth 32 --reads 70% --block 8k",
)
_SPACES = (
    "a mirror or a simple space of the same disks",
    'diskmodel capacity "8x generic-7k2 storage spaces mirror" --reads 70% --block 8k',
)
_TWO_PARITIES = (
    "the same disks in RAID 6",
    'diskmodel capacity "12x seagate-exos-x18 raid6" --reads 70% --block 8k',
)
_MIXED_BAY = (
    "disks of one size in RAID 5",
    'diskmodel capacity "5x wd-red-wd40efrx raid5" --reads 70% --block 8k',
)
_ONE_DISK = (
    "the disk that holds the file, on its own",
    'diskmodel capacity "1x generic-7k2" --reads 70% --block 8k',
)
_MISSES = (
    "the disks behind it with the requests that miss the cache, here a fifth of 1,500/s",
    'diskmodel simulate "12x seagate-exos-x18 raid6" --iops 300 --reads 70% --block 8k',
)
_POOL = (
    "the pool without it",
    'diskmodel capacity "2x6 seagate-exos-x18 raidz2" --reads 100% --block 8k',
)
_FLASH = (
    "the drives of the same number and kind behind one server",
    'diskmodel capacity "8x micron-7450-pro-1920 raid6" --reads 70% --block 8k',
)

#: All of them; the first that a text names is meant, so that the longer of two names stands first.
SIGNPOSTS = (
    Signpost(
        "CephFS and the gateways of Ceph",
        ("cephfs*", "rgw*", "rados gateway*"),
        "files have metadata servers, and objects gateways with indexes",
        "a volume (RBD) on the same cluster",
        'diskmodel simulate "ceph 3 nodes, 2x samsung-pm983-1920 each, replica 3" --queue-depth 1 --reads 0 --block 4k',
    ),
    Signpost(
        "VMware vSAN ESA",
        ("vsan esa", "vsan express*"),
        "it logs writes to several hosts over a network and rewrites them in whole stripes later",
        *_COPIES,
    ),
    Signpost(
        "VMware vSAN",
        ("vsan*", "virtual san"),
        "a cache of each disk group takes part of the load, and nobody publishes what its software takes",
        *_COPIES,
    ),
    Signpost(
        "Storage Spaces Direct",
        ("storage spaces direct", "s2d", "azure local", "azure stack hci"),
        "flash caches the disks of each server, and nobody publishes what its software takes",
        *_COPIES,
    ),
    Signpost(
        "Windows Storage Spaces",
        ("storage spaces*", "storage space", "storagespaces*"),
        "its parity rows are as wide as its columns, and small writes go through a cache and a journal of its own",
        *_SPACES,
    ),
    Signpost(
        "StarWind Virtual SAN",
        ("starwind*",),
        "a cache in memory answers, and nobody publishes what its software takes",
        *_PAIR,
    ),
    Signpost(
        "GlusterFS",
        ("gluster*",),
        "clients write copies or fragments of files, with metadata, to file systems of several servers",
        *_COPIES,
    ),
    Signpost(
        "Lustre and BeeGFS",
        ("lustre*", "beegfs*", "gpfs", "spectrum scale"),
        "files are striped over servers, and metadata has servers of its own",
        "the disks of one storage target",
        'diskmodel capacity "10x seagate-exos-x18 raid6" --sequential --reads 0% --block 1M',
    ),
    Signpost(
        "MinIO and other object stores",
        ("minio*", "swift", "object store*", "s3"),
        "objects, and not blocks, go to file systems of their own on every drive, in several servers",
        "what uploads make each drive of a set do, without the network",
        'diskmodel simulate "12x seagate-exos-x18, erasure 8+4" --uploads 15/s --block 500k',
    ),
    Signpost(
        "HDFS",
        ("hdfs", "hadoop*"),
        "blocks of files have copies in other servers, written over a network",
        "one of its disks, each of which is used alone",
        'diskmodel capacity "1x seagate-exos-x18" --sequential --reads 100% --block 1M',
    ),
    Signpost(
        "hyperconverged storage of other makers",
        ("nutanix*", "simplivity*", "vxrail*", "longhorn*", "openebs*", "mayastor*", "portworx*"),
        "a write waits for copies in other servers, and what the software takes was not measured here",
        *_COPIES,
    ),
    Signpost(
        "a cloud volume of another type",
        (
            "aws io1*",
            "io1*",
            "pd standard",
            "pd extreme",
            "hyperdisk*",
            "azure standard*",
            "azure ultra*",
            "premium ssd*",
        ),
        "of this type no limits are in the catalogue",
        "a volume of another type with its limits",
        'diskmodel simulate "1x aws-gp3, 6000 IOPS, 500MB/s" --iops 3000 --reads 70% --block 16k',
    ),
    Signpost(
        "a cache on SSDs by a controller or a program that is not modeled",
        (
            "cachecade*",
            "flashcache",
            "enhanceio",
            "ssd cache",
            "maxcache",
            "smart cache",
            "smartcache",
        ),
        "what it keeps and when it writes back is not published, or differs from what is modeled",
        "the same drives as a cache of bcache",
        'diskmodel simulate "12x seagate-exos-x18 raid6, cached by 2x micron-7450-pro-1920 raid1 (bcache writeback)" '
        "--iops 300 --reads 70% --block 8k --span 500GB",
    ),
    Signpost(
        "automatic tiering",
        ("tiering", "tiered", "auto tier*", "autotier*", "fast vp", "qtier", "easy tier"),
        "what moves to the fast tier and when is a maker's own rule",
        *_MISSES,
    ),
    Signpost(
        "NetApp ONTAP",
        ("netapp*", "ontap*", "raid dp", "raid tec", "wafl"),
        "WAFL writes new data in whole stripes from battery-backed memory, as no RAID level does",
        *_TWO_PARITIES,
    ),
    Signpost(
        "an array of a maker, with software of its own",
        (
            "powerstore*",
            "nimble*",
            "3par*",
            "purestorage*",
            "pure storage*",
            "flasharray*",
            "powervault*",
            "unity xt",
            "compellent*",
            "equallogic*",
            "hitachi vsp*",
            "msa 2*",
            "alletra*",
            "storwize*",
        ),
        "how it caches, reduces and places data is not published",
        *_FLASH,
    ),
    Signpost(
        "deduplication",
        ("dedup*", "vdo"),
        "each write looks up a table of blocks, which is read from the disks where memory cannot hold it",
        *_POOL,
    ),
    Signpost(
        "a white-label drive",
        ("hat3*", "hat5*", "wd80emaz", "wd100emaz", "wd120emfz", "wd140edfz", "white label*", "wd white*"),
        "its seller says neither who makes it nor what its maker's sheet prints, and sells others under the same name",
        "its class, or the drive that `smartctl -i` names",
        'diskmodel capacity "4x generic-7k2-2015 raid5" --reads 70% --block 8k',
    ),
    Signpost(
        "Synology Hybrid RAID",
        ("shr*", "synology hybrid*", "synology raid f1", "raid f1"),
        "it joins several RAID groups over disks of different sizes",
        *_MIXED_BAY,
    ),
    Signpost(
        "a layout of a NAS for disks of different sizes",
        ("x raid*", "xraid*", "beyondraid", "drobo*", "raid x"),
        "it joins several RAID groups over disks of different sizes",
        *_MIXED_BAY,
    ),
    Signpost(
        "unraid or SnapRAID",
        ("unraid*", "snapraid*", "mergerfs"),
        "each file is on one disk, so that one disk does the work and a write updates parity disks beside it",
        *_ONE_DISK,
    ),
    Signpost(
        "Btrfs RAID or bcachefs",
        ("btrfs*", "bcachefs*", "raid1c3", "raid1c4"),
        "it copies on write and places each chunk on disks of its own choice",
        "the same disks in RAID 10",
        'diskmodel capacity "8x generic-7k2 raid10" --reads 70% --block 8k',
    ),
    Signpost(
        "a file system",
        ("ext4", "xfs", "ntfs", "refs", "vmfs*", "zonefs", "f2fs"),
        "an array has none; only the journal that a commit waits for is (`file_system` of a stream)",
        "the array under it, with what reaches it",
        'diskmodel capacity "8x generic-7k2 raid10" --reads 70% --block 8k',
    ),
    Signpost(
        "a share or a LUN behind a network",
        ("iscsi*", "nfs*", "smb", "cifs", "nvme of", "nvmeof", "fibre channel"),
        "the round trip and the rate of a network are not modeled",
        "the disks behind it",
        'diskmodel capacity "12x seagate-exos-x18 raid6" --reads 70% --block 8k',
    ),
    Signpost(
        "tape",
        ("tape", "lto*", "vtl"),
        "nothing with a tape's positioning is modeled",
        "the disks that stage its data",
        'diskmodel capacity "12x seagate-exos-x18 raid6" --sequential --reads 0% --block 1M',
    ),
)


@dataclass(frozen=True)
class Elsewhere(Signpost):
    """What is modeled, and asked in other words than where it was written."""

    @property
    def rule(self) -> str:
        """Return what is wrong with naming it there."""
        return f"is {self.title}, {self.why}"

    @property
    def fix(self) -> str:
        """Return how it is asked."""
        return f"{self.nearest}: {self.command}"


#: What is modeled and is no RAID level, nor a drive by name.
ELSEWHERE = (
    Elsewhere(
        "a pool of a Ceph cluster",
        ("ceph*", "rbd", "rook*", "proxmox*", "bluestore"),
        "an array of its own, whose words begin with it",
        "write nodes, drives and copies",
        'diskmodel capacity "ceph 6 nodes, 2x samsung-pm983-1920 each, replica 3"',
    ),
    Elsewhere(
        "a volume that DRBD or Vitastor keeps on several nodes",
        ("drbd*", "linstor*", "vitastor*"),
        "an array of its own, whose words begin with it",
        "write nodes, drives and copies",
        'diskmodel simulate "drbd 2 nodes, 1x micron-7450-pro-1920 each, 25GbE" --queue-depth 4 --reads 70% --block 8k',
    ),
    Elsewhere(
        "a cache on SSDs before an array",
        ("bcache", "lvmcache", "lvm cache", "dm cache", "dmcache", "writecache", "open cas", "opencas", "cached by"),
        'which stands behind the array, after "cached by"',
        "name the drives of the cache, and the program in brackets",
        'diskmodel simulate "12x seagate-exos-x18 raid6, cached by 2x micron-7450-pro-1920 raid1 (bcache writeback)" '
        "--iops 300 --reads 70% --block 8k --span 500GB",
    ),
)


def signpost(text: object) -> Signpost | None:
    """Return the signpost for what a text names; None where it names nothing of that kind.

    What is modeled, but written elsewhere, has one as well.

    Examples
    --------
    >>> found = signpost("8x generic-7k2 SHR-2")
    >>> found.title if found else ""
    'Synology Hybrid RAID'
    >>> signpost("8x generic-7k2 raid6") is None
    True
    """
    if not isinstance(text, str) or len(text) > 1000:
        return None
    return next((post for post in (*SIGNPOSTS, *ELSEWHERE) if post.is_in(text)), None)


def rows() -> str:
    """Return the rows of the table in docs/explanation/what-is-left-out.md."""
    lines = [
        f"| {post.title} (`{'`, `'.join(_shown(post))}`) | {post.why} | {post.nearest}: `{post.command}` |"
        for post in SIGNPOSTS
    ]
    return "\n".join(lines) + "\n"


def _shown(post: Signpost) -> list[str]:
    return [name.rstrip("*").strip() for name in post.names[:3]]
