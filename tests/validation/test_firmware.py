"""Three drives with published queue depths: what their firmware's parameters predict of a drive that was left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.validation import firmware

#: The best of the grid for each drive's two companions, as the page has them.
LEFT_OUT = {
    "Samsung F1": (2_500_000, 0.1, 1),
    "2.5-inch disk behind a P420i": (2_000_000, 0.05, 3),
    "WD Raptor": (2_000_000, 0.05, 2),
}


#: The best of the grid for all three.
COMMON = (2_000_000, 0.05, 2)


def test_one_set_of_parameters_fits_all_drives_better_than_any_other_order() -> None:
    def misfits(queue: dict[str, Any]) -> np.ndarray[Any, Any]:
        return np.array([sweep.misfit(queue) for sweep in firmware.sweeps()])

    common = misfits(firmware.rpo(COMMON))
    assert common.max() < 0.15
    others = [misfits({"scheduler": name}) for name in firmware.OTHERS]
    assert np.hypot.reduce(common) < min(np.hypot.reduce(other) for other in others) / 2


@pytest.mark.parametrize("sweep", firmware.sweeps(), ids=lambda sweep: sweep.name)
def test_the_other_drives_predict_the_one_left_out(sweep: firmware.Sweep) -> None:
    """Fitted on two drives: better than ideal ordering, except where that is nearly right."""
    predicted = sweep.misfit(firmware.rpo(LEFT_OUT[sweep.name]))
    assert predicted < 0.21
    assert predicted < sweep.misfit({"scheduler": "sptf"}) + 0.02


@pytest.mark.slow
@pytest.mark.long
def test_the_page_is_what_the_script_writes() -> None:
    assert firmware.PAGE.read_text(encoding="utf-8") == firmware.page()
