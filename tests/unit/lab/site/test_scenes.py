"""What the kernel in the page records of its arms is what the reference engine records, movement by movement."""

import json
from typing import Any, get_args

import numpy as np
import pytest

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.lab.animation import schedulers_page, small_write_page
from diskmodel.lab.recording import record
from diskmodel.lab.scenes import Scene, recorded_scene, scene_array, scene_data, scene_requests, scene_tables
from diskmodel.lab.settings import Settings
from diskmodel.lab.site.tables import drive_tables, level_tables
from diskmodel.records import Requests, StreamRule
from tests.unit.lab.site.node import in_node
from tests.unit.lab.test_moving_head import panels

_SCENES = """async (modules, { cases, drive, levels, tables }, bytes) => {
  const { Bench } = modules["answers.js"], { headPanels, recordedScene, sceneOf, smallWrite } = modules["scenes.js"];
  const bench = new Bench(await modules["kernel.js"].Kernel.from(bytes), levels);
  bench.add(drive);
  const scenes = cases.map(([settings, scene]) => {
    const { requests, changes } = sceneOf(settings, scene, levels[settings.level], bench.drives[drive.value], tables);
    return { data: recordedScene(bench, settings, scene, tables), requests, clients: changes.streams[0].n_clients };
  });
  const first = cases[0][0];
  return { scenes, write: smallWrite(bench, first), heads: headPanels(bench, first, ["fcfs", "sptf"], 40) };
}"""
DRIVE = "generic-15k"


def page_requests(drawn: dict[str, Any], clients: int) -> Requests:
    """The requests that the page drew, for the reference engine."""
    column = {name: np.array(values) for name, values in drawn.items() if name != "n"}
    return Requests(
        column["whenNs"].astype(np.int64),
        column["op"].astype(np.uint8),
        column["offset"].astype(np.int64),
        column["length"].astype(np.int64),
        column["stream"].astype(np.int32),
        column["cacheDraw"].astype(float),
        (StreamRule("page", n_clients=clients),),
    )


def as_json(data: object) -> Any:
    return json.loads(json.dumps(data))


@pytest.fixture(scope="module")
def cases() -> list[tuple[Settings, Scene]]:
    """Every scene of RAID 5, and levels of each family."""
    base = {"drive": DRIVE, "disks": 8, "outstanding": 8, "strip_bytes": 16 << 10}
    made: list[tuple[Settings, Scene]] = [(Settings.parse({**base, "level": "raid5"}), s) for s in get_args(Scene)]
    for level, scene in (
        ("raid10", "rebuild"),
        ("raid10", "cache"),
        ("raid6", "write"),
        ("raid0", "cache"),
        ("jbod", "load"),
        ("raid1", "write"),
        ("raid50", "load"),
        ("raid1e", "failed"),
        ("raid60", "failed"),
    ):
        made.append((Settings.parse({**base, "level": level, "arrivals": "rate", "rate_per_s": 300}), scene))  # type: ignore[arg-type]
    return made


def test_the_page_records_what_the_reference_engine_does(cases: list[tuple[Settings, Scene]]) -> None:
    given = {
        "cases": [[settings.to_dict(), scene] for settings, scene in cases],
        "drive": drive_tables(DRIVE),
        "levels": level_tables(),
        "tables": scene_tables(),
    }
    found = in_node(_SCENES, given, with_kernel=True)
    for (settings, scene), answer in zip(cases, found["scenes"], strict=True):
        array = scene_array(settings, scene)
        requests = page_requests(answer["requests"], answer["clients"])
        if scene == "write":
            drawn = scene_requests(settings, scene, array)
            assert (drawn.offset[0], drawn.length[0]) == (requests.offset[0], requests.length[0])
        recording = record(array, requests, settings.seed, sample_every=1 if scene == "cache" else 0)
        expected = as_json(scene_data(array, requests, recording))
        assert answer["data"].keys() == expected.keys()
        for key, value in expected.items():
            assert answer["data"][key] == value, (settings.level, scene, key)
        if scene == "cache":
            assert max(level for _, level in expected["levels"]) > expected["cache"]["high"]
    first = cases[0][0]
    expected_write = panels(small_write_page(first.array(), seed=first.seed))
    assert found["write"]["panels"] == expected_write
    assert [panel["name"] for panel in found["heads"]] == ["fcfs", "sptf"]
    assert found["heads"][0].keys() == {*panels(schedulers_page(first.array(), first.workload(), n_requests=5))[0]}


def test_a_scene_shows_what_was_asked_for() -> None:
    settings = Settings(disks=6)
    healthy, failed, rebuilt = (recorded_scene(settings, scene) for scene in ("load", "failed", "rebuild"))
    assert healthy["disks"][0]["movements"]
    assert not failed["disks"][0]["movements"]
    spare = rebuilt["disks"][6]["movements"]
    assert [m["lba"] for m in spare if m["n_sectors"] == rebuilt["strip_sectors"]][:3] == [0, 128, 256]
    write = recorded_scene(settings, "write")
    touched = [(d["disk"], m["op"]) for d in write["disks"] for m in d["movements"]]
    assert len(touched) == 4
    parity = {disk for disk in range(6) if write["strips"][disk][1] == -1}
    assert {disk for disk, _ in touched} == parity | {d for d in range(6) if 5 in write["strips"][d]}
    full = recorded_scene(settings, "cache")
    assert max(level for _, level in full["levels"]) == full["cache"]["room"], "the cache presses"


@pytest.mark.parametrize(
    ("fields", "scene", "field"),
    [
        ({}, "flood", "scene"),
        ({"disks": 30}, "load", "disks"),
        ({"level": "raid0"}, "failed", "layout"),
        ({"drive": "generic-sas-ssd"}, "load", "drive"),
    ],
)
def test_what_cannot_be_shown_is_reported(fields: dict[str, Any], scene: str, field: str) -> None:
    with pytest.raises(DescriptionError) as raised:
        recorded_scene(Settings.parse({"disks": 6} | fields), scene)
    assert raised.value.faults[0].field.startswith(field)


def test_the_array_of_a_scene_is_that_of_the_settings() -> None:
    settings = Settings(write_cache_bytes=1 << 20, drive_write_cache="on")
    assert scene_array(settings, "load") == Array.parse(Settings(drive_write_cache="off").array().to_dict())
