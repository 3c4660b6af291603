"""Settings of the lab drawn at random, of those that the page on the site offers."""

import random
from typing import Any

from diskmodel.lab.settings import Settings
from diskmodel.lab.site.tables import page_offers


def drawn_settings(n: int, seed: int = 1) -> list[Settings]:
    """`n` settings, each control on one of its positions."""
    offers, rng = page_offers(), random.Random(seed)

    def one() -> Settings:
        level = rng.choice(offers["levels"])
        fields: dict[str, Any] = {
            "read_ratio": rng.choice([0, 0.05, 0.5, 0.7, 1]),
            "size_bytes": rng.choice(offers["size_bytes"]),
            "pattern": rng.choice(offers["patterns"])["value"],
            "span_ratio": rng.choice([0.01, 0.3, 1]),
            "arrivals": rng.choice(["outstanding", "rate"]),
            "outstanding": rng.choice(offers["outstanding"]),
            "rate_per_s": rng.choice([10, 330, 12_000]),
            "drive": rng.choice(offers["drives"])["value"],
            "level": level["value"],
            "disks": rng.choice(level["disks"]),
            "strip_bytes": rng.choice(offers["strip_bytes"]),
            "has_failed_disk": level["survives"] and rng.random() < 0.3,
            "scheduler": rng.choice(offers["schedulers"])["value"],
            "read_hit_ratio": rng.choice([0, 0, 0.5]),
            "drive_write_cache": offers["defaults"]["drive_write_cache"],
        }
        return Settings.parse(fields)

    return [one() for _ in range(n)]
