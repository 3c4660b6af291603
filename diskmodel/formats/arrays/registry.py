"""Programs that show arrays, by name, and which one a text is from."""

from __future__ import annotations

from diskmodel.formats.arrays import arcconf, mdadm, megacli, ssacli, storcli
from diskmodel.formats.arrays.volume import Volume
from diskmodel.formats.faults import file_error
from diskmodel.formats.programs import Program, by_kind, kind_among

PROGRAMS: dict[str, Program[list[Volume]]] = by_kind(
    Program("mdstat", "output of cat /proc/mdstat", mdadm.is_mdstat, mdadm.read_mdstat),
    Program("mdadm-detail", "output of mdadm --detail", mdadm.is_detail, mdadm.read_detail),
    Program("storcli", "output of storcli or perccli", storcli.is_storcli, storcli.read_storcli),
    Program("megacli", "output of MegaCli", megacli.is_megacli, megacli.read_megacli),
    Program("ssacli", "output of ssacli or hpssacli", ssacli.is_ssacli, ssacli.read_ssacli),
    Program("arcconf", "output of arcconf", arcconf.is_arcconf, arcconf.read_arcconf),
)

KINDS = tuple(PROGRAMS)


def kind_of(text: str) -> str | None:
    """Which of the programs wrote a text, or None."""
    return kind_among(PROGRAMS, text)


def read_arrays(text: str, source: str, kind: str) -> list[Volume]:
    """Return the arrays in the output of a program.

    Raises
    ------
    FormatError
        When it shows none, or one without its disks.
    """
    found = PROGRAMS[kind].read(text, source)
    for volume in found:
        if not volume.members:
            raise file_error(source, f"lists no disk of {volume.name}", "give the whole output of the program")
    return found
