"""Latency logs of fio 3.33, with and without offsets, and of older versions."""

import numpy as np
import pytest

from diskmodel.errors import FormatError
from diskmodel.formats.faults import LineError
from diskmodel.formats.fio.latency_log import read_latency_log
from tests.unit.formats.files import DATA


def columns(name):
    return np.array([[int(cell) for cell in line.split(",")] for line in (DATA / name).read_text().splitlines()])


@pytest.mark.parametrize("name", ["fio_lat.1.log", "fio_clat_without_offset.1.log"])
def test_entries_are_taken_as_they_stand(name):
    log, raw = read_latency_log(DATA / name), columns(name)
    assert log.done_ns.tolist() == (raw[:, 0] * 10**6).tolist()
    assert log.latency_ns.tolist() == raw[:, 1].tolist()
    assert log.op.tolist() == raw[:, 2].tolist()
    assert log.block_bytes.tolist() == raw[:, 3].tolist()
    expected = raw[:, 4] if raw.shape[1] == 6 else np.full(len(raw), -1)
    assert log.offset_bytes.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("5, 100, 0, 4096\n6, 200, 1, 4096\n", [-1, -1]),
        ("5, 100, 0, 4096, 0\n6, 200, 1, 4096, 8192\n", [0, 8192]),
        ("5, 100, 0, 4096, 0x0000\n6, 200, 1, 4096, 0x4001\n", [-1, -1]),
        ("5, 100, 0, 4096, 0, 0, 4990000\n6, 200, 2, 4096, 7, 0, 1\n6, 200, 1, 4096, 512, 0, 1\n", [0, 512]),
    ],
)
def test_other_versions(text, offsets, tmp_path):
    path = tmp_path / "x_lat.log"
    path.write_text(text)
    log = read_latency_log(path)
    assert log.offset_bytes.tolist() == offsets
    assert log.latency_ns.tolist() == [100, 200]


def test_faults(tmp_path):
    path = tmp_path / "x_lat.log"
    path.write_text("5, 100, 0, 4096\n6, soon, 1, 4096\n")
    with pytest.raises(LineError, match="must be a whole number") as raised:
        read_latency_log(path)
    assert (raised.value.line, raised.value.column) == (2, 2)
    path.write_text("\n")
    with pytest.raises(FormatError, match="holds no entry"):
        read_latency_log(path)
