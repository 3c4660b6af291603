"""How well a drive predicts what was measured and not fitted."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from calibrate.score.against_measurement import conditions_of, repeat
    from calibrate.score.against_trace import replay
    from calibrate.score.held_out import (
        N_REQUESTS,
        PERCENTILES,
        choose_held_out,
        contradiction,
        held_out_report,
        nothing_held_out,
    )
    from calibrate.score.mixes import mixes_of, mixes_report

__getattr__ = face(
    __name__,
    {
        "against_measurement": "conditions_of repeat",
        "against_trace": "replay",
        "held_out": "N_REQUESTS PERCENTILES choose_held_out contradiction held_out_report nothing_held_out",
        "mixes": "mixes_of mixes_report",
    },
)
