"""Places that cannot be mounted on are refused with what to do."""

from pathlib import Path

import pytest

from diskmodel.errors import InputError
from diskmodel.mount import Stopper, place, serve
from tests.unit.cli.commands import refusal, write

DRIVE = "generic-15k"


def test_a_directory_that_is_not_there(tmp_path: Path) -> None:
    assert "mkdir" in refusal("mount", DRIVE, tmp_path / "nowhere")


def test_a_file(tmp_path: Path) -> None:
    assert "not a directory" in refusal("mount", DRIVE, write(tmp_path / "file", ""))


def test_a_directory_that_is_not_empty(tmp_path: Path) -> None:
    write(tmp_path / "file", "")
    assert "not empty" in refusal("mount", DRIVE, tmp_path)


def test_a_mount_point() -> None:
    assert "already a mount point" in refusal("mount", DRIVE, "/proc")


def test_a_kernel_without_fuse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "DEVICE", tmp_path / "no" / "fuse")
    assert "modprobe fuse" in refusal("mount", DRIVE, tmp_path)


def test_a_device_that_may_not_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory in its place cannot be opened for writing, not even by root."""
    device = tmp_path / "fuse"
    device.mkdir()
    target = tmp_path / "target"
    target.mkdir()
    monkeypatch.setattr(place, "DEVICE", device)
    monkeypatch.setattr(place.os, "geteuid", lambda: 0)
    assert "cannot be opened" in refusal("mount", DRIVE, target)


def test_users_need_the_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(place.shutil, "which", lambda name: None)
    monkeypatch.setattr(place, "DEVICE", Path("/dev/null"))
    assert "fuse3" in refusal("mount", DRIVE, tmp_path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--data", "paper"), "sparse-file, memory, zero"),
        (("--size", "2 PB"), "at most the array's"),
        (("--size", "many"), "size"),
        (("--time-scale", "0"), "must be between 1e-9 and 1e9"),
        (("--time-scale", "nan"), "must be between 1e-9 and 1e9"),
    ],
)
def test_options_that_cannot_be(tmp_path: Path, options: tuple[str, str], message: str) -> None:
    assert message in refusal("mount", DRIVE, tmp_path, *options)


def test_an_array_that_the_kernel_does_not_cover(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diskmodel.engine.native.covers", lambda scenario, requests: "something new")
    assert "something new" in refusal("mount", DRIVE, tmp_path)


def test_faults_of_the_description_come_first(tmp_path: Path) -> None:
    assert "no such" in refusal("mount", tmp_path / "gone.toml", tmp_path).lower()


def test_a_stopper_stops_before_and_again() -> None:
    stopper = Stopper()
    try:
        for _ in range(100_000):  # more than a pipe holds
            stopper.stop()
    finally:
        stopper.close()


def test_the_library_raises_what_the_command_tells(tmp_path: Path) -> None:
    from diskmodel.array import Array

    array = Array.parse({"drive": DRIVE, "layout": {"level": "jbod", "disks": 1}})
    stopper = Stopper()
    try:
        with pytest.raises(InputError, match="does not exist"):
            serve(array, tmp_path / "nowhere", stopper)
    finally:
        stopper.close()
