"""RAID as Linux md makes it, or a controller of its own: strips, copies and parity over several disks."""

from typing import TYPE_CHECKING

from diskmodel.naming import face

if TYPE_CHECKING:
    from diskmodel.layout.md.bitmap import bits_of
    from diskmodel.layout.md.fields import JOURNALED, MAX_STRIPE_CACHE, Consistency, ReadPolicy, Rotation, WritePolicy
    from diskmodel.layout.md.journal import (
        BATCH_STRIPES,
        BLOCK_BYTES,
        JOURNAL_FIRST_BYTES,
        JournalTables,
        PartialTables,
        Room,
        Stripe,
        Unit,
        journal_bytes,
    )
    from diskmodel.layout.md.layout import STRIPED
    from diskmodel.layout.md.parity import Row, row_of
    from diskmodel.layout.md.rebuild import MARK_STEP_NS, MAX_STARVING_BYTES, MAX_STARVING_STEPS, N_MARKS
    from diskmodel.layout.md.stripes import StripeCache
    from diskmodel.layout.md.tables import MdTables

__getattr__ = face(
    __name__,
    {
        "bitmap": "bits_of",
        "fields": "Consistency JOURNALED MAX_STRIPE_CACHE ReadPolicy Rotation WritePolicy",
        "journal": (
            "BATCH_STRIPES BLOCK_BYTES JOURNAL_FIRST_BYTES JournalTables PartialTables Room Stripe Unit journal_bytes"
        ),
        "layout": "STRIPED",
        "parity": "Row row_of",
        "rebuild": "MARK_STEP_NS MAX_STARVING_BYTES MAX_STARVING_STEPS N_MARKS",
        "stripes": "StripeCache",
        "tables": "MdTables",
    },
)
