"""Parameters as tables show them."""

from pathlib import Path

import pytest

from calibrate.calibration import Calibration, Parameter
from calibrate.parameter_text import label, remark, shown
from diskmodel.cli.calibrate import without_likes
from diskmodel.drive import catalogue
from tests.unit.cli.commands import run


@pytest.mark.parametrize(
    ("value", "stderr", "unit", "expected"),
    [
        (441_220.0, 80_000.0, "ns", ("441.22", "80", "us")),
        (8_299_367.0, 1.8, "ns", ("8.2994", "1.8e-06", "ms")),
        (1.3015e9, 1.3e8, "bytes/s", ("1.3015", "0.13", "GB/s")),
        (4096.0, None, "bytes", ("4", "", "KiB")),
        (0.0, 3.0, "ns", ("0", "3", "ns")),
        (7229.466, 0.0016, "1/min", ("7229.5", "0.0016", "1/min")),
        (123456.0, 1234.0, "blocks", ("123,456", "1,234", "blocks")),
        (32.0, 32.0, "1", ("32", "32", "")),
    ],
)
def test_few_digits_in_a_unit_that_fits(
    value: float, stderr: float | None, unit: str, expected: tuple[str, str, str]
) -> None:
    assert shown(Parameter(value, stderr, unit, True).to_dict()) == expected


def test_what_is_not_identified_says_so() -> None:
    assert remark(Parameter(1.0, None, "ns", False).to_dict()) == "not identified"
    assert remark(Parameter(1.0, None, "ns", False, "no writes").to_dict()) == "not identified: no writes"
    assert remark(Parameter(1.0, None, "ns", True, "no writes").to_dict()) == "no writes"
    assert label("profile read_overhead_ns") == "profile read_overhead"


def test_a_report_tells_the_error_of_a_profile(tmp_path: Path) -> None:
    held = {"what": "random reads at queue depth 16", "mean_error_ratio": 0.031, "demerit_ratio": 0.25}
    for name, provenance in (("judged", {"evidence": [], "held_out": held}), ("fitted", {"evidence": []})):
        known = {"name": name, "provenance": provenance}
        catalogue()["generic-15k"].model_copy(update=known).save(tmp_path / f"{name}.toml")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'name = "small"\n[workload]\nsize = "8 KiB"\nrate = "300/s"\n[objective]\niops = 300\n'
        '[candidates]\ndrives = ["judged.toml", "fitted.toml", "generic-15k"]\nlevels = ["raid10"]\nmax_disks = 8\n'
    )
    page = tmp_path / "plan.md"
    assert run("plan", plan, "--report", page).exit_code == 0
    reported = page.read_text()
    judged = "mean error on random reads at queue depth 16 +3.1%, demerit 25.0%"
    for name, said in (
        ("judged", judged),
        ("fitted", "calibrated without held-out data"),
        ("Generic 15k rpm SAS", "not calibrated against a measured drive"),
    ):
        assert f"{name}: class values: see notes; {said}" in reported


def test_of_a_trace_the_engines_error_is_reported() -> None:
    drive, engine = catalogue()["generic-15k"], {"mean_error_ratio": 0.05, "demerit_ratio": 0.1}
    held = {"n": 600, "mean_error_ratio": 0.01, "demerit_ratio": 0.02, "engine": engine}
    found = Calibration(drive, True, "", {}, held).drive.provenance["held_out"]
    assert found == {"what": "the last 600 requests", "mean_error_ratio": 0.05, "demerit_ratio": 0.1}
    assert "held_out" not in Calibration(drive, True, "", {}, {"mean_error_ratio": None}).drive.provenance


def test_warnings_that_differ_in_figures_only_are_reported_once() -> None:
    waits = [f"this program waited for a processor {share} % of the time" for share in (47, 5.5, 12)]
    assert without_likes([waits[0], "no writes", *waits[1:]]) == [f"{waits[0]} (and 2 similar)", "no writes"]
    assert without_likes([]) == []
