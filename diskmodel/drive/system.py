"""A drive that is a whole system: other drives, and programs before them. It has an engine of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from diskmodel.drive.perturbation import DrivePerturbation
from diskmodel.drive.profile import Profile


def sizes_to_be(given: Mapping[str, Any]) -> dict[str, int]:
    """Return sizes where a description has none: they follow from the drives of the system when it is checked."""
    sizes = {"sector": 4096, "capacity": 4096}
    return {f"{name}_bytes": size for name, size in sizes.items() if not given.keys() & {name, f"{name}_bytes"}}


class System(Profile):
    """A drive that is a whole system.

    Attributes
    ----------
    slowness : tuple of 2 float
        Logarithms of the factors by which two parts of it are slower: draws of what is not known set them.
    """

    stands_alone: ClassVar[bool] = True

    slowness: tuple[float, float] = (0.0, 0.0)

    @property
    def accepted_commands(self) -> int:
        """As many as its clients have: no queue of its own limits them."""
        return 65_536

    def replaced_by(self, other: Any) -> Any:
        """Return the same system on other drives; another system as it is."""
        if other.stands_alone:
            return other
        own = {name: getattr(self, name) for name in self.model_fields_set - {"name", "capacity_bytes", "mttf_hours"}}
        return type(self).parse({**own, "drive": other})

    @property
    def quantities(self) -> frozenset[str]:
        """Two: what `slowness` is about."""
        return frozenset(("flash_read_time", "flash_write_latency"))

    def perturbed(self, perturbation: DrivePerturbation) -> Self:
        """Return a system whose parts are slower or faster."""
        update: dict[str, Any] = {"uncertainty": None}
        first, second = perturbation.read_time - perturbation.speed, perturbation.write_latency - perturbation.speed
        if first or second:
            update["slowness"] = (self.slowness[0] + first, self.slowness[1] + second)
        return self.model_copy(update=update)
