"""The lab: interactive pages that show curves, the moving head of a disk, and a quiz."""

from typing import TYPE_CHECKING

from diskmodel.lab.animation import commits_page, schedulers_page, small_write_page
from diskmodel.lab.recording import DiskRecord, Movement, Recording, record
from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.lab.drives import set_own_drives
    from diskmodel.lab.exercises import grade, solved_lesson
    from diskmodel.lab.exercises.notebook import notebook, otter_test
    from diskmodel.lab.exercises.sheet import class_page

__all__ = ["DiskRecord", "Movement", "Recording", "commits_page", "record", "schedulers_page", "small_write_page"]

__getattr__ = face(
    __name__,
    {
        "drives": "set_own_drives",
        "exercises": "grade solved_lesson",
        "exercises.notebook": "notebook otter_test",
        "exercises.sheet": "class_page",
    },
)
