"""`diskmodel rule`: the keys and figures that scripts rely on."""

import pytest

from tests.unit.cli.commands import answer, refusal, run

FIELD = ("rule", "--level", "raid5", "--disks", 120, "--iops", 10000, "--read-fraction", 0.6, "--cache-hit", 0.3)
HALF = ("rule", "--level", "raid5", "--disks", 5, "--per-disk-iops", 140, "--read-fraction", 0.6667, "--cache-hit", 0.8)


def test_rating_of_each_disk() -> None:
    found = answer(*FIELD)
    assert (found["per_disk_iops"], found["back_end_iops"], found["write_penalty"]) == (168.33, 20200, 4)


def test_ceiling_raises_the_rating() -> None:
    assert answer(*FIELD, "--utilization-ceiling", 0.85)["per_disk_iops"] == pytest.approx(168.333 / 0.85, abs=0.01)


def test_shares_may_be_percentages() -> None:
    percent = [str(word).replace("0.6", "60%").replace("0.3", "30%") for word in FIELD]
    assert answer(*percent) == answer(*FIELD)


def test_what_an_array_holds() -> None:
    found = answer(*HALF)
    assert (found["array_iops"], found["host_iops"]) == (700, 477.3)


def test_usual_levels_are_compared_where_none_is_named() -> None:
    found = answer("rule", "--iops", 5000, "--reads", "70%", "--per-disk-iops", 165)
    assert [(data["level"], data["disks_needed"]) for data in found["levels"]] == [
        ("raid10", 40),  # 6,500 / 165 = 39.4, and an even number
        ("raid5", 58),  # 9,500 / 165 = 57.6
        ("raid6", 76),  # 12,500 / 165 = 75.8
    ]


def test_levels_that_the_disks_cannot_have_are_left_out() -> None:
    found = answer("rule", "--disks", 7, "--reads", "70%", "--per-disk-iops", 140)
    assert [data["level"] for data in found["levels"]] == ["raid5", "raid6"]
    assert found["left_out"] == {"raid10": "raid10 needs a multiple of its 2 copies"}
    text = run("rule", "--disks", 3, "--reads", "70%", "--per-disk-iops", 140).stdout
    assert "Left out for 3 disks: raid6 needs at least 4 disks." in text
    (mirror,) = answer("rule", "--disks", 2, "--reads", "70%", "--per-disk-iops", 140)["levels"]
    assert mirror["level"] == "raid1"


def test_text_and_json_have_the_same_figures() -> None:
    text = run(*FIELD).stdout
    assert "20,200 disk operations per second in total" in text
    assert "168.33 operations per second per disk" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--level", "raid9", "--disks", 4, "--iops", 100, "--read-fraction", 0.5), "level='raid9'"),
        (
            ("--level", "raid5", "--disks", 4, "--iops", 100, "--read-fraction", 150),
            "--reads='150': must lie from 0 to 100%; write 70% or 0.7",
        ),
        (("--level", "raid5", "--disks", 4, "--read-fraction", 0.5), "at least two of them are required"),
        (("--level", "raid5", "--disks", "four", "--iops", 1, "--read-fraction", 0.5), "--disks"),
        (("--disks", 1, "--iops", 100, "--reads", 0.5), "raid10 needs at least 4 disks"),
        (("--level", "raid10", "--disks", 7, "--iops", 100, "--reads", 0.5), "raid10 needs a multiple of its 2 copies"),
        (("--disks", 8, "--iops", 100, "--reads", 0.5, "--n-parity", 2), "only applies to level erasure"),
        (("--level", "raid5", "--disks", 4, "--iops", 100), "--reads"),
        (("--level", "raid5", "--disks", 4, "--iops", 1, "--reads", "most"), "--reads='most': must be a share"),
        (("--level", "raid5", "--disks", 4, "--iops", 1, "--reads", "110%"), "--reads='110%': must lie from 0 to 100%"),
    ],
)
def test_bad_input(words: tuple[object, ...], message: str) -> None:
    assert message in refusal("rule", *words)


@pytest.mark.parametrize("option", ["--reads", "--cache-hit", "--utilization-ceiling"])
def test_a_share_is_written_as_in_a_plan(option: str) -> None:
    words = {"--level": "raid5", "--disks": "8", "--iops": "1000", "--reads": "70%", "--cache-hit": "30%"}
    found = [
        answer("rule", *(word for item in (words | {option: text}).items() for word in item))
        for text in ("60", "60%", "0.6")
    ]
    assert found[0] == found[1] == found[2]


def test_every_fault_is_reported_at_once() -> None:
    output = refusal("rule", "--level", "raid5", "--disks", -1, "--iops", -5, "--read-fraction", 200)
    assert "3 faults" in output
    for field in ("disks=-1", "iops=-5", "--reads='200'"):
        assert field in output


def test_one_operation_is_no_plural() -> None:
    shown = run("rule", "--level", "raid5", "--iops", 1, "--reads", "100%", "--per-disk-iops", 75).stdout
    assert "= 1 disk operation per request\n  1 disk operation per second in total\n" in shown


def test_parities_of_another_level_are_refused() -> None:
    words = ("rule", "--level", "raid5", "--n-parity", 2, "--read-fraction", 0.5, "--disks", 3, "--iops", 5)
    assert "n_parity=2: only applies to level erasure" in refusal(*words)
