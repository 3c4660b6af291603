"""Records that cross over to the kernel, and kernels of another version."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import TypeAliasType

import diskmodel
from diskmodel.engine.boundary import RECORDS, check_schema, kernel
from diskmodel.engine.steady.start import Start, Writes
from diskmodel.errors import StaleKernelError
from diskmodel.records import Int64
from diskmodel.schema import Beside, schema_of, to_kernel


@dataclass(frozen=True)
class _Part:
    n: int


@dataclass(frozen=True)
class _Record:
    column: Int64
    part: _Part | None
    own: Beside[float] = 0.5

    kind: ClassVar[str] = "some"


#: What NumPy's NDArray is from Python 3.12 on: a name for a type, whose parts come later.
_Scalar = TypeVar("_Scalar", bound=np.generic)
_Column = TypeAliasType("_Column", np.ndarray[tuple[int, ...], np.dtype[_Scalar]], type_params=(_Scalar,))


@dataclass(frozen=True)
class _Named:
    column: _Column[np.int64]
    shares: _Column[np.float64] | None


def test_a_column_may_have_a_name_for_its_type() -> None:
    @dataclass(frozen=True)
    class _Plain:
        column: Int64
        shares: NDArray[np.float64] | None

    named, plain = ({line.partition(".")[2] for line in schema_of([one])} for one in (_Named, _Plain))
    assert named == plain


def test_both_sides_have_the_same_schema() -> None:
    assert set(kernel.schema()) == schema_of(RECORDS)


def test_fields_are_listed_with_their_types_and_those_beside_are_not() -> None:
    assert schema_of([_Record]) == {
        "_Record.column: int[]",
        "_Record.part: _Part?",
        "_Record.kind: some",
        "_Part.n: int",
    }


def test_records_in_records_are_dictionaries() -> None:
    column = np.arange(3)
    assert to_kernel(_Record(column, _Part(7))) == {"column": column, "part": {"n": 7}, "kind": "some"}
    assert to_kernel(_Record(column, None))["part"] is None


def test_rows_cross_over_by_column() -> None:
    start = to_kernel(Start(buffered=np.array([[0, 5, 8], [1, 6, 9]])))
    assert "Start.buffered: Writes" in schema_of([Start])
    assert {name: column.tolist() for name, column in start["buffered"].items()} == {
        "disk": [0, 1],
        "lba": [5, 6],
        "n": [8, 9],
    }
    assert set(start["buffered"]) == set(to_kernel(Writes.of(np.empty((0, 3), np.int64))))
    assert "n_before" not in start


def test_a_kernel_without_a_field_is_refused_by_name() -> None:
    lines = [line for line in kernel.schema() if not line.startswith("HddTables.retry_ppm")]
    with pytest.raises(
        StaleKernelError, match=r"it does not know HddTables\.retry_ppm: int\); build it anew: `make setup`"
    ):
        check_schema(SimpleNamespace(schema=lambda: lines))


def test_sources_without_a_kernel_say_what_to_do(tmp_path: Path) -> None:
    package = Path(diskmodel.__file__).parent
    without = shutil.ignore_patterns("_kernel*", "__pycache__", "target")
    shutil.copytree(package, tmp_path / "diskmodel", ignore=without)
    words = ["-m", "diskmodel", "simulate", "generic-15k", "--queue-depth", "1", "--reads", "1", "--block", "4k"]
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "the native kernel: cannot be imported" in done.stderr
    assert "do not start Python in the folder of the sources" in " ".join(done.stderr.split())
    assert "a bug" not in done.stderr


def test_a_kernel_with_another_field_or_type_is_refused_by_name() -> None:
    lines = [*kernel.schema(), "MdTables.slope: float"]
    with pytest.raises(StaleKernelError, match=r"only it knows MdTables\.slope: float"):
        check_schema(SimpleNamespace(schema=lambda: lines))


def test_a_kernel_of_before_the_schema_is_refused() -> None:
    with pytest.raises(StaleKernelError, match="it has no schema"):
        check_schema(SimpleNamespace())
