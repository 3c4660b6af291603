"""More than the link between a host and its controller moves, where no link is described."""

from __future__ import annotations

from diskmodel.array import Array
from diskmodel.units import in_digits

#: What eight lanes of PCIe 3.0 move: 8 GT/s each, 128 of 130 bits, as hardware controllers have since 2012; those of
#: PCIe 4.0, since 2020, twice as much.
PCIE3_X8_BYTES_PER_S = 8 * 8e9 / 8 * 128 / 130


def beyond_a_link(array: Array, bytes_per_s: float) -> tuple[str, ...]:
    """Return a sentence where an array's controller would move more than its link can; nothing where one is described.

    A cache answers in the time of a command, whatever its size: without a link, what it sends takes no time of its own.
    """
    if not array.has_controller_cache or array.controller.link_bytes_per_s is not None:
        return ()
    if not bytes_per_s > PCIE3_X8_BYTES_PER_S:
        return ()
    return (
        f"{in_digits(bytes_per_s / 1e9)} GB/s are more than the link of a controller moves (7.9 GB/s over eight lanes "
        'of PCIe 3.0, 15.8 over 4.0), which is left out: describe it as link = "7.9 GB/s" of the [controller]',
    )
