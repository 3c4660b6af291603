"""Every error of the catalogue can be provoked from outside and is on the page of errors, in our own words."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import BaseModel, ValidationError

from calibrate.measure import measure
from diskmodel import errors
from diskmodel.array import Array
from diskmodel.description import Description
from diskmodel.engine import _kernel, native
from diskmodel.engine.boundary import check_schema
from diskmodel.engine.run import run
from diskmodel.engine.scenario import resolve
from diskmodel.engine.simulate import simulate
from diskmodel.faults import faults_of
from diskmodel.formats import read_fio
from diskmodel.lab.settings import Settings
from diskmodel.mount.place import check
from diskmodel.output import write_text
from diskmodel.plan import PlanDescription
from diskmodel.plan.volumes.prices import CloudPrices
from diskmodel.result.laws import check_laws
from diskmodel.workload import Workload

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "errors.md"


def catalogue() -> dict[str, type[errors.DiskmodelError]]:
    """Code to the most general class that bears it, of the whole tree."""
    found: dict[str, type[errors.DiskmodelError]] = {}
    todo = [errors.DiskmodelError]
    while todo:
        kind = todo.pop(0)
        found.setdefault(kind.code, kind)
        todo += kind.__subclasses__()
    return found


def description(tmp_path: Path) -> None:
    Array.parse({"drive": "generic-10k", "layout": {"level": "raid5", "disks": 2}})


def format_(tmp_path: Path) -> None:
    (tmp_path / "fio.json").write_text("{")
    read_fio(tmp_path / "fio.json")


def output(tmp_path: Path) -> None:
    write_text("/dev/null", "text")


def coverage(tmp_path: Path) -> None:
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}})
    workload = Workload.parse({"size": "4 KiB", "queue_depth": 1})
    with pytest.MonkeyPatch.context() as patch:
        # the day on which nothing is left that the kernel does not cover, this is what a new part looks like
        patch.setattr(native, "covers", lambda scenario, requests: "something new")
        simulate(array, workload, engine="native", n_requests=10)


def measurement(tmp_path: Path) -> None:
    measure("/dev/null", tmp_path / "m.json", seconds=1)


def conservation(tmp_path: Path) -> None:
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}})
    requests = Workload.parse({"size": "4 KiB", "queue_depth": 2}).requests(capacity_bytes=array.usable_bytes, n=50)
    done = run(resolve(array, 0), requests)
    done.completions.done_ns[7] = np.int64(-1)
    check_laws(requests, done)


def kernel(tmp_path: Path) -> None:
    array = Array.parse({"drive": "generic-10k", "layout": {"level": "jbod", "disks": 1}})
    workload = Workload.parse({"size": "4 KiB", "queue_depth": 1})
    with pytest.MonkeyPatch.context() as patch:
        # no input is known that makes it panic
        patch.setattr(native, "_kernel", SimpleNamespace(run=lambda *call: _kernel.break_off()))
        simulate(array, workload, engine="native", n_requests=10)


def stale(tmp_path: Path) -> None:
    check_schema(SimpleNamespace(schema=lambda: ["HddTables.gone: int"]))


def mount(tmp_path: Path) -> None:
    check(tmp_path / "nowhere")


PROVOKED: dict[str, Callable[[Path], None]] = {
    "description": description,
    "format": format_,
    "output": output,
    "coverage": coverage,
    "measurement": measurement,
    "mount": mount,
    "conservation": conservation,
    "kernel": kernel,
    "stale": stale,
}


@pytest.mark.parametrize("code", PROVOKED)
def test_error_is_raised_with_its_code(code: str, tmp_path: Path) -> None:
    with pytest.raises(catalogue()[code]) as raised:
        PROVOKED[code](tmp_path)
    assert type(raised.value).code == code
    if isinstance(raised.value, errors.InputError):
        assert raised.value.faults
        assert all(fault.field and fault.rule for fault in raised.value.faults)


def test_every_code_is_provoked_and_documented() -> None:
    rows = dict(re.findall(r"^\| `([a-z]+)` \| `\w+` \| (\d) \|", PAGE.read_text(), re.MULTILINE))
    assert rows == {code: str(kind.exit_status) for code, kind in catalogue().items()}
    bases = {"error", "input"}
    assert set(PROVOKED) == set(catalogue()) - bases


#: Values that break a rule of nearly every field; between them they set off every check that a field can have.
WRONG = (
    *(None, True, "x", "", -1, 0, 2.5, math.inf, math.nan, 2**70, "9" * 5000, b"x", "\ud800"),
    *([], ["x"], [1, 2], ["x"] * 5000, [0] * 5000, {}, {"kind": "x"}, {"x": 1}, object()),
)


def descriptions(kind: type[BaseModel] = Description) -> Iterator[type[BaseModel]]:
    """Every concrete kind of description that the imports above have defined."""
    for child in kind.__subclasses__():
        if not inspect.isabstract(child):
            yield child
        yield from descriptions(child)


@pytest.mark.parametrize("kind", dict.fromkeys(descriptions()), ids=lambda kind: kind.__name__)
def test_faults_are_in_our_own_words(kind: type[BaseModel]) -> None:
    assert {Array, CloudPrices, Workload, PlanDescription, Settings} <= set(descriptions())
    for field in kind.model_fields:
        for value in WRONG:
            try:
                kind.model_validate({field: value})
            except ValidationError as error:
                for fault in faults_of(error, kind):
                    text = str(fault)
                    assert not re.search(r"(?i)input should|pydantic|unable to|valid(ation| int| str| dict| tup)", text)
                    assert fault.rule, text
                    assert fault.fix, text
