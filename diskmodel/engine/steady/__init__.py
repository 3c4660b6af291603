"""The state in which a run begins: computed once, as data that both engines load (rules Z1 to Z8)."""

from diskmodel.engine.steady.start import EMPTY, Start
from diskmodel.engine.steady.steady import settled

__all__ = ["EMPTY", "Start", "settled"]
