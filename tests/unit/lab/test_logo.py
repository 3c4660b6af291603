"""The logo that the lab serves is the one that the model's geometry gives."""

import re

from diskmodel.lab.logo import logo_svg
from diskmodel.lab.server import PAGE


def test_the_file_is_what_the_geometry_gives() -> None:
    assert (PAGE / "logo.svg").read_text() == logo_svg()


def test_rings_shrink_and_the_head_is_over_the_sector() -> None:
    svg = logo_svg()
    radii = [float(r) for r in re.findall(r'r="([\d.]+)" fill="none"', svg)]
    assert radii == sorted(radii, reverse=True)
    sector = float(re.findall(r"A([\d.]+) ", svg)[0])
    head = float(re.findall(r"M63 32H([\d.]+)", svg)[0])
    assert abs(head - 32 - sector) < 0.011
