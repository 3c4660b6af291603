"""`diskmodel drives`, `compare` and `plan`: keys, files written, and every way of ending."""

import json
import tomllib
from pathlib import Path

import pytest

from diskmodel.drive import catalogue, parse_drive
from tests.unit.cli.commands import EXAMPLES, answer, refusal, run, write

PLAN = """
[workload]
size = "8 KiB"
read_ratio = 0.7
rate = "300/s"
[objective]
iops = 300
latency = { p99 = "P99" }
[candidates]
drives = ["generic-15k"]
levels = ["raid10"]
max_disks = 8
[search]
requests = 26000
max_requests = 26000
"""


def plan_file(folder: Path, p99: str) -> Path:
    return write(folder / "plan.toml", PLAN.replace("P99", p99))


def test_drives_lists_the_catalogue() -> None:
    rows = answer("drives")["drives"]
    assert sorted(row["name"] for row in rows) == list(catalogue())
    # the newest disk that is bought today first, and what is no product last
    assert (rows[0]["kinds"], rows[-1]["year"]) == (["hdd", "nearline"], None)
    assert rows[0]["year"] == max(row["year"] for row in rows if "nearline" in row["kinds"])
    text = run("drives").stdout
    assert text.index("nearline disks") < text.index("NVMe flash") < text.index("older disks, 10,000 rpm")
    assert text.index("equation disks, no products") < text.index("md-raid-10k")
    assert {"title", "kind", "year", "capacity_bytes", "rpm", "source"} <= set(rows[0])
    assert "generic-15k" in run("drives").stdout


def test_drive_in_detail() -> None:
    found = answer("drives", "generic-15k")
    assert found["rpm"] == 15000
    assert found["derived"]["revolution_ns"] == 4_000_000
    assert "15,000 rpm, 4.000 ms a revolution" in run("drives", "generic-15k").stdout


def test_a_word_lists_the_drives_that_match() -> None:
    names = [row["name"] for row in answer("drives", "Seagate")["drives"]]
    assert sorted(names) == [name for name in catalogue() if name.startswith("seagate-")]
    assert {row["name"] for row in answer("drives", "seagate", "18")["drives"]} >= {"seagate-exos-x18"}


def test_words_that_match_one_drive_show_it() -> None:
    assert [row["name"] for row in answer("drives", "exos", "x24")["drives"]] == ["seagate-exos-x24"]
    assert "rotation" in run("drives", "exos x24").stdout


def test_drives_of_one_kind() -> None:
    rows = answer("drives", "--kind", "nvme")["drives"]
    assert rows
    assert all("NVMe" in row["bus"] and row["kinds"] == ["nvme"] for row in rows)
    both = {row["name"] for row in answer("drives", "toshiba", "--kind", "nearline")["drives"]}
    assert {"toshiba-mg08aca16te", "toshiba-mg10aca20te"} <= both
    assert not both & {"toshiba-mq01abd100", "toshiba-mk3001grrb", "seagate-exos-x24"}


def test_a_drives_page_lists_what_is_assumed() -> None:
    page = " ".join(run("drives", "toshiba-mg10aca20te").stdout.split())
    assert "assumed inner rate, seek (average, track to track, full stroke), read overhead" in page
    assert "mean time to failure of 2,500,000 hours" in page
    assert "assumed all but capacity, interface rate, power" in " ".join(
        run("drives", "intel-dc-s4600-1920").stdout.split()
    )


@pytest.mark.parametrize("name", ["generic-7k2", "intel-x25-e-64"])
def test_printed_description_is_the_drive(name: str) -> None:
    assert parse_drive(tomllib.loads(run("drives", name, "--toml").stdout)) == catalogue()[name]


def test_drive_plot(tmp_path: Path) -> None:
    assert run("drives", "generic-10k", "--plot", tmp_path / "d.png").exit_code == 0
    assert (tmp_path / "d.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("drives", "generic-77k"), "is neither a file nor a drive"),
        (("drives", "segate"), "did you mean seagate?"),
        (("drives", "--kind", "nvm"), "is not a kind of drive; did you mean nvme?"),
        (
            ("drives", "--kind", "floppy"),
            "use one of hdd, nearline, 10k, 15k, smr, host-managed, sata-ssd",
        ),
        (("drives", "intel", "--kind", "10k"), "matches no drive of the kind 10k"),
        (("drives", "gold", "--toml"), "fits several drives in the catalogue"),
        (("drives", "--kind", "nvme", "--plot", "d.png"), "needs the name of one drive"),
        (("drives", "--toml"), "needs the name of one drive"),
        (("drives", "generic-10k", "--plot", "nowhere/d.png"), "its directory does not exist"),
        (("drives", "generic-10k", "--plot", "d.gif"), "use .png or .svg"),
        (("drives", "intel-x25-e-64", "--plot", "d.png"), "only drawn for hard disks"),
        (("plan", "nowhere.toml"), "nowhere.toml"),
        (("plan", EXAMPLES / "plan-oltp.toml", "--report", "r.doc"), "use .html or .md or .csv"),
        (("plan", EXAMPLES / "plan-oltp.toml", "--drive", "nodrive"), "is neither a file nor a drive"),
        (("plan", EXAMPLES / "plan-oltp.toml", "--engine", "steam"), "--engine"),
        (("nonsense",), "nonsense"),
    ],
)
def test_bad_input(words: tuple[object, ...], message: str) -> None:
    assert message in refusal(*words)


def test_compare_of_one_array() -> None:
    found = answer(
        "compare", "8x generic-15k raid10", "--iops", 300, "--reads", 70, "--block", "8k", "--requests", 1000
    )
    assert len(found["arrays"]) == 1
    assert found["differences"] == []
    assert found["verdict"].startswith("8x generic-15k raid10 answers in ")


def test_compare(tmp_path: Path) -> None:
    words = ("compare", EXAMPLES / "raid5.toml", EXAMPLES / "raid10.toml", "-w", EXAMPLES / "oltp.toml")
    found = answer(*words, "--requests", 1000, "--plot", tmp_path / "c.png")
    assert [item["level"] for item in found["arrays"]] == ["raid5", "raid10"]
    assert {"iops", "latency_ms", "interval", "degraded", "curve", "headroom", "rule_of_thumb_iops"} <= set(
        found["arrays"][0]
    )
    assert {"first", "second", "statistic", "ratio", "significant"} <= set(found["differences"][0])
    assert found["arrays"][1]["iops"] > found["arrays"][0]["iops"]
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_compare_of_nothing_that_holds(tmp_path: Path) -> None:
    workload = write(tmp_path / "w.toml", 'size = "8 KiB"\nread_ratio = 0.5\nrate = "9000/s"\n')
    words = ("compare", EXAMPLES / "raid5.toml", EXAMPLES / "raid10.toml", "-w", workload, "--requests", 4000)
    assert [item["stable"] for item in answer(*words, status=3)["arrays"]] == [False, False]


def test_plan(tmp_path: Path) -> None:
    plan = plan_file(tmp_path, "60 ms")
    found = answer("plan", "--nominal", plan, "--report", tmp_path / "r.html", "--plot", tmp_path / "p.png")
    assert {"best", "candidates"} <= set(found)
    promised = {"drive", "level", "disks", "feasible", "binds", "iops", "latency_ms", "rule_of_thumb_disks"}
    assert promised <= set(found["candidates"][0])
    assert found["best"]["disks"] == found["candidates"][0]["disks"]
    assert "<html" in (tmp_path / "r.html").read_text()
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_an_interrupted_plan_continues_from_its_memory(tmp_path: Path) -> None:
    plan, memory = plan_file(tmp_path, "60 ms"), tmp_path / "outcomes.jsonl"
    first = answer("plan", "--nominal", plan, "--memory", memory)
    lines = memory.read_text(encoding="utf-8").splitlines()
    # as if killed while it wrote: half of the outcomes are there, the last in part
    memory.write_text("\n".join([*lines[: len(lines) // 2], lines[-1][:40]]), encoding="utf-8")
    again = answer("plan", "--nominal", plan, "--memory", memory)
    assert again["best"] == first["best"]
    known = memory.read_text(encoding="utf-8")
    answer("plan", "--nominal", plan, "--memory", memory)
    assert memory.read_text(encoding="utf-8") == known, "all was known, so nothing is simulated again"


def test_the_memory_of_a_plan_is_not_the_plan(tmp_path: Path) -> None:
    plan = plan_file(tmp_path, "60 ms")
    before = plan.read_bytes()
    assert "memory" in refusal("plan", plan, "--memory", plan)
    assert plan.read_bytes() == before


def test_plan_for_other_drives(tmp_path: Path) -> None:
    profile = write(tmp_path / "mine.toml", run("drives", "generic-10k", "--toml").stdout)
    found = answer("plan", "--nominal", plan_file(tmp_path, "60 ms"), "--drive", profile, "--drive", "intel-x25-e-64")
    assert [item["drive"] for item in found["candidates"]] == ["Generic 10k rpm SAS", "Intel X25-E 64 GB"]


def test_plan_explained(tmp_path: Path) -> None:
    text = run("plan", "--nominal", plan_file(tmp_path, "60 ms"), "--explain").stdout
    assert "What limits each candidate" in text
    assert "the rule of thumb" in text.lower()


def test_plan_without_an_answer_exits_with_3(tmp_path: Path) -> None:
    plan = plan_file(tmp_path, "1 ms")
    found = answer("plan", "--nominal", plan, status=3)
    assert found["best"] is None
    assert found["candidates"][0]["feasible"] is False
    output = run("plan", "--nominal", plan)
    assert "No feasible array" in output.stdout
    assert "no: none of the candidates meets the objective" in output.stderr


def test_answers_are_the_same_for_people_and_programs(tmp_path: Path) -> None:
    plan = plan_file(tmp_path, "60 ms")
    assert (
        f"{answer('plan', plan, '--nominal')['best']['disks']} disks of Generic 15k"
        in run("plan", "--nominal", plan).stdout
    )


def test_json_holds_plain_ascii() -> None:
    assert json.loads(run("drives", "--json").stdout.encode("ascii"))
