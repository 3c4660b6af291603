"""What programs show of arrays becomes one record, words and an array; numbers were read off the samples by hand."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from diskmodel.array import Array
from diskmodel.errors import DescriptionError, FormatError, InputError
from diskmodel.formats import arrays
from diskmodel.formats.arrays import Pass, Volume
from diskmodel.formats.arrays.reading import read_described
from diskmodel.formats.arrays.storcli import read_storcli
from diskmodel.formats.detect import detect_evidence
from tests.unit.cli.commands import refusal, run
from tests.unit.formats.files import DATA

FILES = DATA / "arrays"
MIB = 1 << 20


def volumes(name: str, text: str | None = None) -> list[Volume]:
    text = (FILES / name).read_text() if text is None else text
    kind = arrays.kind_of(text)
    assert kind is not None
    return arrays.read_arrays(text, name, kind)


#: By file and number of the array: its kind, and fields of the record.
RECORDS: dict[tuple[str, int], dict[str, Any]] = {
    ("mdstat.txt", 0): {
        "level": "raid5", "strip_bytes": 512 << 10, "failed": (2,), "rotation": "left-symmetric",
        "capacity_bytes": 11_720_658_432 << 10, "consistency": "bitmap", "bitmap_chunk_bytes": 64 * MIB,
        "running": Pass("recover", 0.085, 132_268 << 10, 450.2 / 60), "is_md": True,
    },
    ("mdstat.txt", 1): {"level": "raid1", "copies": 2, "failed": (), "consistency": "resync", "strip_bytes": None},
    ("mdstat.txt", 2): {"level": "raid10", "copies": 2, "arrangement": "far", "running": Pass("resync")},
    ("detail.txt", 0): {
        "level": "raid6", "strip_bytes": 64 << 10, "failed": (2,), "capacity_bytes": 7_813_772_288 << 10,
        "consistency": "bitmap", "running": Pass("recover", 0.12),
    },
    ("storcli.txt", 0): {
        "level": "raid6", "strip_bytes": 256 << 10, "failed": (2,), "controller": "PERC H730 Mini", "groups": None,
        "cache_bytes": 1 << 30, "write_back": True, "read_ahead": True, "drive_cache": False,
    },
    ("megacli.txt", 0): {
        "level": "raid10", "strip_bytes": 64 << 10, "failed": (3,), "write_back": False, "read_ahead": False,
        "drive_cache": None,
    },
    ("ssacli.txt", 0): {
        "level": "raid5", "strip_bytes": 256 << 10, "failed": (2,), "controller": "Smart Array P408i-a SR Gen10",
        "cache_bytes": 1843 * MIB, "write_back": True, "drive_cache": False, "running": Pass("recover", 0.153),
    },
    ("arcconf.txt", 0): {
        "level": "raid10", "strip_bytes": 256 << 10, "failed": (1,), "controller": "Adaptec ASR8805",
        "cache_bytes": 1 << 30, "write_back": True, "drive_cache": False,
    },
}  # fmt: skip

#: By file and number: the devices of its members and of its spares, and the state of each member.
MEMBERS = {
    ("mdstat.txt", 0): ("sda1 sdb1 sde1 sdd1", "", "working working rebuilding working"),
    ("mdstat.txt", 1): ("nvme0n1p1 nvme1n1p1", "", "working working"),
    ("detail.txt", 0): ("sda sdb sdd sde", "", "working working rebuilding working"),
    ("storcli.txt", 0): ("32:0 32:1 32:2 32:3", "32:4", "working working rebuilding working"),
    ("megacli.txt", 0): ("252:0 252:1 252:2 252:3", "", "working working working failed"),
    ("ssacli.txt", 0): ("1I:1:1 1I:1:2 1I:1:3", "1I:1:4", "working working rebuilding"),
    ("arcconf.txt", 0): ("0:0 0:1 0:2 0:3", "", "working rebuilding working working"),
}


@pytest.mark.parametrize(("name", "number"), RECORDS, ids=str)
def test_the_record(name: str, number: int) -> None:
    found = volumes(name)[number]
    assert {key: getattr(found, key) for key in RECORDS[name, number]} == RECORDS[name, number]


@pytest.mark.parametrize(("name", "number"), MEMBERS, ids=str)
def test_the_members(name: str, number: int) -> None:
    found = volumes(name)[number]
    shown = (
        " ".join(member.device for member in found.members),
        " ".join(member.device for member in found.spares),
        " ".join(member.state for member in found.members),
    )
    assert shown == MEMBERS[name, number]


#: By files and array: words, and parts of the notes.
WORDS = {
    ("mdstat.txt lsblk.json", "md0"): ("4x generic-7k2-2015 raid5, strip 512KiB, linux-md", ["not in the catalogue"]),
    ("mdstat.txt lsblk.json", "md1"): ("2x samsung-pm983-1920 raid1, linux-md", ["words leave out its bitmap"]),
    ("mdstat.txt", "md1"): ("2x ", ["no model is shown", "a usual nvme"]),
    ("detail.txt", None): ("4x DRIVE raid6, strip 64KiB, linux-md", ["no file shows what the disks are"]),
    ("storcli.txt", None): (
        "4x generic-7k2-2015 raid6, strip 256KiB, perc-h730, 1 hot spare, drive write cache off",
        ["of several models: ST4000NM0025 (3), HUS726T4TAL 5204 (1)", "reads ahead"],
    ),
    ("megacli.txt", None): ("4x generic-10k raid10, strip 64KiB", ["SEAGATE ST600MM0006 is not in the catalogue"]),
    ("ssacli.txt", None): (
        "3x generic-10k raid5, strip 256KiB, smart-array-p408i, 1 hot spare, drive write cache off",
        ["HP EG1200JEMDA is not in the catalogue"],
    ),
    ("arcconf.txt", None): (
        "4x generic-7k2-2015 raid10, strip 256KiB, 1GiB cache, drive write cache off",
        ["the controller Adaptec ASR8805 is not in the catalogue"],
    ),
    ("zpool-list.txt", None): ("1x6 DRIVE raidz2", ["logs are left out"]),
    ("lsblk.json", None): ("3x generic-7k2-2015 raid5, linux-md", ["neither the strip nor missing disks"]),
}  # fmt: skip


@pytest.mark.parametrize(("names", "array"), WORDS, ids=str)
def test_words_and_notes(names: str, array: str | None) -> None:
    words, notes = WORDS[names, array]
    found = read_described([FILES / name for name in names.split()], array)
    assert found.words.startswith(words)
    for part in notes:
        assert any(part in note for note in (*found.notes, *found.word_notes)), part
    if found.array is not None and not found.word_notes:
        assert Array.from_words(found.words).layout == found.array.layout


def test_the_array_loads_and_has_what_is_failed(tmp_path: Path) -> None:
    out = tmp_path / "array.toml"
    done = run("array", FILES / "storcli.txt", "--out", out)
    assert f"written to {out}".replace(" ", "") in "".join(done.stdout.replace("\\\n", "").split())
    found = Array.load(out)
    assert (found.layout.failed, found.layout.spares, found.layout.strip_bytes) == ((2,), 2, 256 << 10)
    assert found.layout.rebuild is not None
    assert found.layout.rebuild.disk == 2
    assert found.drive.capacity_bytes == pytest.approx(4e12, rel=1e-3)
    assert found.controller.write_cache is not None
    assert found.drive_write_cache is False


def test_a_drive_that_is_named_and_json() -> None:
    found = json.loads(run("array", FILES / "zpool-list.txt", "--drive", "toshiba-mg08aca16te", "--json").stdout)
    assert found["words"] == "1x6 toshiba-mg08aca16te raidz2"
    assert found["array"]["layout"] == {"level": "raidz2", "disks": 6, "vdevs": 1, "failed": [2]}
    assert found["array_shown"]["failed"] == [2]
    found = json.loads(run("array", FILES / "mdstat.txt", FILES / "lsblk.json", "--name", "md0", "--json").stdout)
    assert found["array_shown"]["members"][0]["model"] == "ST4000NM0035-1V4107"
    assert found["array"]["controller"] == "linux-md"


def test_other_commands_take_such_a_file() -> None:
    load = ("--reads", "70%", "--block", "8k", "--iops", "20", "--requests", "500", "--only-run-noise")
    done = run("simulate", FILES / "storcli.txt", *load)
    assert "raid6" in done.stdout
    assert "ST4000NM0025 is not in the catalogue" in done.stderr
    assert "does not show the drive; name it with --drive" in refusal("simulate", FILES / "detail.txt", *load)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mdstat.txt",), "--name: is required: there are several arrays; one of md0, md1, md2"),
        (("mdstat.txt", "--name", "md9"), "is in none of the files; it is one of md0"),
        (("detail.txt", "--out", "x.toml"), "needs the drive, which no file shows"),
        (("../iostat.txt",), "shows no array"),
    ],
)
def test_what_cannot_be(words: tuple[str, ...], message: str) -> None:
    first, *rest = words
    assert message in refusal("array", FILES / first, *rest)


def test_json_of_storcli_is_the_same() -> None:
    (text,) = volumes("storcli.txt")
    drives = [
        {"EID:Slt": f"32:{n}", "State": "Rbld" if n == 2 else "GHS" if n == 4 else "Onln", "DG": 0 if n < 4 else "-",
         "Size": "3.638 TB", "Intf": "SAS", "Med": "HDD", "Model": "HUS726T4TAL 5204" if n == 3 else "ST4000NM0025"}
        for n in range(5)
    ]  # fmt: skip
    data = {
        "Product Name": "PERC H730 Mini",
        "HwCfg": {"On Board Memory Size": "1024MB"},
        "VD LIST": [
            {"DG/VD": "0/0", "TYPE": "RAID6", "State": "Dgrd", "Cache": "RWBD", "Size": "7.276 TB", "Name": "data"}
        ],
        "PD LIST": drives,
        "VD0 Properties": {"Strip Size": "256 KB", "Span Depth": 1, "Disk Cache Policy": "Disabled"},
    }  # fmt: skip
    document = {"Controllers": [{"Command Status": {"CLI Version": "007"}, "Response Data": data}]}
    assert read_storcli(json.dumps(document), "x") == [text]


@pytest.mark.parametrize(
    ("line", "level", "n"),
    [
        ("md0 : active raid0 sdb[1] sda[0]\n      100 blocks super 1.2 64k chunks\n", "raid0", 2),
        ("md0 : active linear sdb[1] sda[0]\n      100 blocks super 1.2 0k rounding\n", "jbod", 2),
        ("md0 : active raid1 sdb[1](W) sda[0] sdc[2](S)\n      100 blocks [2/2] [UU]\n", "raid1", 2),
        (
            "md0 : active raid5 sdc[3] sda[0]\n      100 blocks level 5, 64k chunk, algorithm 0 [3/2] [U_U]\n",
            "raid5",
            3,
        ),
    ],
)
def test_other_arrays_of_md(line: str, level: str, n: int) -> None:
    (found,) = volumes("mdstat", f"Personalities : [raid1]\n{line}")
    assert (found.level, len(found.members)) == (level, n)


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("mdstat", "Personalities : []\nunused devices: <none>\n", "without an active array"),
        ("mdstat", "md0 : active multipath sda[0]\n      8 blocks\n", "has the level multipath, which is not modeled"),
        ("storcli", "Virtual Drives = 1\nVD LIST :\n===\n-----------\nDG/VD TYPE State Size Name\n-----------\n"
                    "0/0 RAID6 Optl 43.655 TB VD0\n-----------\n", "lists no drive of VD 0"),
        ("megacli", "Virtual Drive: 0 (Target Id: 0)\nRAID Level : Primary-5, Secondary-0\n", "shows no drives"),
        ("arcconf", "Controllers found: 1\nLogical Device number 0\n   RAID level : 5\n", "lists no disk"),
        ("ssacli", "Smart Array P440 in Slot 1\n", "without a logical drive"),
    ],
)  # fmt: skip
def test_too_little_is_refused(kind: str, text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        arrays.read_arrays(text, "x", kind)


def test_damaged_files_are_read_or_refused() -> None:
    rng = random.Random(20261128)
    for name in (
        "mdstat.txt",
        "detail.txt",
        "storcli.txt",
        "megacli.txt",
        "ssacli.txt",
        "arcconf.txt",
        "zpool-list.txt",
    ):
        for _ in range(15):
            check_damaged(name, rng)


def check_damaged(name: str, rng: random.Random) -> None:
    """Read a sample with lines left out, doubled or changed; anything but a clear refusal is a fault."""
    from diskmodel.formats.pools.listing import is_list, pools_of_list

    lines = (FILES / name).read_text().split("\n")
    for _ in range(rng.randint(1, 6)):
        place = rng.randrange(len(lines))
        what = rng.randrange(4)
        if what == 0:
            del lines[place]
            lines = lines or [""]
        elif what == 1:
            lines.insert(place, lines[place])
        elif what == 2 and lines[place]:
            cut = rng.randrange(len(lines[place]))
            lines[place] = (
                lines[place][:cut] + rng.choice(("", "\t", "9" * 30, "-", ":", "é", "%")) + lines[place][cut + 1 :]
            )
        else:
            lines[place] = lines[rng.randrange(len(lines))]
    text = "\n".join(lines)
    kind = arrays.kind_of(text)
    try:
        if kind is not None:
            for volume in arrays.read_arrays(text, name, kind):
                assert volume.members
        elif is_list(text):
            pools_of_list(text, name)
    except InputError:
        return


def test_kinds_are_detected() -> None:
    found = {path.name: detect_evidence(path) for path in sorted(FILES.iterdir())}
    assert found == {
        "arcconf.txt": "arcconf", "detail.txt": "mdadm-detail", "lsblk.json": "lsblk", "mdstat.txt": "mdstat",
        "megacli.txt": "megacli", "ssacli.txt": "ssacli", "storcli.txt": "storcli", "zpool-list.txt": "zpool-list",
    }  # fmt: skip


def test_an_array_that_is_shown_twice_is_named() -> None:
    twice = FILES / "mdstat.txt"
    found = read_described([twice, twice], "md0", "generic-15k")
    assert any("is shown twice" in note for note in found.notes)
    with pytest.raises(DescriptionError, match="show drives, and no array"):
        read_described([DATA / "lsblk.json"])
