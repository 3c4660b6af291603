"""Drives and controllers by the names that people and systems give them."""

from __future__ import annotations

import pytest

from diskmodel import Array, catalogue
from diskmodel.controller.catalogue import load_controller, profiles
from diskmodel.drive import load_drive
from diskmodel.errors import DescriptionError
from diskmodel.naming.matching import close_to, meant
from tests.unit.cli.commands import answer, run


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("exos-x16", "seagate-exos-x16"),
        ("Exos X16", "seagate-exos-x16"),
        ("SEAGATE_EXOS_X16", "seagate-exos-x16"),
        ("Exos X16 16TB", "seagate-exos-x16"),
        ("ST16000NM001G", "seagate-exos-x16"),
        ("exos-10e2400-1200", "seagate-exos-10e2400-1200"),
        ("ata-ST16000NM001G-2KK103", "seagate-exos-x16"),
        ("WDC WD40EFRX-68N32N0", "wd-red-wd40efrx"),
        ("TOSHIBA MG08ACA16TE", "toshiba-mg08aca16te"),
        ("IronWolf 8TB", "seagate-ironwolf-8"),
        ("IronWolf Pro", "seagate-ironwolf-pro-20"),
        ("WD Red Plus", "wd-red-plus-8"),
        ("TOSHIBA_HDWG480", "toshiba-n300-8"),
        ("WD Purple", "wd-purple-8"),
        ("WD Blue 6TB", "wd-blue-6"),
        ("X300", "toshiba-x300-8"),
        ("SAMSUNG MZQLB1T9HAJR-00007", "samsung-pm983-1920"),
        ("Micron_7450_MTFDKCC1T9TFR", "micron-7450-pro-1920"),
    ],
)
def test_one_drive_is_meant(text: str, name: str) -> None:
    assert load_drive(text) == catalogue()[name]


def test_every_drive_is_found_by_its_name_and_its_own_words() -> None:
    for name, title in catalogue().titles.items():
        assert catalogue().name_of(name) == name
        assert name in meant(title, catalogue().titles), title


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gold", "fits several drives in the catalogue; write one of wd-gold-12, wd-gold-24"),
        ("exos", "seagate-exos-x18 and"),
        ("ST14000NM001G", "did you mean seagate-exos-x16"),
        ("generic-15", "did you mean generic-15k"),
        ("nearline", "is a kind of drives: choose one from `diskmodel drives --kind nearline`"),
        ("", "is neither a file nor a drive"),
        ("---", "is neither a file nor a drive"),
        ("12345678", "is neither a file nor a drive"),
        ("ssd", "did you mean"),
        ("WD Black", "did you mean wd-black-sn850x-1tb"),
        ("SATA SSD", "is neither a file nor a drive"),
        ("kingston", "did you mean kingston-dc600m-960"),
    ],
)
def test_what_is_not_clear_is_refused_with_names(text: str, said: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        catalogue()[text]
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("words", "name", "level", "disks"),
    [
        ("8x Seagate Exos X16 raid6", "seagate-exos-x16", "raid6", 8),
        ("8 x ST16000NM001G-2KK103 in RAID 6", "seagate-exos-x16", "raid6", 8),
        ("12x Exos X18 RAID 1+0, strip 256kib", "seagate-exos-x18", "raid10", 12),
        ("2x6 Exos X18 raidz2, record 16kib", "seagate-exos-x18", "raidz2", 12),
        ("12x Exos X18 draid2:8d:12c:1s", "seagate-exos-x18", "draid2", 12),
        ("1x exos x18", "seagate-exos-x18", "jbod", 1),
    ],
)
def test_words_of_an_array_name_a_drive_in_several_words(words: str, name: str, level: str, disks: int) -> None:
    array = Array.from_words(words)
    assert (array.drive, array.layout.level, array.layout.disks) == (catalogue()[name], level, disks)


def test_words_beside_the_level_follow_commas_or_prepositions() -> None:
    commas = Array.from_words("8x generic-7k2 raid6, H730, 2 hot spares")
    assert commas.layout.spares == 2
    for words in (
        "8x generic-7k2 raid6 behind a PERC H730 with 2 hot spares",
        "8x generic-7k2 RAID 6 with H730 + 2 spares",
        "8x generic-7k2 RAID 6 H730, 2 spares",
    ):
        assert Array.from_words(words).model_copy(update={"name": commas.name}) == commas
    cached = Array.from_words("8x generic-7k2 raid6 with 1GiB cache").controller.write_cache
    assert cached is not None
    assert cached.size_bytes == 1 << 30
    assert Array.from_words("4x generic-7k2 raid 1 + 0").layout.level == "raid10"
    pool = Array.from_words("6x exos-x16 raidz2 record 1MiB").layout
    assert (pool.level, pool.pool_record_bytes) == ("raidz2", 1 << 20)
    with pytest.raises(DescriptionError, match="has 'one of them slow' beside drives and level"):
        Array.from_words("8x generic-7k2 raid 6 one of them slow")


def test_controllers() -> None:
    for text in ("h730", "H730", "PERC H730", "perc_h730"):
        assert load_controller(text) == profiles()["perc-h730"].controller
    for text, name in (("P408i-a", "smart-array-p408i"), ("MegaRAID 9460", "megaraid-9460-8i"), ("H755", "perc-h755")):
        assert load_controller(text) == profiles()[name].controller, text
    with pytest.raises(DescriptionError, match="is not a controller in the catalogue"):
        load_controller("perc")
    assert Array.from_words("8x generic-7k2 raid6, H730").controller == profiles()["perc-h730"].controller
    with pytest.raises(DescriptionError, match="beside drives and level"):
        Array.from_words("8x generic-7k2 raid6, 1 GB of it")
    with pytest.raises(DescriptionError, match="as only volumes of a cloud do"):
        Array.from_words("8x generic-7k2 raid6, 1 GB")


def test_no_word_of_a_title_alone_is_a_model_number() -> None:
    known = {"a": "Maker Series 10 TB", "b": "Maker Series AB1000C 20 TB"}
    assert meant("AB1000C-99X", known) == ["b"]
    assert meant("series", known) == ["a", "b"]
    assert meant("10tb", known) == ["a"]
    assert close_to("AB1000D", known) == ["b"]


def test_the_command_shows_a_drive_by_its_model_number() -> None:
    assert "Seagate Exos X16" in run("drives", "ST16000NM001G-2KK103").stdout
    assert answer("drives", "WD40EFRX-68N32N0")["rpm"] == 5400.0
