"""Small files that took gigabytes: refused in a process that may take 1 GiB beyond what it has, within a minute."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest

from calibrate.measure import load
from diskmodel.array import Array
from diskmodel.errors import InputError
from diskmodel.formats import detect_evidence, read_fio
from diskmodel.limits import MAX_KEY_PARTS, parse_json, parse_toml
from diskmodel.workload import Workload


@pytest.mark.parametrize(
    "text",
    [
        "a." * 40_000 + "b = 1",
        '"a" . ' * 13_000 + "b = 1",
        "[" + "a." * 40_000 + "b]",
        "x = {" + "a." * 40_000 + "b = 1}",
        "\n".join(f"k{n} = 1" for n in range(200_000)),
        "\n".join(f"[[t{n % 7}]]" for n in range(200_000)),
        "x = [" + "0," * 4_000_000 + "]",
        "x = " + "[" * 50_000,
    ],
    ids=["dotted", "quoted", "header", "inline", "keys", "tables", "values", "nested"],
)
def test_toml_that_would_take_gigabytes(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.toml").write_text(text)
    with pytest.raises(InputError, match="is not valid TOML"):
        Array.load(tmp_path / "a.toml")


@pytest.mark.parametrize(
    "text",
    [
        f'note = "{"a." * 1000}"',
        f"note = '{'a.' * 1000}'",
        f'note = """{"a." * 1000}"""',
        f"note = '''{'a.' * 1000}'''",
        f"# {'a.' * 1000}\nx = 1",
        'x = "\\"" # "' + "a." * 1000,
        'x = """""" # ' + "a." * 1000,
        'x = """a"""" # ' + "a." * 1000,
        ".".join("a" * MAX_KEY_PARTS) + " = 1",
    ],
)
def test_what_is_no_key_is_not_counted(text: str) -> None:
    assert parse_toml(text)


def fio(path: Path) -> object:
    return read_fio(path)


@pytest.mark.parametrize("read", [fio, detect_evidence, load])
@pytest.mark.parametrize(
    ("start", "piece", "end"),
    [('{"jobs": [', "{},", "{}]}"), ('{"jobs": [', "[],", "[]]}"), ('{"jobs": [', "0,", "0]}")],
)
def test_bombs_of_small_objects(
    tmp_path: Path, read: Callable[[Path], object], start: str, piece: str, end: str
) -> None:
    """A tenth of a megabyte of gzip, or less, that becomes 120 MB of text, and would become gigabytes of objects."""
    path = tmp_path / "bomb.json"
    with (open if read is load else gzip.open)(path, "wb") as file:  # type: ignore[operator]
        file.write(start.encode())
        for _ in range(120 if piece == "0," else 60):
            file.write(piece.encode() * (2**20 // len(piece)))
        file.write(end.encode())
    with pytest.raises(InputError):
        read(path)


def test_counts_of_json_are_exact() -> None:
    with pytest.raises(ValueError, match="objects and lists"):
        parse_json("[" * 2_000_000)
    assert parse_json("[" + "0," * 100_000 + "0]", max_values=100_000)
    with pytest.raises(ValueError, match="values"):
        parse_json("[" + "0," * 100_001 + "0]", max_values=100_000)


def test_bursts_of_a_nanosecond_are_refused() -> None:
    arrival = {"kind": "bursts", "on_rate": "100/s", "mean_on_ns": 1, "mean_off_ns": 1}
    with pytest.raises(InputError, match="bursts begin and end for each request"):
        Workload.parse({"streams": [{"size": "4 KiB", "arrival": arrival}]})
    arrival |= {"mean_on_ns": 10**9, "mean_off_ns": 10**9}
    assert len(
        Workload.parse({"streams": [{"size": "4 KiB", "arrival": arrival}]}).requests(capacity_bytes=10**9, n=10)
    )
