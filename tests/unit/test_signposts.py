"""Words of storage that is not modeled: recognized where people write them, each with a question that can be asked."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from diskmodel import Array, catalogue
from diskmodel.analytic.rule import write_penalty
from diskmodel.controller.catalogue import profiles
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError, InputError
from diskmodel.layout.levels import KINDS
from diskmodel.naming.signposts import ELSEWHERE, SIGNPOSTS, Signpost, rows, signpost
from diskmodel.plan.question.presets import preset_names
from tests.unit.cli.commands import briefly, refusal

PAGE = Path(__file__).parents[2] / "docs/explanation/what-is-left-out.md"
COMMANDS = sorted({post.command for post in SIGNPOSTS})


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("6x samsung-pm983-1920 cephfs", "CephFS and the gateways of Ceph"),
        ("6x generic-7k2 vSAN-ESA", "VMware vSAN ESA"),
        ("6x generic-7k2 vsan raid5", "VMware vSAN"),
        ("8x generic-7k2 Storage Spaces parity", "Windows Storage Spaces"),
        ("8x generic-7k2 StorageSpacesDirect", "Storage Spaces Direct"),
        ("8x generic-7k2 S2D", "Storage Spaces Direct"),
        ("3x azure-ultra raid0, 6000 IOPS", "a cloud volume of another type"),
        ("1x io1-500GB", "a cloud volume of another type"),
        ("8x generic-7k2 SHR-2", "Synology Hybrid RAID"),
        ("8x generic-7k2 raid-dp", "NetApp ONTAP"),
        ("6x generic-7k2 raidz2, dedup", "deduplication"),
        ("12x generic-7k2 raid6, flashcache", "a cache on SSDs by a controller or a program that is not modeled"),
        ("12x generic-7k2 raid6, lvmcache", "a cache on SSDs before an array"),
    ],
)
def test_words_of_an_array(words: str, title: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        Array.from_words(words)
    post = next(post for post in (*SIGNPOSTS, *ELSEWHERE) if post.title == title)
    assert post.why in str(caught.value)
    assert str(caught.value).endswith(post.command)


@pytest.mark.parametrize("post", SIGNPOSTS, ids=lambda post: post.title)
def test_every_name_leads_to_its_signpost_as_drive_and_as_level(post: Signpost) -> None:
    for name in post.names:
        text = name.rstrip("*").strip()
        assert signpost(text.upper()) is post
        with pytest.raises(DescriptionError, match="not modeled"):
            load_drive(text)
        with pytest.raises(InputError, match="not modeled"):
            write_penalty(text)


def test_levels_of_commands() -> None:
    said = refusal("plan", "--iops", 100, "--reads", "70%", "--block", "8k", "--level", "s2d")
    assert "--level='s2d': is Storage Spaces Direct, which is not modeled" in said
    assert "not modeled" in refusal("rule", "--level", "shr", "--disks", 8, "--iops", 100, "--read-fraction", 0.7)
    assert "not modeled" in refusal("capacity", "8x generic-7k2 btrfs")
    assert "not modeled" in refusal("simulate", "8x generic-7k2 raid5", "--drive", "io1")


def test_what_can_be_asked_is_no_signpost() -> None:
    known = [*catalogue(), *profiles(), *KINDS, *preset_names(), "./ceph/disk.toml", "gp3.toml"]
    assert [name for name in known if signpost(name)] == []
    assert signpost(" ".join(post.command for post in SIGNPOSTS)) not in SIGNPOSTS


def test_the_page_has_the_rows_of_the_registry() -> None:
    """Where it fails: write `diskmodel.naming.signposts.rows()` into the table."""
    assert rows() in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_nearest_question_runs(command: str) -> None:
    name, verb, *words = shlex.split(command)
    assert name == "diskmodel"
    # finding what drives' caches hold after hours takes longer than all else
    short = ["--requests", 200, "--only-run-noise", "--drive-write-cache", "off"]
    quick = {"simulate": ["--requests", 600], "capacity": short}
    done = briefly(verb, *words, *quick[verb])
    assert done.exit_code == 0, done.stderr
