"""Where the files lie that the tests read, and how to make small ones."""

from pathlib import Path

DATA = Path(__file__).parents[2] / "data" / "formats"
