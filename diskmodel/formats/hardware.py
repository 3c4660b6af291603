"""smartctl and lsblk: what a machine knows about its drives, as the start of a drive profile.

Serial numbers and world-wide names are never taken over.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from diskmodel.errors import Fault, FormatError
from diskmodel.formats.faults import file_error
from diskmodel.formats.opening import read_document
from diskmodel.limits import parse_json
from diskmodel.loading import dataclass

KINDS = ("smartctl", "lsblk")

#: Largest capacity that is read, bytes. Anything larger is damage, and sums of it would overflow int64.
_MAX_BYTES = 2**62


@dataclass(frozen=True)
class DriveFacts:
    """What is known about a drive before it is measured; None where the program does not report it.

    Attributes
    ----------
    device : str
        For instance "/dev/sda".
    model : str or None
    capacity_bytes : int or None
    is_rotational : bool or None
        lsblk's word is what the kernel believes: virtual disks often claim to rotate.
    rpm : int or None
        None for flash and where unknown.
    logical_sector_bytes, physical_sector_bytes : int or None
    interface : str or None
        For instance "SATA", "NVMe", "SAS".
    form_factor : str or None
    """

    device: str
    model: str | None = None
    capacity_bytes: int | None = None
    is_rotational: bool | None = None
    rpm: int | None = None
    logical_sector_bytes: int | None = None
    physical_sector_bytes: int | None = None
    interface: str | None = None
    form_factor: str | None = None

    def known(self) -> dict[str, Any]:
        """The facts that are known, by name."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def read_drive_facts(path: str | Path) -> list[DriveFacts]:
    """Facts of the drives in an output of `smartctl -j -i` (one drive) or `lsblk -J -b -o …` (all disks).

    Raises
    ------
    FormatError
        When it cannot be read, is neither, or has a value of the wrong kind.
    """
    return facts_of_text(read_document(path), str(path))


def facts_of_text(text: str, source: str = "") -> list[DriveFacts]:
    """As `read_drive_facts`, for text already in memory."""
    try:
        document = parse_json(text)
    except (ValueError, RecursionError) as error:
        raise file_error(source, f"is not valid JSON: {error}", "use smartctl -j or lsblk -J") from None
    kind = kind_of(document)
    if kind == "smartctl":
        return [_smartctl(document, source)]
    if kind == "lsblk":
        return _lsblk(document, source)
    raise file_error(source, "is neither an output of smartctl -j nor of lsblk -J")


def kind_of(document: object) -> str | None:
    """Which of the two a parsed document is, or None."""
    if isinstance(document, Mapping):
        if "smartctl" in document:
            return "smartctl"
        if isinstance(document.get("blockdevices"), list):
            return "lsblk"
    return None


class _Fields:
    """Takes values of a document and collects what is wrong."""

    def __init__(self, data: Mapping[str, Any], place: str) -> None:
        self._data, self._place = data, place
        self.faults: list[Fault] = []

    def whole(self, *path: str, low: int = 1, high: int = _MAX_BYTES) -> int | None:
        value = self._get(path)
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
            value = int(value)  # lsblk before 2.33 put numbers into quotes
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.faults.append(
                Fault(
                    self._name(path),
                    value,
                    f"must be a whole number from {low} to {high}",
                    "use lsblk -b for bytes" if path == ("size",) else "",
                )
            )
            return None
        return value

    def text(self, *path: str) -> str | None:
        value = self._get(path)
        return value.strip() or None if isinstance(value, str) else None

    def flag(self, *path: str) -> bool | None:
        value = self._get(path)
        if value in (True, "1"):
            return True
        return False if value in (False, "0") else None

    def _get(self, path: tuple[str, ...]) -> Any:
        value: Any = self._data
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value

    def _name(self, path: tuple[str, ...]) -> str:
        return ".".join((self._place, *path)).lstrip(".")


def _smartctl(document: Mapping[str, Any], source: str) -> DriveFacts:
    fields = _Fields(document, "")
    messages = document.get("smartctl")
    listed = messages.get("messages", []) if isinstance(messages, Mapping) else []
    said = [
        str(message.get("string"))
        for message in (listed if isinstance(listed, list) else [])
        if isinstance(message, Mapping) and message.get("severity") == "error"
    ]
    if said and "user_capacity" not in document and "nvme_total_capacity" not in document:
        raise file_error(source, f"holds no drive; smartctl said: {'; '.join(said)}", "run it as root, with -d TYPE")
    rate = fields.whole("rotation_rate", low=0, high=100_000)
    protocol = fields.text("device", "protocol")
    facts = DriveFacts(
        device=fields.text("device", "name") or "",
        model=fields.text("model_name") or fields.text("scsi_model_name") or fields.text("scsi_product"),
        capacity_bytes=fields.whole("user_capacity", "bytes") or fields.whole("nvme_total_capacity"),
        is_rotational=rate > 0 if rate is not None else (False if protocol == "NVMe" else None),
        rpm=rate or None,
        logical_sector_bytes=fields.whole("logical_block_size"),
        physical_sector_bytes=fields.whole("physical_block_size"),
        interface="SATA" if fields.text("sata_version", "string") else protocol,
        form_factor=fields.text("form_factor", "name"),
    )
    if fields.faults:
        raise FormatError(fields.faults, source)
    return facts


def _lsblk(document: Mapping[str, Any], source: str) -> list[DriveFacts]:
    found: list[DriveFacts] = []
    faults: list[Fault] = []
    for number, entry in enumerate(document["blockdevices"]):
        if not isinstance(entry, Mapping):
            faults.append(Fault(f"blockdevices.{number}", None, "must be an object"))
            continue
        fields = _Fields(entry, f"blockdevices.{number}")
        if entry.get("type", "disk") != "disk" or entry.get("size") in (0, "0", "0B"):
            continue
        name = fields.text("path") or fields.text("name") or ""
        found.append(
            DriveFacts(
                device=name if name.startswith("/") else f"/dev/{name}",
                model=fields.text("model"),
                capacity_bytes=fields.whole("size"),
                is_rotational=fields.flag("rota"),
                logical_sector_bytes=fields.whole("log-sec"),
                physical_sector_bytes=fields.whole("phy-sec"),
                interface=fields.text("tran"),
            )
        )
        faults += fields.faults
    if faults:
        raise FormatError(faults, source)
    if not found:
        raise file_error(source, "lists no disk")
    return found
