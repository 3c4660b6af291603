"""The page of a calibration: everything that was found, and what is not to be relied on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from calibrate.calibration import Calibration
from calibrate.evidence.cells import Cells
from calibrate.flash.calibrate import Known, calibrate_flash
from calibrate.parameter_text import shown
from calibrate.report import report_html
from tests.calibrate.virtual_disk.server_truth import KEYS, any_server, measured

READS = tuple(key for key in KEYS if key.op == "read")


@pytest.fixture(scope="module")
def result() -> Calibration:
    rng = np.random.default_rng(1)
    cells: Cells = measured(any_server(rng), rng, noise_ratio=0.02, repetitions=2, keys=READS[:7])
    return calibrate_flash(cells, Known("<disk>", 1 << 30, 1 << 30), provenance={}, warnings=["a & b"])


def page(result: Calibration) -> str:
    return report_html(result.to_dict(), result.report["residuals"], title=f"Calibration of {result.drive.name}")


def test_every_parameter_and_every_condition_is_on_it(result: Calibration, tmp_path: Path) -> None:
    text = page(result)
    for name, parameter in result.parameters.items():
        assert f"<td>{name}</td>" in text
        assert f'<td class="n">{shown(parameter.to_dict())[0]}</td>' in text
    for row in result.report["residuals"]:
        assert row["what"] in text
    assert result.held_out["what"] in text
    assert text.count("<svg") == 2
    assert text.count("<b>not identified</b>") == sum(not p.is_identified for p in result.parameters.values())


def test_names_are_escaped(result: Calibration) -> None:
    text = page(result)
    assert "Calibration of &lt;disk&gt;" in text
    assert "<disk>" not in text
    assert "a &amp; b" in text


def test_a_fit_that_has_not_converged_says_so(result: Calibration) -> None:
    assert "has not converged" not in page(result)
    assert "The fit has not converged: do not rely on this profile." in page(replace(result, has_converged=False))


def test_no_held_out_data_and_no_residuals_are_reported(result: Calibration) -> None:
    bare = replace(result, held_out={"mean_error_ratio": None, "why": "one depth only"})
    assert "Nothing was held out: one depth only." in page(bare)
    assert "no means by condition" in report_html(result.to_dict(), title="trace")
