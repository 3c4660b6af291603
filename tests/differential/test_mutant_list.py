"""The list of mutants fits the kernel as it is, and says what to do where it no longer does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.differential.mutants.patching import KERNEL, ROOT, Place, listed, patched, planted

CRATES = ROOT / KERNEL
#: The kernel itself, and the crates beside it.
SOURCES = [CRATES / folder / "src" for folder in (".", "python", "serve", "web")]


def place(old: str, new: str = "", name: str = "Late") -> Place:
    return Place("hdd.toml", "arm.rs", old, new, name)


def patched_arm(folder: Path, *places: Place) -> str:
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "arm.rs").write_text(
        "fn ready(now: i64) -> i64 {\n    now\n        + 1\n}\n\nfn due(now: i64) -> i64 {\n    now\n}\n"
    )
    return dict(patched(folder, places))["src/arm.rs"]


def test_every_place_is_found_once_in_the_kernel() -> None:
    changed = dict(patched(CRATES, listed()))
    assert all((CRATES / file).read_text() != text for file, text in changed.items())


def test_each_place_asks_for_its_own_mutant_and_for_no_other() -> None:
    others = [str(place) for place in listed() if planted(place.new) != ({place.name} if place.name else set())]
    assert others == []


def test_the_kernel_is_free_of_mutants() -> None:
    assert [path for source in SOURCES for path in source.rglob("*.rs") if planted(path.read_text())] == []


def test_mutants_are_numbered_and_white_space_does_not_count(tmp_path: Path) -> None:
    late = place("now + 1", "now + if planted(Late) { 2 } else { 1 }")
    early = place(
        "fn due(now: i64) -> i64 {",
        "fn due(now: i64) -> i64 {\n    let now = now - i64::from(planted(Early));",
        "Early",
    )
    assert patched_arm(tmp_path, early, late) == (
        "fn ready(now: i64) -> i64 {\n    now + if crate::mutants::planted(1) { 2 } else { 1 }\n}\n\n"
        "fn due(now: i64) -> i64 {\n    let now = now - i64::from(crate::mutants::planted(0));\n    now\n}\n"
    )


@pytest.mark.parametrize(("old", "times"), [("now + 2", 0), ("(now: i64)", 2)])
def test_an_entry_that_no_longer_fits_says_how_to_renew_it(tmp_path: Path, old: str, times: int) -> None:
    message = rf"hdd\.toml: Late in kernel/src/arm\.rs: `old` is there {times} times .* copy the lines as they are now"
    with pytest.raises(ValueError, match=message):
        patched_arm(tmp_path, place(old))


def test_entries_that_overlap_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Late in kernel/src/arm\.rs: overlaps with mutants/hdd\.toml: Early"):
        patched_arm(tmp_path, place("{ now + 1"), place("+ 1 }", name="Early"))
