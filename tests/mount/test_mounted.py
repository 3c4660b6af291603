"""A mounted virtual drive keeps data, keeps to its borders, and leaves nothing behind, however it ends."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskmodel.array import Array
from diskmodel.mount import Served, Stopper, serve
from tests.mount.mounting import Mount, is_mounted, mounted, need_fuse, soon
from tests.unit.cli.commands import refusal, write

SIZE = 8 << 20
#: A hundred times as fast as the described drive, where only the data matter.
FAST = ("--time-scale", "0.01")
DRIVE = """
kind = "hdd"
name = "small"
source = "made up"
capacity = "2 GB"
rpm = 10000
heads = 2
outer = "50 MB/s"
inner = "30 MB/s"
read_overhead = "100 us"
write_overhead = "100 us"
interface = "100 MB/s"
[seek]
track_to_track = "0.5 ms"
average = "5 ms"
full_stroke = "10 ms"
"""


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("drive") / "small.toml", DRIVE)


@pytest.fixture(scope="module", params=["sparse-file", "memory"])
def fast(request: pytest.FixtureRequest, drive: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    with mounted(drive, tmp_path_factory.mktemp("m"), "--data", request.param, "--size", f"{SIZE} B", *FAST) as mount:
        yield mount


def test_it_looks_like_a_file_of_that_size(fast: Mount) -> None:
    assert [path.name for path in fast.directory.iterdir()] == ["disk"]
    status = fast.file.stat()
    assert (status.st_size, status.st_uid) == (SIZE, os.getuid())
    assert os.statvfs(fast.directory).f_blocks * 4096 == SIZE
    assert not (fast.directory / "other").exists()
    with pytest.raises(OSError, match=r"[Nn]ot implemented|[Pp]ermission"):
        (fast.directory / "other").write_text("x")


def test_what_was_written_is_read_back(fast: Mount) -> None:
    """Any offset, any length, against a copy in memory."""
    dice = random.Random(5)
    copy = bytearray(SIZE)
    with fast.file.open("r+b", buffering=0) as file:
        os.pwrite(file.fileno(), bytes(SIZE), 0)
        for _ in range(150):
            offset = dice.randrange(SIZE)
            length = min(dice.choice([1, 511, 512, 4096, 5000, 65536, 300_000]), SIZE - offset)
            if dice.random() < 0.5:
                data = dice.randbytes(length)
                assert os.pwrite(file.fileno(), data, offset) == length
                copy[offset : offset + length] = data
            else:
                assert os.pread(file.fileno(), length, offset) == copy[offset : offset + length]
        # more than the kernel sends in one piece
        assert os.pread(file.fileno(), SIZE, 0) == bytes(copy)


def test_the_end_is_the_end(fast: Mount) -> None:
    with fast.file.open("r+b", buffering=0) as file:
        fd = file.fileno()
        os.pwrite(fd, b"abc", SIZE - 3)
        assert os.pread(fd, 100, SIZE - 3) == b"abc"
        assert os.pread(fd, 100, SIZE) == b""
        assert os.pread(fd, 100, SIZE + 10**6) == b""
        assert os.pwrite(fd, b"abcdef", SIZE - 2) == 2
        with pytest.raises(OSError, match="No space left"):
            os.pwrite(fd, b"x", SIZE)
        with pytest.raises(PermissionError):
            os.ftruncate(fd, 100)
    with fast.file.open("wb"):  # as for a device: what is there stays
        pass
    assert fast.file.stat().st_size == SIZE
    with fast.file.open("rb", buffering=0) as file:
        assert os.pread(file.fileno(), 2, SIZE - 2) == b"ab"


def test_many_writers_at_once(fast: Mount) -> None:
    block = 4096

    def fill(part: int) -> None:
        with fast.file.open("r+b", buffering=0) as file:
            for i in range(part, 160, 8):
                os.pwrite(file.fileno(), bytes([i]) * block, i * block)

    threads = [threading.Thread(target=fill, args=(part,)) for part in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with fast.file.open("rb", buffering=0) as file:
        for i in range(160):
            assert os.pread(file.fileno(), block, i * block) == bytes([i]) * block


def test_nothing_is_kept_if_so_asked(drive: Path, tmp_path: Path) -> None:
    with mounted(drive, tmp_path / "m", "--data", "zero", *FAST) as mount:
        with mount.file.open("r+b", buffering=0) as file:
            assert os.pwrite(file.fileno(), b"x" * 4096, 4096) == 4096
            assert os.pread(file.fileno(), 4096, 4096) == bytes(4096)
        mount.end()
        assert (mount.statistics["n_reads"], mount.statistics["n_writes"]) == (1, 1)
        assert mount.statistics["read_bytes"] == mount.statistics["write_bytes"] == 4096


def test_a_flush_waits_for_the_platter(tmp_path: Path) -> None:
    """Ten writes go into the drive's cache at once; with a flush after each they take a revolution each."""
    cached = write(tmp_path / "cached.toml", DRIVE + '[cache]\nsize = "8 MB"\nwrite_back = true\n')
    with mounted(cached, tmp_path / "m", "--data", "memory") as mount, mount.file.open("r+b", buffering=0) as file:
        took = {}
        durable = os.open(mount.file, os.O_RDWR | os.O_DSYNC)
        for how, fd in (("cached", file.fileno()), ("flushed", file.fileno()), ("durable", durable)):
            os.fsync(file.fileno())
            begin = time.monotonic()
            for _ in range(10):
                os.pwrite(fd, b"x" * 4096, 0)
                if how == "flushed":
                    os.fsync(fd)
            took[how] = time.monotonic() - begin
        os.close(durable)
        assert took["cached"] < 0.03
        assert took["flushed"] > 9 * 0.006
        assert took["durable"] > 9 * 0.006
    assert mount.statistics["n_flushes"] == 13


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_unmounts(drive: Path, tmp_path: Path, signum: int) -> None:
    with mounted(drive, tmp_path / "m", "--data", "memory") as mount:
        assert is_mounted(mount.directory)
        with mount.file.open("rb", buffering=0) as file:
            os.pread(file.fileno(), 4096, 0)
            mount.end(signum)
    assert (mount.status, mount.statistics["n_reads"], mount.statistics["is_unmounted"]) == (0, 1, False)
    assert not is_mounted(mount.directory)
    assert list(mount.directory.iterdir()) == []


def test_killed_it_is_unmounted_by_its_watcher(drive: Path, tmp_path: Path) -> None:
    with mounted(drive, tmp_path / "m", "--data", "memory") as mount:
        with mount.file.open("rb", buffering=0) as file:
            mount.process.kill()
            mount.process.wait()
            with pytest.raises(OSError, match=r"not connected|aborted"):
                os.pread(file.fileno(), 4096, 0)
        assert soon(lambda: not is_mounted(mount.directory))
        assert list(mount.directory.iterdir()) == []


def test_an_unmount_by_another_program_stops_it(drive: Path, tmp_path: Path) -> None:
    with mounted(drive, tmp_path / "m", "--data", "memory") as mount:
        subprocess.run(["umount", str(mount.directory)], check=True)
        out, _ = mount.process.communicate(timeout=20)
        assert mount.process.returncode == 0
        assert '"is_unmounted": true' in out


def test_a_second_mount_is_refused_and_the_first_goes_on(drive: Path, tmp_path: Path) -> None:
    with mounted(drive, tmp_path / "m", "--data", "memory") as mount:
        assert "already a mount point" in refusal("mount", drive, mount.directory)
        with mount.file.open("rb", buffering=0) as file:
            assert os.pread(file.fileno(), 512, 0) == bytes(512)


def test_a_dead_mount_is_explained(tmp_path: Path) -> None:
    """A mount whose server is gone: the device was closed while the directory is still mounted on."""
    need_fuse()
    from diskmodel.mount import place

    directory = tmp_path / "m"
    directory.mkdir()
    fd = place._mount_as_root(directory)
    os.close(fd)
    try:
        assert f"umount -l {directory}" in refusal("mount", "generic-15k", directory)
    finally:
        subprocess.run(["umount", "-l", str(directory)], check=True)


def test_the_library_serves_in_a_thread(drive: Path, tmp_path: Path) -> None:
    need_fuse()
    from diskmodel.drive import load_drive

    array = Array.parse({"drive": load_drive(drive), "layout": {"level": "raid1", "disks": 2}})
    directory, stopper, ready, found = tmp_path / "m", Stopper(), threading.Event(), list[Served]()
    directory.mkdir()

    def run() -> None:
        options = {"data": "memory", "is_realtime": False}
        found.append(serve(array, directory, stopper, on_ready=lambda file, size: ready.set(), **options))  # type: ignore[arg-type]

    server = threading.Thread(target=run)
    server.start()
    assert ready.wait(10)
    # in a process of its own: while this one waits in the kernel, its server must be able to run
    subprocess.run(
        ["dd", f"if={directory / 'disk'}", "of=/dev/null", "bs=4096", "count=5"], check=True, capture_output=True
    )
    stopper.stop()
    server.join(10)
    stopper.close()
    assert not server.is_alive()
    assert (found[0].n_reads, found[0].is_unmounted) == (5, False)
    assert 0 < found[0].late_p50_ns < 50_000_000
    assert not is_mounted(directory)
