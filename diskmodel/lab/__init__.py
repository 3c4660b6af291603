"""The lab: interactive pages that show curves, the moving head of a disk, and a quiz."""

from diskmodel.lab.animation import commits_page, schedulers_page, small_write_page
from diskmodel.lab.recording import DiskRecord, Movement, Recording, record

__all__ = ["DiskRecord", "Movement", "Recording", "commits_page", "record", "schedulers_page", "small_write_page"]
