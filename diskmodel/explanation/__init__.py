"""Why a measurement differs from what an array should do: expected and measured figures, and the causes that fit."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.explanation.exercise import solved_exercises
    from diskmodel.explanation.said import EXAMPLES, measured_in_words
    from diskmodel.explanation.show.report import save_report

__getattr__ = face(
    __name__,
    {
        "exercise": "solved_exercises",
        "said": "EXAMPLES measured_in_words",
        "show.report": "save_report",
    },
)
