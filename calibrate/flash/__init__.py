"""A flash drive from mean responses: parallel dies, and the choice between them and a virtual disk."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from calibrate.flash.calibrate import Known, calibrate_flash
    from calibrate.flash.percentiles import single_reads_ns, with_percentiles
    from calibrate.flash.writes import buffer_of

__getattr__ = face(
    __name__,
    {
        "calibrate": "Known calibrate_flash",
        "percentiles": "single_reads_ns with_percentiles",
        "writes": "buffer_of",
    },
)
