"""What is simulated of a cause."""

from __future__ import annotations

import pytest

from diskmodel.array import Array
from diskmodel.errors import DescriptionError
from diskmodel.explanation.causes.cause import Change
from diskmodel.explanation.said import measured_in_words
from diskmodel.explanation.simulator import Simulator
from diskmodel.workload import Workload


def test_a_check_beside_rare_requests_is_not_simulated() -> None:
    """Hours of it would lie between two of them: a minute of a processor and 3.6 GB."""
    layout = {"level": "raid5", "disks": 5, "rebuild": {"action": "check"}}
    array = Array.parse({"drive": "samsung-pm893-960", "layout": layout})
    sound = array.model_copy(update={"layout": array.layout.model_copy(update={"rebuild": None})})
    simulator = Simulator(sound, [measured_in_words("100/s, 64KiB writes, await 5ms")])
    rare, often = (Workload.parse({"size": "64 KiB", "rate": rate}) for rate in ("0.0028/s", "100/s"))
    with pytest.raises(DescriptionError, match="of its steps would be simulated for each request"):
        simulator._trials(Change(array, rare))
    assert simulator._trials(Change(array, often)).n_requests > 100
