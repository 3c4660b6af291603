"""Synthetic workloads that stand for a trace, chosen by replaying both on reference arrays."""

from diskmodel.synthesis.fit import Synthesis, synthesize
from diskmodel.synthesis.reference import Family, Figures, Setting, replayed, settings, simulated

__all__ = [
    "Family",
    "Figures",
    "Setting",
    "Synthesis",
    "replayed",
    "settings",
    "simulated",
    "synthesize",
]
