"""The logo: a platter with the zones of a drive of the catalogue, its arm, and the sector that it waits for."""

from __future__ import annotations

import math

from diskmodel.drive import HddTables, Mechanics, load_drive

#: The drive whose geometry is drawn, and the block that its head waits for: half-way along the arm's stroke.
DRIVE = "generic-7k2"
#: Zones that are drawn; all of them would melt into one area at the size of an icon.
N_RINGS = 5
#: Radii of the outer and of the inner edge, of a picture of 64 by 64.
OUTER, INNER = 29.0, 10.0
#: Colors that show on light and dark pages: platter, its edges, arm, and the sector.
PLATTER, EDGE, ARM, SECTOR = "#0072b2", "#8cc8ee", "#ffffff", "#e69f00"


def logo_svg() -> str:
    """Return the logo as SVG.

    The rings are edges of zones at the radii of their first cylinders. The bright sector is a block in the middle of
    the stroke at its own angle, stretched to be seen, and the head is over its cylinder.
    """
    tables = load_drive(DRIVE).tables()
    assert isinstance(tables, HddTables)
    mechanics = Mechanics(tables)
    edges = [int(first) for first in tables.zone_first_cylinder[:-1]]
    shown = [edges[round(i * (len(edges) - 1) / (N_RINGS - 1))] for i in range(1, N_RINGS)]
    rings = "".join(
        f'<circle cx="32" cy="32" r="{_radius(first, tables.n_cylinders):.2f}" fill="none" stroke="{EDGE}" '
        f'stroke-opacity=".55" stroke-width=".9"/>'
        for first in shown
    )
    place = mechanics.place(_block_in_the_middle(tables))
    radius = _radius(place.cylinder, tables.n_cylinders)
    turn = mechanics.angle_index(place) / int(tables.sectors_per_track[place.zone])
    begin, end = (2 * math.pi * (turn + part) for part in (0.0, 0.11))
    (x1, y1), (x2, y2) = (_point(radius, angle) for angle in (begin, end))
    head, _ = _point(radius, 0.0)
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="diskmodel">'
        f'<circle cx="32" cy="32" r="{OUTER:g}" fill="{PLATTER}"/>{rings}'
        f'<circle cx="32" cy="32" r="{INNER - 3:g}" fill="{EDGE}"/><circle cx="32" cy="32" r="2.4" fill="{PLATTER}"/>'
        f'<path d="M{x1:.2f} {y1:.2f}A{radius:.2f} {radius:.2f} 0 0 1 {x2:.2f} {y2:.2f}" fill="none" stroke="{SECTOR}" '
        'stroke-width="4.5" stroke-linecap="round"/>'
        f'<path d="M63 32H{head:.2f}" stroke="{ARM}" stroke-width="3.4" stroke-linecap="round"/>'
        f'<circle cx="{head:.2f}" cy="32" r="3.4" fill="{ARM}"/></svg>\n'
    )


def _block_in_the_middle(tables: HddTables) -> int:
    """Return the first block of the zone that lies half-way along the stroke."""
    middle = tables.n_cylinders / 2
    zone = min(range(len(tables.zone_first_lba) - 1), key=lambda i: abs(int(tables.zone_first_cylinder[i]) - middle))
    # two thirds of a revolution on: a place that the arm does not cover
    return int(tables.zone_first_lba[zone]) + int(tables.sectors_per_track[zone]) * 5 // 8


def _radius(cylinder: int, n_cylinders: int) -> float:
    return OUTER - (OUTER - INNER) * cylinder / n_cylinders


def _point(radius: float, angle: float) -> tuple[float, float]:
    return 32 + radius * math.cos(angle), 32 + radius * math.sin(angle)
