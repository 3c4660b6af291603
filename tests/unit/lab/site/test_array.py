"""What the page makes of its settings is what Python resolves from them."""

import json
from typing import Any

import pytest

from diskmodel.engine import native
from diskmodel.engine.scenario import resolve
from diskmodel.errors import DescriptionError
from diskmodel.lab.curves import ask
from diskmodel.lab.settings import Settings
from diskmodel.lab.site.tables import DRIVES, drive_tables, level_tables, to_plain
from diskmodel.layout.description import Layout
from tests.unit.lab.site.drawn import drawn_settings
from tests.unit.lab.site.node import in_node

CHANGED = ("layout", "queue", "depth", "hit_ratio", "revolution_ns", "phase_ns")
_CHANGES = """async (modules, { settings, drives, levels }) => {
  const { changesOf, usableBytes } = modules["array.js"];
  return settings.map((one) => {
    const changes = changesOf(one, levels[one.level], drives[one.drive]);
    return { changes, usable: usableBytes(changes, drives[one.drive]) };
  });
}"""


@pytest.fixture(scope="module")
def drives() -> dict[str, Any]:
    return {name: drive_tables(name) for name in DRIVES}


@pytest.mark.parametrize("n", [50, pytest.param(1_000, marks=pytest.mark.slow)])
def test_every_drawn_array_is_what_python_resolves(drives: dict[str, Any], n: int) -> None:
    drawn = drawn_settings(n)
    given = {"settings": [one.to_dict() for one in drawn], "drives": drives, "levels": level_tables()}
    found = in_node(_CHANGES, given)
    templates = {name: {k: v for k, v in d["scenario"].items() if k not in CHANGED} for name, d in drives.items()}
    for settings, answer in zip(drawn, found, strict=True):
        array = settings.array()
        scenario = native.array_of(resolve(array, settings.seed))
        scenario["drive"].pop("seek_ns", None)
        expected = to_plain(scenario)
        assert answer["changes"] == {key: expected.pop(key) for key in CHANGED}, settings
        assert templates[settings.drive] == expected, "what the page does not change is the same for all settings"
        assert answer["usable"] == array.usable_bytes


def test_seek_times_survive_the_packing(drives: dict[str, Any]) -> None:
    main = 'async (modules, drive) => modules["array.js"].unpacked(drive).scenario'
    for name in ("generic-15k", "generic-sas-ssd"):
        settings = Settings(drive=name, level="raid0", disks=64)
        expected = to_plain(native.array_of(resolve(settings.array(), settings.seed)))
        assert in_node(main, drives[name]) == json.loads(json.dumps(expected))


def test_possible_numbers_of_disks() -> None:
    main = """async (modules, levels) => Object.fromEntries(Object.entries(levels).map(([name, level]) => {
      const verdicts = (disks) => [0, 2, 3].map((groups) => modules["array.js"].isPossible(level, disks, groups));
      return [name, [...Array(65).keys()].map(verdicts)];
    }))"""
    for name, counts in in_node(main, level_tables()).items():
        for disks, verdicts in enumerate(counts):
            for groups, verdict in zip((None, 2, 3), verdicts, strict=True):
                if groups and not level_tables()[name]["default_groups"]:
                    continue
                assert verdict == _is_possible(name, disks, groups), (name, disks, groups)


def _is_possible(level: str, disks: int, groups: int | None) -> bool:
    try:
        Layout.parse({"level": level, "disks": disks} | ({"groups": groups} if groups else {}))
    except DescriptionError:
        return False
    return True


def test_curves_have_the_loads_and_requests_of_the_lab(drives: dict[str, Any]) -> None:
    drawn = [one for one in drawn_settings(100, seed=2) if one.arrivals == "outstanding"]
    drawn.append(Settings(size_bytes=4 << 20, strip_bytes=512, level="raid6", outstanding=512))
    main = """async (modules, { settings, drives, levels }) => settings.map((one) =>
      ["quick", "refined"].map((stage) => {
        try { return modules["answers.js"].ask({ drives, levels }, one, stage); }
        catch (error) { return error.message; }
      }))"""
    found = in_node(main, {"settings": [s.to_dict() for s in drawn], "drives": drives, "levels": level_tables()})
    n_refused = 0
    for settings, answers in zip(drawn, found, strict=True):
        for stage, answer in zip(("quick", "refined"), answers, strict=True):
            try:
                question = ask(settings, stage)  # type: ignore[arg-type]
            except DescriptionError:
                assert "too many strips" in answer, settings
                n_refused += 1
                continue
            assert answer == {"loads": list(question.loads), "n": question.n_requests}, settings
    assert n_refused > 0
