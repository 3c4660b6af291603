"""What may be written, and what stays when it may not."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from diskmodel.errors import InputError, OutputError
from diskmodel.input import one_command, open_input
from diskmodel.output import append_line, check_output, output_file, write_text


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield
    os.umask(before)


def kinds(folder: Path) -> dict[str, Path]:
    """A path of each kind that is not a regular file."""
    target = folder / "target"
    target.write_text("kept")
    paths = {name: folder / name for name in ("link", "dangling", "fifo", "socket", "directory")}
    paths["link"].symlink_to(target)
    paths["dangling"].symlink_to(folder / "nowhere")
    os.mkfifo(paths["fifo"])
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder)  # the name of a socket is at most 108 bytes long
        server.bind("socket")
        os.chdir(here)
    paths["directory"].mkdir()
    return paths | {"device": Path("/dev/null")}


@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "socket", "directory", "device"])
def test_only_regular_files_are_replaced(tmp_path: Path, kind: str) -> None:
    path = kinds(tmp_path)[kind]
    before = os.lstat(path)
    for refused in (lambda: check_output(path), lambda: write_text(path, "new"), lambda: append_line(path, "new")):
        if kind == "directory" and refused.__code__.co_names[0] == "append_line":
            continue
        with pytest.raises(OutputError):
            refused()
    assert (os.lstat(path).st_ino, os.lstat(path).st_mode) == (before.st_ino, before.st_mode)
    assert (tmp_path / "target").read_text() == "kept"
    assert not (tmp_path / "nowhere").exists()


def test_a_new_file_gets_what_the_umask_leaves(tmp_path: Path, umask: None) -> None:
    write_text(tmp_path / "new", "text")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    append_line(tmp_path / "memory", "line")
    assert stat.S_IMODE((tmp_path / "memory").stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode_and_its_owner(tmp_path: Path, umask: None, mode: int) -> None:
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 1234, 5678)
    before = path.stat()
    write_text(path, "new")
    after = path.stat()
    assert path.read_text() == "new"
    assert stat.S_IMODE(after.st_mode) == mode
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)


def test_a_secret_file_is_never_open_to_others_while_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o600)
    with output_file(path) as file:
        file.write(b"new")
        (part,) = tmp_path.glob(".secret.*.part")
        assert stat.S_IMODE(part.stat().st_mode) == 0o600


def test_read_only_files_stay(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(OutputError, match="is read-only"):
        write_text(path, "new")
    assert path.read_text() == "old"


def test_files_with_several_names_stay(tmp_path: Path) -> None:
    path, other = tmp_path / "old", tmp_path / "other"
    path.write_text("old")
    os.link(path, other)
    with pytest.raises(OutputError, match="2 names"):
        write_text(path, "new")
    assert path.read_text() == other.read_text() == "old"


def test_an_input_of_a_command_is_not_its_output(tmp_path: Path) -> None:
    path = tmp_path / "both"
    path.write_text("old")
    with one_command():
        open_input(path).close()
        with pytest.raises(OutputError, match="is the input"):
            write_text(path, "new")
    with one_command():
        check_output(path)
        with pytest.raises(InputError, match="would be overwritten"):
            open_input(path)
    assert path.read_text() == "old"
    open_input(path).close()  # a notebook may load, change and save
    write_text(path, "new")
    assert path.read_text() == "new"


def test_what_a_command_has_written_it_may_read(tmp_path: Path) -> None:
    path = tmp_path / "step"
    path.write_text("old")
    with one_command():
        check_output(path)
        write_text(path, "new")
        with open_input(path) as file:
            assert file.read() == b"new"


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_text("old")

    def interrupted() -> None:
        with output_file(path) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["old"]


def test_the_temporary_file_cannot_be_foreseen(tmp_path: Path) -> None:
    """Names of the kind that programs use (name, process) may be occupied by a link to somewhere else."""
    victim = tmp_path / "victim"
    victim.write_text("kept")
    for trap in (f".new.{os.getpid()}.part", f".new.{os.getpid()}", ".new.part", "new.tmp", "new.part"):
        (tmp_path / trap).symlink_to(victim)
    write_text(tmp_path / "new", "text")
    assert victim.read_text() == "kept"
    assert (tmp_path / "new").read_text() == "text"


def test_names_as_long_as_a_file_system_takes_them(tmp_path: Path) -> None:
    for name in ("n" * 255, "ü" * 127):
        write_text(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"


def test_a_dash_is_standard_output() -> None:
    code = "from diskmodel.output import write_text; print('first'); write_text('-', 'text'); print('.last')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "first\ntext.last\n"


def test_a_line_that_does_not_fit_is_an_error() -> None:
    code = (
        "import resource, tempfile, diskmodel.output as o\n"
        "path = tempfile.mkdtemp() + '/memory'\n"
        "o.append_line(path, 'x' * 1000)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))\n"
        "o.append_line(path, 'y' * 1000)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "OutputError" in done.stderr


@pytest.mark.parametrize("path", ["fifo", "/proc/kmsg", "/proc/self/mem", "/dev/zero", "/dev/tty", "."])
def test_only_stored_files_are_read(tmp_path: Path, path: str) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises((InputError, OSError)):
        open_input(tmp_path / path)
