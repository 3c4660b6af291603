"""Programs that show arrays, by name, and which one a text is from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from diskmodel.formats.arrays import arcconf, mdadm, megacli, ssacli, storcli
from diskmodel.formats.arrays.volume import Volume
from diskmodel.formats.faults import file_error


@dataclass(frozen=True)
class Program:
    """One program.

    Attributes
    ----------
    kind : str
    what : str
        What a file of it is, in words that follow "is".
    looks_like : callable
        Whether a text is one.
    reader : callable
        Takes the text and the file's name.
    """

    kind: str
    what: str
    looks_like: Callable[[str], bool]
    reader: Callable[[str, str], list[Volume]]

    def read(self, text: str, source: str) -> list[Volume]:
        """Return the arrays in a text.

        Raises
        ------
        FormatError
            When it shows none, or one without its disks.
        """
        found = self.reader(text, source)
        for volume in found:
            if not volume.members:
                raise file_error(source, f"lists no disk of {volume.name}", "give the whole output of the program")
        return found


#: By kind; a text that two take is the earlier's.
PROGRAMS: dict[str, Program] = {
    program.kind: program
    for program in (
        Program("mdstat", "output of cat /proc/mdstat", mdadm.is_mdstat, mdadm.read_mdstat),
        Program("mdadm-detail", "output of mdadm --detail", mdadm.is_detail, mdadm.read_detail),
        Program("storcli", "output of storcli or perccli", storcli.is_storcli, storcli.read_storcli),
        Program("megacli", "output of MegaCli", megacli.is_megacli, megacli.read_megacli),
        Program("ssacli", "output of ssacli or hpssacli", ssacli.is_ssacli, ssacli.read_ssacli),
        Program("arcconf", "output of arcconf", arcconf.is_arcconf, arcconf.read_arcconf),
    )
}

KINDS = tuple(PROGRAMS)


def kind_of(text: str) -> str | None:
    """Which of the programs wrote a text, or None."""
    return next((kind for kind, program in PROGRAMS.items() if program.looks_like(text)), None)
