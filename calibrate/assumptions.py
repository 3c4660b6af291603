"""What is assumed of every hard disk, whichever evidence it is calibrated from."""

from __future__ import annotations

#: Speeds at which a revolution is searched for, 1/min: the usual 3,600 to 15,000 rpm with a margin. With half the lower
#: end two revolutions of a fast drive could pass for one; twice the upper end doubles the search for drives that are
#: not made.
RPM_RANGE = (2900.0, 15_600.0)

#: Surfaces of a drive where the evidence cannot determine their number: between the one or two of small drives and the
#: many of large ones. Seeks are fitted by distance on the disk, so that half or double changes only the shortest moves.
ASSUMED_HEADS = 4

#: Shortest move of an arm, ns. No drive settles on the next track in less; it keeps the seek table above zero where
#: overhead and seek cannot be separated. Half or double shows only in moves to the next cylinder, most of which the
#: skew hides.
MIN_SEEK_NS = 50_000.0
