"""Arrays in words, and what arrays, workloads and results say of themselves."""

from __future__ import annotations

import pytest

from diskmodel import Array, Workload, simulate
from diskmodel.errors import DescriptionError

MIB = 1 << 20
LOAD = Workload.parse({"size": "8 KiB", "read_ratio": 0.7, "rate": "100/s"})


def test_caches_and_strip_follow_after_commas() -> None:
    array = Array.from_words("8x generic-15k raid5, 256 MiB write cache, 1GiB read cache, strip 256KiB")
    assert array.controller.write_cache is not None
    assert array.controller.read_cache is not None
    assert (array.controller.write_cache.size_bytes, array.controller.read_cache.size_bytes) == (256 * MIB, 1024 * MIB)
    assert array.layout.strip_bytes == 256 * 1024
    short = Array.from_words("8x generic-15k raid5, 256MiB cache").controller
    assert (short.write_cache, short.read_cache) == (array.controller.write_cache, None)


def test_a_single_disk() -> None:
    for words in ("generic-15k", "generic-15k single", "1x generic-15k single"):
        layout = Array.from_words(words).layout
        assert (layout.level, layout.disks) == ("jbod", 1)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("8x generic-15k raid5, 3 bananas", "has '3 bananas' beside drives and level; after a comma write for example"),
        ("8x generic-15k raid5, much cache", "must be a number with a unit"),
        ("2x6 generic-7k2 raid6", "as only pools do"),
        ("2x6 generic-7k2", "as only pools do"),
        ("12x generic-7k2 raidz4", "has one to three parities; use raidz1, raidz2 or raidz3"),
        ("12x generic-7k2 draid4", "has one to three parities; use draid1, draid2 or draid3"),
        ("12x generic-7k2 draid10:8d", "is no vdev of OpenZFS"),
        ("12x generic-7k2 RAID-Z 0", "is no vdev of OpenZFS"),
        ("12x generic-7k2 draid2:4d:11c:1s", "differs from draid2:4d:11c:1s"),
        ("12x generic-7k2 raid7", "did you mean"),
        ("generic-7k2 raid5", "does not say how many drives"),
    ],
)
def test_other_words_are_refused(words: str, said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        Array.from_words(words)
    assert said in str(caught.value)
    if "OpenZFS" in said:
        assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "shape", "record_bytes"),
    [
        ("12x generic-7k2 raidz2", ("raidz2", 1, 12), 128 << 10),
        ("12x generic-7k2 RAID-Z", ("raidz1", 1, 12), 128 << 10),
        ("2x6 generic-7k2 raidz2, record 8KiB", ("raidz2", 2, 6), 8 << 10),
        ("3 x 2 generic-7k2 in mirror, recordsize 16 KiB, ashift 13", ("mirror", 3, 2), 16 << 10),
        ("3x2 generic-7k2 zmirror", ("mirror", 3, 2), 128 << 10),
    ],
)
def test_pools_of_openzfs(words: str, shape: tuple[str, int, int], record_bytes: int) -> None:
    layout = Array.from_words(words).layout
    assert (layout.level, layout.n_groups, layout.group_disks) == shape
    assert layout.pool_record_bytes == record_bytes
    assert layout.pool_ashift == (13 if "ashift" in words else 12)


def test_python_takes_the_words_of_commands() -> None:
    array = Array("8x generic-15k raid5, 1GiB cache", strip="256 KiB")
    assert array == Array.from_words("8x generic-15k raid5, 1GiB cache").model_copy(update={"layout": array.layout})
    assert array.layout.strip_bytes == 256 * 1024
    assert Array("generic-15k", "raid5", 8).layout == Array("8x generic-15k raid5").layout


def test_everything_prints_in_a_few_lines() -> None:
    array = Array("8x generic-15k raid5")
    result = simulate(array, LOAD, n_requests=2_000, profile_draws=0)
    assert repr(result).startswith("<Result: ")
    assert f"{result.n_requests:,} requests" in repr(result)
    for text in (str(array), str(LOAD), repr(array), repr(LOAD), repr(result)):
        assert len(text) < 300
    assert "8 × Generic 15k rpm SAS in raid5" in str(array)


def test_an_unknown_field_of_a_copy_is_refused() -> None:
    with pytest.raises(DescriptionError, match="disks: is not a field of Array; it is a field of layout"):
        Array("8x generic-15k raid5").model_copy(update={"disks": 10})


def test_a_layout_of_storage_spaces_is_a_level_with_its_interleave() -> None:
    levels = {"simple": ("raid0", None), "mirror": ("raid10", None), "three-way mirror": ("raid10", 3)}
    for name, (level, copies) in levels.items():
        layout = Array.from_words(f"12x generic-7k2 in a Storage Spaces {name}, drive caches off").layout
        assert (layout.level, layout.copies, layout.strip_bytes) == (level, copies, 256 << 10)
    with pytest.raises(DescriptionError, match="journal of its own"):
        Array.from_words("8x generic-7k2 storage spaces parity")


@pytest.mark.parametrize("end", [" on p410", ", perc h710", ", LSI 9271-8i", " behind a Smart Array P420i"])
def test_a_controller_that_is_not_known_is_answered_by_those_that_are(end: str) -> None:
    with pytest.raises(
        DescriptionError, match=r'is not a controller in the catalogue; write .* "1GiB cache", or .*perc-h730'
    ):
        Array.from_words(f"12x generic-10k raid5{end}")


@pytest.mark.parametrize(
    ("words", "vdevs", "level"),
    [
        ("24x exos-x20 as 3x raidz2 of 8", (3, 8), "raidz2"),
        ("24 exos-x20 3x 8-wide raidz2, log on p5810", (3, 8), "raidz2"),
        ("3x raidz2 of 8x exos-x20", (3, 8), "raidz2"),
        ("3x 8-wide RAIDZ2 exos-x20", (3, 8), "raidz2"),
        ("12x exos-x18 in 2 raidz2 vdevs", (2, 6), "raidz2"),
        ("6x2 exos-x18 mirrors", (6, 2), "mirror"),
        ("4x2 exos-x18 mirrors, record 16KiB", (4, 2), "mirror"),
        ("12x exos-x18 mirrors", (6, 2), "mirror"),
        ("12x exos-x18 striped mirrors", (6, 2), "mirror"),
        ("12x exos-x18 3-way mirrors, record 16k", (4, 3), "mirror"),
        ("3x exos-x18 mirrors", (1, 3), "mirror"),
        ("4x 990 pro mirrors", (2, 2), "mirror"),
        ("6x ironwolf 8 raidz2", (1, 6), "raidz2"),
    ],
)
def test_vdevs_in_words(words: str, vdevs: tuple[int, int], level: str) -> None:
    layout = Array.from_words(words).layout
    assert (layout.n_groups, layout.disks // layout.n_groups, layout.level) == (*vdevs, level)


def test_vdevs_that_do_not_add_up() -> None:
    with pytest.raises(
        DescriptionError, match=r'24 disks, which are not 3 vdevs of 7; write for example "3x7 exos-x20 raidz2"'
    ):
        Array.from_words("24x exos-x20 3x raidz2 of 7")


def test_an_array_in_words_has_an_end() -> None:
    with pytest.raises(DescriptionError, match="has more than 500 letters; give a file"):
        Array.from_words("1x a" + " c" * 400)


@pytest.mark.parametrize(
    ("words", "disks", "name"),
    [
        ("2x 980 pro mirror", 2, "Samsung 980 PRO 1 TB"),
        ("2x 870 evo 1tb raid1", 2, "Samsung 870 EVO 1 TB"),
        ("3x 7450 pro 1920 raid5", 3, "Micron 7450 PRO 1.92 TB"),
        ("2x6 870-evo raidz1", 12, "Samsung 870 EVO 1 TB"),
        ("2x2 990 pro mirror", 4, "Samsung 990 PRO 1 TB"),
        ("2x 16 exos-x16 raidz2", 32, "Seagate Exos X16 ST16000NM001G 16 TB"),
        ("8 exos-x18 in a RAID 10", 8, "Seagate Exos X18 ST18000NM000J 18 TB"),
    ],
)
def test_numbers_that_are_names(words: str, disks: int, name: str) -> None:
    array = Array.from_words(words)
    assert (array.layout.disks, array.drive.name) == (disks, name)


@pytest.mark.parametrize("end", ["strip 512KiB", "chunk 512k", "stripe size of 512 KiB", "chunk size 512K"])
def test_strips_by_other_names(end: str) -> None:
    assert Array.from_words(f"8x exos-x18 raid6, {end}").layout.strip_bytes == 512 << 10


@pytest.mark.parametrize(
    "end", ["2GB cache", "BBU 2GB cache", "write-back cache 2GB", "a battery-backed cache of 2 GB"]
)
def test_caches_as_makers_write_them(end: str) -> None:
    cache = Array.from_words(f"8x exos-x18 raid6, {end}").controller.write_cache
    assert cache is not None
    assert cache.size_bytes == 2_000_000_000
