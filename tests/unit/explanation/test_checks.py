"""What decides about a cause: that it fits the array, says what it does, and works where it can be tried."""

import re
import shutil
import subprocess

import pytest

from diskmodel.array import Array
from diskmodel.explanation.causes import CAUSES
from diskmodel.explanation.causes.checks import CHANGES, CHECKS, LOADS, READS, TRACES, WRITES, check_of

ARRAYS = {
    "md": Array.from_words("8x generic-7k2 raid6"),
    "pool": Array.from_words("2x6 seagate-exos-x18 raidz2"),
    "controller": Array.from_words("8x generic-15k raid5, 1GiB cache"),
    "sata": Array.from_words("samsung-pm893-960"),
    "nvme": Array.from_words("samsung-pm9a3-7680"),
}
#: Commands that write, load or change something wherever they stand.
UNSAFE = re.compile(r"fstrim|\bdd\b|randwrite|--rw=|mkfs|discard|blkdiscard|hdparm -W[01]|zpool scrub|nvme format")


def test_every_cause_has_checks_and_no_other() -> None:
    assert set(CHECKS) == set(CAUSES)


@pytest.mark.parametrize("name", CAUSES)
def test_a_check_says_what_it_does(name: str) -> None:
    for one in CHECKS[name]:
        assert one.effect in (READS, LOADS, TRACES, CHANGES, WRITES)
        assert one.effect in str(one)
        if one.effect == READS:
            assert not UNSAFE.search(one.command)


@pytest.mark.parametrize("kind", ARRAYS)
def test_a_check_fits_its_array(kind: str) -> None:
    said = {name: check_of(name, ARRAYS[kind]) for name in CAUSES}
    if kind == "pool":
        for name in ("member-failed", "scrub-running", "resilver-running"):
            assert said[name].startswith("zpool status")
        assert not [name for name in ("member-failed", "one-slow-disk") if "mdstat" in said[name]]
    if kind == "sata":
        assert not [
            name for name in ("thermal-throttling", "flash-full", "drive-write-cache-off") if "nvme" in said[name]
        ]
    if kind == "nvme":
        assert said["thermal-throttling"].startswith("nvme smart-log")
        assert not said["drive-write-cache-off"].startswith("hdparm")
    if kind == "controller":
        assert said["member-failed"].startswith("storcli")
    if kind == "md":
        assert said["member-failed"].startswith("cat /proc/mdstat")


def test_flags_of_open_files_are_seen_without_a_trace() -> None:
    """A trace of open calls shows no file that is open already: the kernel says what its flags are."""
    assert "strace" not in check_of("flushes", ARRAYS["md"])
    text = subprocess.run("cat /proc/self/fdinfo/*", shell=True, capture_output=True, text=True, check=False).stdout
    assert re.search(r"^flags:\s+0\d+$", text, re.MULTILINE)


#: Programs that answer without the hardware they ask for, and what of a command is tried: a disk in its place.
_TRIED = ("cat", "df", "lsblk", "mount", "top", "ls")


def test_commands_that_only_read_run() -> None:
    """Those of programs that are here: usage errors would show, a missing disk does not."""
    n_tried = 0
    for name, checks in CHECKS.items():
        for one in checks:
            for command in one.command.split("; "):
                program = command.split()[0]
                if one.effect != READS or program not in _TRIED or not shutil.which(program):
                    continue
                filled = command.replace("FILE", "/etc/hostname").replace("PID", "self")
                done = subprocess.run(filled, shell=True, capture_output=True, text=True, timeout=10, check=False)
                wrong = ("invalid option", "unrecognized option", "unknown column", "usage:")
                assert not any(word in done.stderr.lower() for word in wrong), (name, filled, done.stderr)
                n_tried += 1
    assert n_tried >= 10
