"""Sound arrays of the small simulator: each in words, as a box, and what may be asked of it.

Figures are those that sheets print: speed, size of the seek, rate at the outer edge; of flash drives rates in order and
at random. A specimen is drawn: its parts are a few percent faster or slower than the sheet has them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.validation.explanation.outside.simulator import Box, Disk, Flash, Load

_KIB = 1 << 10
#: Spread of what specimens of one make differ by, as a logarithm: of eight equal disks, random reads differ by 1.8 %.
_SPECIMEN = 0.03
#: Seconds of a processor that a request takes where one thread submits them, of servers of 2020 to 2025 (180,000 to
#: 195,000 a second: docs/reference/semantics-host.md); by how much servers of the same years differ, as a logarithm.
_HOST, _OTHER_HOST = 5.3e-6, 0.25
#: Drives by what their sheets print.
_X18 = partial(Disk, longest=0.0142, bytes_per_s=265e6, is_cached=True)
_X16 = partial(Disk, longest=0.0140, bytes_per_s=255e6, is_cached=True)
_SATA = partial(Disk, is_cached=True)
_SAS10 = partial(Disk, turn=60 / 10000, shortest=0.0004, longest=0.0080, bytes_per_s=90e6)
_SAS15 = partial(Disk, turn=60 / 15000, shortest=0.0003, longest=0.0063, bytes_per_s=125e6)
_PM893 = partial(Flash)
_S4610 = partial(Flash, read=92e-6, program=25e-6, random_bytes_per_s=51e3 * 4096, program_bytes_per_s=500e6)
_PM9A3 = partial(Flash, 75e-6, 15e-6, 144, 6.5e9, 3.5e9, 800e6, 0.41e-6)
_P5500 = partial(Flash, 75e-6, 15e-6, 160, 7.0e9, 4.3e9, 130e3 * 4096, 0.35e-6)
_MICRON = partial(Flash, 80e-6, 15e-6, 128, 6.8e9, 2.7e9, 120e3 * 4096, 0.65e-6)
_X20 = partial(Disk, longest=0.0140, bytes_per_s=285e6, is_cached=True)
_10E2400 = partial(Disk, turn=60 / 10500, shortest=0.0003, longest=0.0069, bytes_per_s=266e6)
_S4600 = partial(Flash, 110e-6, 40e-6, 64, 500e6, 490e6, 65e3 * 4096, 4.0e-6)
_P5520 = partial(Flash, 75e-6, 15e-6, 112, 5.3e9, 1.9e9, 114e3 * 4096, 0.57e-6)
_PE8110 = partial(Flash, 75e-6, 15e-6, 144, 6.5e9, 1.7e9, 70e3 * 4096, 0.41e-6)
_MG08 = partial(Disk, longest=0.0151, bytes_per_s=270e6, is_cached=True)
_7K8 = partial(Disk, longest=0.0142, bytes_per_s=203e6, is_cached=True)
_C15K600 = partial(Disk, turn=60 / 15000, shortest=0.0003, longest=0.0049, bytes_per_s=248e6)
_5300 = partial(Flash, 88e-6, 25e-6, 64, 540e6, 520e6, 18e3 * 4096, 2.2e-6)
_DC600M = partial(Flash, 88e-6, 20e-6, 64, 545e6, 530e6, 65e3 * 4096, 2.3e-6)
_7400 = partial(Flash, 70e-6, 10e-6, 140, 6.6e9, 5.4e9, 190e3 * 4096, 0.38e-6)
_PM983 = partial(Flash, 80e-6, 20e-6, 86, 3.2e9, 2.0e9, 50e3 * 4096, 0.58e-6)
_GOLD = partial(Disk, longest=0.0142, bytes_per_s=298e6, is_cached=True)
_MG06 = partial(Disk, longest=0.0151, bytes_per_s=248.5e6, is_cached=True)
_MG10 = partial(Disk, longest=0.0151, bytes_per_s=281e6, is_cached=True)
_HC310 = partial(Disk, longest=0.0131, bytes_per_s=255e6, is_cached=True)
_10K5 = partial(Disk, turn=60 / 10000, shortest=0.0003, longest=0.0069, bytes_per_s=175e6)
_S4520 = partial(Flash, 100e-6, 40e-6, 64, 550e6, 510e6, 43e3 * 4096, 3.7e-6)
_5400 = partial(Flash, 92e-6, 25e-6, 64, 540e6, 520e6, 16.7e3 * 4096, 2.6e-6)
_P4510 = partial(Flash, 77e-6, 18e-6, 98, 3.2e9, 2.0e9, 81.5e3 * 4096, 0.29e-6)
_P5600 = partial(Flash, 75e-6, 15e-6, 150, 7.0e9, 4.3e9, 260e3 * 4096, 0.41e-6)

_MG11 = partial(Disk, longest=0.0151, bytes_per_s=309e6, is_cached=True)
_HC580 = partial(Disk, longest=0.0142, bytes_per_s=298e6, is_cached=True)
_X24 = partial(Disk, longest=0.0142, bytes_per_s=285e6, is_cached=True)
_GOLD12 = partial(Disk, longest=0.0142, bytes_per_s=255e6, is_cached=True)
_15K7 = partial(Disk, turn=60 / 15000, shortest=0.0003, longest=0.0058, bytes_per_s=204e6)
_IRONWOLF = partial(Disk, longest=0.0142, bytes_per_s=285e6, is_cached=True)
_N300 = partial(Disk, longest=0.0151, bytes_per_s=262e6, is_cached=True)
_5400MAX = partial(Flash, 92e-6, 25e-6, 64, 540e6, 520e6, 65e3 * 4096, 2.6e-6)
_S4510 = partial(Flash, 95e-6, 35e-6, 64, 560e6, 510e6, 36e3 * 4096, 3.2e-6)
_PM9A3_1920 = partial(Flash, 80e-6, 15e-6, 136, 6.8e9, 2.7e9, 130e3 * 4096, 0.57e-6)
_PM1733 = partial(Flash, 75e-6, 15e-6, 224, 7.0e9, 3.8e9, 135e3 * 4096, 0.08e-6)

_EXOS_M = partial(Disk, longest=0.0142, bytes_per_s=275e6, is_cached=True)
_RED_PRO = partial(Disk, longest=0.0151, bytes_per_s=270e6, is_cached=True)
_X300 = partial(Disk, longest=0.0151, bytes_per_s=210e6, is_cached=True)
_IRONWOLF8 = partial(Disk, longest=0.0151, bytes_per_s=210e6, is_cached=True)
_15K2 = partial(Disk, turn=60 / 15000, shortest=0.0003, longest=0.0049, bytes_per_s=160e6)
_DC600M_3840 = partial(Flash, 88e-6, 20e-6, 64, 545e6, 530e6, 59e3 * 4096, 2.3e-6)
_PM9A3_3840 = partial(Flash, 78e-6, 15e-6, 156, 6.9e9, 4.1e9, 180e3 * 4096, 0.41e-6)
_CM7 = partial(Flash, 65e-6, 15e-6, 350, 14e9, 6.75e9, 310e3 * 4096, 0.08e-6)

_7K4000 = partial(Disk, longest=0.0147, bytes_per_s=171e6)
_10E2400_2400 = partial(Disk, turn=60 / 10500, shortest=0.0003, longest=0.0069, bytes_per_s=266e6)
_7450_960 = partial(Flash, 80e-6, 15e-6, 84, 6.8e9, 1.4e9, 85e3 * 4096, 1.30e-6)
_PM9A3_960 = partial(Flash, 80e-6, 15e-6, 92, 6.5e9, 1.5e9, 70e3 * 4096, 1.09e-6)

_15K6 = partial(Disk, turn=60 / 15000, shortest=0.0002, longest=0.0062, bytes_per_s=171e6)
_DC600M_1920 = partial(Flash, 88e-6, 20e-6, 64, 545e6, 530e6, 78e3 * 4096, 2.9e-6)
_PM1743 = partial(Flash, 65e-6, 15e-6, 350, 13e9, 6.6e9, 250e3 * 4096, 0.08e-6)
_CD6 = partial(Flash, 75e-6, 15e-6, 150, 6.2e9, 4.0e9, 30e3 * 4096, 0.34e-6)

_BLUE6 = partial(Disk, turn=60 / 5400, longest=0.0217, bytes_per_s=175e6, is_cached=True)
_RED_PLUS = partial(Disk, turn=60 / 5640, longest=0.0217, bytes_per_s=165e6, is_cached=True)
_IRONWOLF4 = partial(Disk, turn=60 / 5980, longest=0.0217, bytes_per_s=180e6, is_cached=True)
_PURPLE = partial(Disk, turn=60 / 5400, longest=0.0217, bytes_per_s=178e6, is_cached=True)
_10K3 = partial(Disk, turn=60 / 10000, shortest=0.0002, longest=0.0071, bytes_per_s=129e6)
_DC600M_7680 = partial(Flash, 88e-6, 20e-6, 64, 545e6, 530e6, 34e3 * 4096, 3.1e-6)
_DC600M_480 = partial(Flash, 88e-6, 20e-6, 64, 545e6, 470e6, 41e3 * 4096, 3.1e-6)
_P4500 = partial(Flash, 115e-6, 20e-6, 148, 3.2e9, 1.8e9, 62.5e3 * 4096, 0.27e-6)
_P4510_1TB = partial(Flash, 77e-6, 18e-6, 72, 2.85e9, 1.1e9, 70e3 * 4096, 0.71e-6)

_RED = partial(Disk, turn=60 / 5400, longest=0.0236, bytes_per_s=150e6, is_cached=True)
_XT = partial(Disk, longest=0.0151, bytes_per_s=138e6, is_cached=True)
_CONSTELLATION = partial(Disk, shortest=0.0005, longest=0.0146, bytes_per_s=100e6)
_DESKSTAR = partial(Disk, longest=0.0151, bytes_per_s=135e6, is_cached=True)
_MK3001 = partial(Disk, turn=60 / 15000, shortest=0.0003, longest=0.0048, bytes_per_s=200e6)
_9200 = partial(Flash, 121e-6, 21e-6, 203, 3.5e9, 3.5e9, 285e3 * 4096, 0.02e-6)
_P4500_2TB = partial(Flash, 85e-6, 20e-6, 83, 3.2e9, 1.05e9, 38e3 * 4096, 0.76e-6)

_DM006 = partial(Disk, longest=0.0151, bytes_per_s=210e6, is_cached=True)
_7200_12 = partial(Disk, longest=0.0151, bytes_per_s=125e6, is_cached=True)
_15K5 = partial(Disk, turn=60 / 15000, shortest=0.0002, longest=0.0062, bytes_per_s=125e6)
_7K500 = partial(Disk, longest=0.0151, bytes_per_s=64.8e6, is_cached=True)
_SAVVIO = partial(Disk, turn=60 / 10000, shortest=0.0002, longest=0.0071, bytes_per_s=66.5e6)
_CM6 = partial(Flash, 75e-6, 15e-6, 210, 6.9e9, 4.2e9, 60e3 * 4096, 0.12e-6)
_5400MAX_SHEET = partial(Flash, 110e-6, 52e-6, 64, 540e6, 520e6, 29e3 * 4096, 2.9e-6)
_7450_MAX = partial(Flash, 80e-6, 15e-6, 84, 6.8e9, 1.4e9, 145e3 * 4096, 1.29e-6)


def _volume(rate: float, bytes_per_s: float, read: float = 450e-6, program: float = 600e-6) -> Callable[[], Box]:
    def box() -> Box:
        media = Flash(read, program, 4_096, 1e10, 1e10, 1e10, 0.0)
        return Box([media], tokens_per_s=rate, burst=50.0, token_bytes_per_s=bytes_per_s)

    return box


def _of(make: Callable[[], Disk | Flash], n: int, kind: str = "stripe", **fields: float) -> Callable[[], Box]:
    return lambda: Box([make() for _ in range(n)], kind, **fields)  # type: ignore[arg-type]


def _before_host(make: Callable[[], Flash], n: int) -> Callable[[], Box]:
    """Return mirrors of NVMe drives before a host: the latencies of their sheets contain one."""

    def box() -> Box:
        members = [make() for _ in range(n)]
        for one in members:
            one.read -= _HOST
            one.program -= _HOST
        return Box([*members], "mirrors", processor=_HOST)

    return box


@dataclass(frozen=True)
class Subject:
    """A sound array: in words, what it is, and as a box; "writes" says whether it is written to."""

    words: str
    kind: str
    box: Callable[[], Box]
    writes: bool = True


#: Sound arrays by name, one set for each draw. Causes were mended by what earlier draws showed; the last one was
#: written and measured before its predecessor had been looked at, and explained after all that had been mended.
SUBJECTS: tuple[dict[str, Subject], ...] = (
    {
        "disk": Subject("seagate-exos-x18", "disk", _of(_X18, 1)),
        "mirror": Subject("2x generic-7k2 raid1", "disks", _of(_SATA, 2, "mirrors")),
        "raid10": Subject("6x generic-10k raid10", "disks", _of(_SAS10, 6, "mirrors")),
        "raid6": Subject("8x seagate-exos-x18 raid6", "disks", _of(_X18, 8, "parity", n_parity=2)),
        "raidz": Subject(
            "2x6 seagate-exos-x18 raidz2, record 128KiB",
            "pool",
            _of(_X18, 12, "raidz", n_parity=2, record=128 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "4x2 generic-7k2 mirrors, record 16KiB", "pool", _of(_SATA, 8, "pool", record=16 * _KIB), writes=False
        ),
        "ssd": Subject("samsung-pm893-960", "sata", _of(_PM893, 1)),
        "nvme": Subject("samsung-pm9a3-7680", "nvme", _of(_PM9A3, 1)),
        "ssds": Subject("4x samsung-pm893-960 raid10", "satas", _of(_PM893, 4, "mirrors")),
        "nvmes": Subject("2x samsung-pm9a3-7680 raid1", "nvmes", _before_host(_PM9A3, 2)),
        "volume": Subject("aws-gp3-500GB", "volume", _volume(3_000, 131e6)),
    },
    {
        "disk": Subject("seagate-exos-x16", "disk", _of(_X16, 1)),
        "mirror": Subject("2x seagate-exos-x16 raid1", "disks", _of(_X16, 2, "mirrors")),
        "raid10": Subject("8x seagate-exos-x16 raid10", "disks", _of(_X16, 8, "mirrors")),
        "raid6": Subject("12x seagate-exos-x16 raid6", "disks", _of(_X16, 12, "parity", n_parity=2)),
        "raid5": Subject("5x generic-15k raid5", "disks", _of(_SAS15, 5, "parity", n_parity=1)),
        "raidz": Subject(
            "1x5 seagate-exos-x16 raidz1, record 16KiB",
            "pool",
            _of(_X16, 5, "raidz", n_parity=1, record=16 * _KIB, width=5),
            writes=False,
        ),
        "pool": Subject(
            "3x2 seagate-exos-x16 mirrors, record 128KiB", "pool", _of(_X16, 6, "pool", record=128 * _KIB), writes=False
        ),
        "ssd": Subject("intel-d3-s4610-960", "sata", _of(_S4610, 1)),
        "nvme": Subject("micron-7450-pro-1920", "nvme", _of(_MICRON, 1)),
        "ssds": Subject("2x intel-d3-s4610-960 raid1", "satas", _of(_S4610, 2, "mirrors")),
        "nvmes": Subject("2x intel-d7-p5500-7680 raid1", "nvmes", _before_host(_P5500, 2)),
        "volume": Subject("aws-gp3-500GB, 6000 IOPS, 250MB/s", "volume", _volume(6_000, 262e6)),
    },
    {
        "disk": Subject("seagate-exos-x20", "disk", _of(_X20, 1)),
        "mirror": Subject("2x seagate-exos-10e2400-1800 raid1", "disks", _of(_10E2400, 2, "mirrors")),
        "raid10": Subject("4x seagate-exos-x20 raid10", "disks", _of(_X20, 4, "mirrors")),
        "raid6": Subject("6x seagate-exos-x20 raid6", "disks", _of(_X20, 6, "parity", n_parity=2)),
        "raid5": Subject("4x seagate-exos-10e2400-1800 raid5", "disks", _of(_10E2400, 4, "parity", n_parity=1)),
        "raidz": Subject(
            "2x5 seagate-exos-x20 raidz1, record 128KiB",
            "pool",
            _of(_X20, 10, "raidz", n_parity=1, record=128 * _KIB, width=5),
            writes=False,
        ),
        "pool": Subject(
            "2x2 seagate-exos-x20 mirrors, record 16KiB", "pool", _of(_X20, 4, "pool", record=16 * _KIB), writes=False
        ),
        "ssd": Subject("intel-dc-s4600-1920", "sata", _of(_S4600, 1)),
        "nvme": Subject("solidigm-d7-p5520-1920", "nvme", _of(_P5520, 1)),
        "ssds": Subject("4x intel-dc-s4600-1920 raid10", "satas", _of(_S4600, 4, "mirrors")),
        "nvmes": Subject("2x sk-hynix-pe8110-960 raid1", "nvmes", _before_host(_PE8110, 2)),
        "volume": Subject("azure-p30", "volume", _volume(5_000, 210e6, 0.9e-3, 1.8e-3)),
    },
    {
        "disk": Subject("toshiba-mg08aca16te", "disk", _of(_MG08, 1)),
        "mirror": Subject("2x hgst-ultrastar-7k8 raid1", "disks", _of(_7K8, 2, "mirrors")),
        "raid10": Subject("6x toshiba-mg08aca16te raid10", "disks", _of(_MG08, 6, "mirrors")),
        "raid6": Subject("7x hgst-ultrastar-7k8 raid6", "disks", _of(_7K8, 7, "parity", n_parity=2)),
        "raid5": Subject("6x hgst-ultrastar-c15k600 raid5", "disks", _of(_C15K600, 6, "parity", n_parity=1)),
        "raidz": Subject(
            "1x6 toshiba-mg08aca16te raidz2, record 64KiB",
            "pool",
            _of(_MG08, 6, "raidz", n_parity=2, record=64 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "5x2 hgst-ultrastar-7k8 mirrors, record 32KiB",
            "pool",
            _of(_7K8, 10, "pool", record=32 * _KIB),
            writes=False,
        ),
        "ssd": Subject("micron-5300-pro-1920", "sata", _of(_5300, 1)),
        "nvme": Subject("micron-7400-pro-7680", "nvme", _of(_7400, 1)),
        "ssds": Subject("2x kingston-dc600m-960 raid1", "satas", _of(_DC600M, 2, "mirrors")),
        "nvmes": Subject("4x samsung-pm983-1920 raid10", "nvmes", _before_host(_PM983, 4)),
        "volume": Subject("azure-p40", "volume", _volume(7_500, 262e6, 0.9e-3, 1.8e-3)),
    },
    {
        "disk": Subject("wd-gold-24", "disk", _of(_GOLD, 1)),
        "mirror": Subject("2x toshiba-mg06aca10te raid1", "disks", _of(_MG06, 2, "mirrors")),
        "raid10": Subject("8x wd-ultrastar-hc310 raid10", "disks", _of(_HC310, 8, "mirrors")),
        "raid6": Subject("10x toshiba-mg10aca20te raid6", "disks", _of(_MG10, 10, "parity", n_parity=2)),
        "raid5": Subject("5x seagate-savvio-10k5 raid5", "disks", _of(_10K5, 5, "parity", n_parity=1)),
        "raidz": Subject(
            "2x6 toshiba-mg10aca20te raidz2, record 32KiB",
            "pool",
            _of(_MG10, 12, "raidz", n_parity=2, record=32 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "4x2 wd-gold-24 mirrors, record 64KiB", "pool", _of(_GOLD, 8, "pool", record=64 * _KIB), writes=False
        ),
        "ssd": Subject("solidigm-d3-s4520-960", "sata", _of(_S4520, 1)),
        "nvme": Subject("intel-dc-p4510-2tb", "nvme", _of(_P4510, 1)),
        "ssds": Subject("4x micron-5400-pro-1920 raid10", "satas", _of(_5400, 4, "mirrors")),
        "nvmes": Subject("2x intel-d7-p5600-6400 raid1", "nvmes", _before_host(_P5600, 2)),
        "volume": Subject("aws-io2", "volume", _volume(16_000, 1.05e9, 0.3e-3, 0.3e-3)),
    },
    {
        "disk": Subject("toshiba-mg11aca24te", "disk", _of(_MG11, 1)),
        "mirror": Subject("2x wd-ultrastar-hc580 raid1", "disks", _of(_HC580, 2, "mirrors")),
        "raid10": Subject("6x seagate-exos-x24 raid10", "disks", _of(_X24, 6, "mirrors")),
        "raid6": Subject("9x wd-gold-12 raid6", "disks", _of(_GOLD12, 9, "parity", n_parity=2)),
        "raid5": Subject("4x seagate-cheetah-15k7 raid5", "disks", _of(_15K7, 4, "parity", n_parity=1)),
        "raidz": Subject(
            "1x8 seagate-ironwolf-pro-20 raidz2, record 128KiB",
            "pool",
            _of(_IRONWOLF, 8, "raidz", n_parity=2, record=128 * _KIB, width=8),
            writes=False,
        ),
        "pool": Subject(
            "3x2 toshiba-n300-8 mirrors, record 32KiB", "pool", _of(_N300, 6, "pool", record=32 * _KIB), writes=False
        ),
        "ssd": Subject("micron-5400-max-1920", "sata", _of(_5400MAX, 1)),
        "nvme": Subject("samsung-pm9a3-1920", "nvme", _of(_PM9A3_1920, 1)),
        "ssds": Subject("4x intel-d3-s4510-960 raid10", "satas", _of(_S4510, 4, "mirrors")),
        "nvmes": Subject("2x samsung-pm1733-3840 raid1", "nvmes", _before_host(_PM1733, 2)),
        "volume": Subject("azure-p50", "volume", _volume(7_500, 262e6, 0.9e-3, 1.8e-3)),
    },
    {
        "disk": Subject("seagate-exos-m-30", "disk", _of(_EXOS_M, 1)),
        "mirror": Subject("2x wd-red-pro-20 raid1", "disks", _of(_RED_PRO, 2, "mirrors")),
        "raid10": Subject("4x toshiba-x300-8 raid10", "disks", _of(_X300, 4, "mirrors")),
        "raid6": Subject("8x seagate-ironwolf-8 raid6", "disks", _of(_IRONWOLF8, 8, "parity", n_parity=2)),
        "raid5": Subject("5x seagate-savvio-15k2 raid5", "disks", _of(_15K2, 5, "parity", n_parity=1)),
        "raidz": Subject(
            "1x5 wd-red-pro-20 raidz1, record 128KiB",
            "pool",
            _of(_RED_PRO, 5, "raidz", n_parity=1, record=128 * _KIB, width=5),
            writes=False,
        ),
        "pool": Subject(
            "4x2 seagate-exos-m-30 mirrors, record 16KiB",
            "pool",
            _of(_EXOS_M, 8, "pool", record=16 * _KIB),
            writes=False,
        ),
        "ssd": Subject("kingston-dc600m-3840", "sata", _of(_DC600M_3840, 1)),
        "nvme": Subject("samsung-pm9a3-3840", "nvme", _of(_PM9A3_3840, 1)),
        "ssds": Subject("4x micron-5300-pro-1920 raid10", "satas", _of(_5300, 4, "mirrors")),
        "nvmes": Subject("2x kioxia-cm7-r-3840 raid1", "nvmes", _before_host(_CM7, 2)),
        "volume": Subject("aws-gp3-500GB, 4500 IOPS, 200MB/s", "volume", _volume(4_500, 210e6)),
    },
    {
        "disk": Subject("hgst-ultrastar-7k4000", "disk", _of(_7K4000, 1)),
        "mirror": Subject("2x seagate-ironwolf-pro-20 raid1", "disks", _of(_IRONWOLF, 2, "mirrors")),
        "raid10": Subject("8x toshiba-n300-8 raid10", "disks", _of(_N300, 8, "mirrors")),
        "raid6": Subject("10x wd-ultrastar-hc580 raid6", "disks", _of(_HC580, 10, "parity", n_parity=2)),
        "raid5": Subject("6x seagate-exos-10e2400-2400 raid5", "disks", _of(_10E2400_2400, 6, "parity", n_parity=1)),
        "raidz": Subject(
            "2x4 toshiba-mg11aca24te raidz1, record 64KiB",
            "pool",
            _of(_MG11, 8, "raidz", n_parity=1, record=64 * _KIB, width=4),
            writes=False,
        ),
        "pool": Subject(
            "3x2 wd-gold-12 mirrors, record 128KiB", "pool", _of(_GOLD12, 6, "pool", record=128 * _KIB), writes=False
        ),
        "ssd": Subject("intel-d3-s4510-960", "sata", _of(_S4510, 1)),
        "nvme": Subject("micron-7450-pro-960", "nvme", _of(_7450_960, 1)),
        "ssds": Subject("4x solidigm-d3-s4520-960 raid10", "satas", _of(_S4520, 4, "mirrors")),
        "nvmes": Subject("2x samsung-pm9a3-960 raid1", "nvmes", _before_host(_PM9A3_960, 2)),
        "volume": Subject("azure-p20", "volume", _volume(2_300, 157e6, 0.9e-3, 1.8e-3)),
    },
    {
        "disk": Subject("toshiba-mg10aca20te", "disk", _of(_MG10, 1)),
        "mirror": Subject("2x wd-gold-24 raid1", "disks", _of(_GOLD, 2, "mirrors")),
        "raid10": Subject("4x seagate-exos-x18 raid10", "disks", _of(_X18, 4, "mirrors")),
        "raid6": Subject("8x toshiba-mg08aca16te raid6", "disks", _of(_MG08, 8, "parity", n_parity=2)),
        "raid5": Subject("5x seagate-exos-10e2400-1800 raid5", "disks", _of(_10E2400, 5, "parity", n_parity=1)),
        "raidz": Subject(
            "1x6 wd-ultrastar-hc580 raidz2, record 128KiB",
            "pool",
            _of(_HC580, 6, "raidz", n_parity=2, record=128 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "4x2 toshiba-mg08aca16te mirrors, record 64KiB",
            "pool",
            _of(_MG08, 8, "pool", record=64 * _KIB),
            writes=False,
        ),
        "ssd": Subject("micron-5400-pro-1920", "sata", _of(_5400, 1)),
        "nvme": Subject("intel-d7-p5600-6400", "nvme", _of(_P5600, 1)),
        "ssds": Subject("4x kingston-dc600m-3840 raid10", "satas", _of(_DC600M_3840, 4, "mirrors")),
        "nvmes": Subject("2x samsung-pm9a3-1920 raid1", "nvmes", _before_host(_PM9A3_1920, 2)),
        "volume": Subject("aws-gp3-500GB, 9000 IOPS, 400MB/s", "volume", _volume(9_000, 419e6)),
    },
    {
        "disk": Subject("seagate-exos-x24", "disk", _of(_X24, 1)),
        "mirror": Subject("2x seagate-exos-x20 raid1", "disks", _of(_X20, 2, "mirrors")),
        "raid10": Subject("6x seagate-exos-x16 raid10", "disks", _of(_X16, 6, "mirrors")),
        "raid6": Subject("8x toshiba-mg11aca24te raid6", "disks", _of(_MG11, 8, "parity", n_parity=2)),
        "raid5": Subject("4x seagate-cheetah-15k6 raid5", "disks", _of(_15K6, 4, "parity", n_parity=1)),
        "raidz": Subject(
            "1x6 seagate-exos-x24 raidz2, record 64KiB",
            "pool",
            _of(_X24, 6, "raidz", n_parity=2, record=64 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "4x2 wd-ultrastar-hc580 mirrors, record 32KiB",
            "pool",
            _of(_HC580, 8, "pool", record=32 * _KIB),
            writes=False,
        ),
        "ssd": Subject("kingston-dc600m-1920", "sata", _of(_DC600M_1920, 1)),
        "nvme": Subject("samsung-pm1743-7680", "nvme", _of(_PM1743, 1)),
        "ssds": Subject("4x intel-d3-s4610-960 raid10", "satas", _of(_S4610, 4, "mirrors")),
        "nvmes": Subject("2x kioxia-cd6-r-15360 raid1", "nvmes", _before_host(_CD6, 2)),
        "volume": Subject("aws-gp3-500GB, 12000 IOPS, 500MB/s", "volume", _volume(12_000, 524e6)),
    },
    {
        "disk": Subject("wd-blue-6", "disk", _of(_BLUE6, 1)),
        "mirror": Subject("2x seagate-ironwolf-4 raid1", "disks", _of(_IRONWOLF4, 2, "mirrors")),
        "raid10": Subject("6x wd-red-plus-8 raid10", "disks", _of(_RED_PLUS, 6, "mirrors")),
        "raid6": Subject("8x wd-purple-8 raid6", "disks", _of(_PURPLE, 8, "parity", n_parity=2)),
        "raid5": Subject("5x seagate-savvio-10k3 raid5", "disks", _of(_10K3, 5, "parity", n_parity=1)),
        "raidz": Subject(
            "1x6 wd-red-plus-8 raidz2, record 128KiB",
            "pool",
            _of(_RED_PLUS, 6, "raidz", n_parity=2, record=128 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "3x2 seagate-ironwolf-4 mirrors, record 32KiB",
            "pool",
            _of(_IRONWOLF4, 6, "pool", record=32 * _KIB),
            writes=False,
        ),
        "ssd": Subject("kingston-dc600m-7680", "sata", _of(_DC600M_7680, 1)),
        "nvme": Subject("intel-dc-p4500-4tb", "nvme", _of(_P4500, 1)),
        "ssds": Subject("4x kingston-dc600m-480 raid10", "satas", _of(_DC600M_480, 4, "mirrors")),
        "nvmes": Subject("2x intel-dc-p4510-1tb raid1", "nvmes", _before_host(_P4510_1TB, 2)),
        "volume": Subject("aws-gp3-500GB, 15000 IOPS, 600MB/s", "volume", _volume(15_000, 629e6)),
    },
    {
        "disk": Subject("wd-red-wd40efrx", "disk", _of(_RED, 1)),
        "mirror": Subject("2x seagate-barracuda-xt raid1", "disks", _of(_XT, 2, "mirrors")),
        "raid10": Subject("8x seagate-constellation-st9500430ss raid10", "disks", _of(_CONSTELLATION, 8, "mirrors")),
        "raid6": Subject("7x hitachi-deskstar-7k1000c raid6", "disks", _of(_DESKSTAR, 7, "parity", n_parity=2)),
        "raid5": Subject("6x toshiba-mk3001grrb raid5", "disks", _of(_MK3001, 6, "parity", n_parity=1)),
        "raidz": Subject(
            "2x5 wd-red-wd40efrx raidz1, record 64KiB",
            "pool",
            _of(_RED, 10, "raidz", n_parity=1, record=64 * _KIB, width=5),
            writes=False,
        ),
        "pool": Subject(
            "4x2 seagate-barracuda-xt mirrors, record 128KiB",
            "pool",
            _of(_XT, 8, "pool", record=128 * _KIB),
            writes=False,
        ),
        "ssd": Subject("kingston-dc600m-480", "sata", _of(_DC600M_480, 1)),
        "nvme": Subject("micron-9200-max-6400", "nvme", _of(_9200, 1)),
        "ssds": Subject("2x kingston-dc600m-7680 raid1", "satas", _of(_DC600M_7680, 2, "mirrors")),
        "nvmes": Subject("2x intel-dc-p4500-2tb raid1", "nvmes", _before_host(_P4500_2TB, 2)),
        "volume": Subject("aws-gp3-500GB, 8000 IOPS, 300MB/s", "volume", _volume(8_000, 315e6)),
    },
    {
        "disk": Subject("seagate-st2000dm006", "disk", _of(_DM006, 1)),
        "mirror": Subject("2x seagate-barracuda-7200.12 raid1", "disks", _of(_7200_12, 2, "mirrors")),
        "raid10": Subject("6x seagate-cheetah-15k5 raid10", "disks", _of(_15K5, 6, "mirrors")),
        "raid6": Subject("8x hitachi-deskstar-7k500 raid6", "disks", _of(_7K500, 8, "parity", n_parity=2)),
        "raid5": Subject("5x seagate-savvio-10k1 raid5", "disks", _of(_SAVVIO, 5, "parity", n_parity=1)),
        "raidz": Subject(
            "1x6 seagate-barracuda-7200.12 raidz2, record 64KiB",
            "pool",
            _of(_7200_12, 6, "raidz", n_parity=2, record=64 * _KIB, width=6),
            writes=False,
        ),
        "pool": Subject(
            "4x2 seagate-exos-10e2400-1200 mirrors, record 16KiB",
            "pool",
            _of(_10E2400, 8, "pool", record=16 * _KIB),
            writes=False,
        ),
        "ssd": Subject("kingston-dc600m-960", "sata", _of(_DC600M, 1)),
        "nvme": Subject("kioxia-cm6-r-30720", "nvme", _of(_CM6, 1)),
        "ssds": Subject("2x micron-5400-max-1920 raid1", "satas", _of(_5400MAX_SHEET, 2, "mirrors")),
        "nvmes": Subject("2x micron-7450-max-800 raid1", "nvmes", _before_host(_7450_MAX, 2)),
        "volume": Subject("aws-gp3-500GB, 10000 IOPS, 450MB/s", "volume", _volume(10_000, 472e6)),
    },
)


def loads_of(own: Subject, draw: random.Random) -> tuple[Load, ...]:
    """Return what somebody asks of an array: one at a time and many at random, writes, and in order."""
    small = draw.choice((4, 8, 16)) * _KIB
    deep = draw.choice((16, 32) if own.kind not in ("nvme", "nvmes") else (32, 64))
    asked = [Load(small, 1), Load(small, deep)]
    if own.writes:
        # what flash drives do with reads among writes is more than this simulator has
        mixed = () if "sata" in own.kind or "nvme" in own.kind else (Load(small, 16, read_ratio=0.7),)
        asked.append(draw.choice((Load(small, 1, True), Load(small, 4, True), *mixed)))
    # pools read ahead of what is in order, and this simulator does not
    asked.append(Load(draw.choice((128, 1024)) * _KIB, draw.choice((1, 4, 8)), False, own.kind != "pool"))
    return tuple(asked)


def specimen(own: Subject, seed: int) -> Box:
    """Return an array of drives that are not quite as their sheets have them, before a host that is none of a kind."""
    draw = random.Random(f"specimen {own.words} {seed}")
    box = own.box()
    for member in box.members:
        names = ("shortest", "longest", "bytes_per_s", "overhead")
        if isinstance(member, Flash):
            names = ("read", "program", "program_bytes_per_s", "random_bytes_per_s")
        for name in names:
            setattr(member, name, getattr(member, name) * draw.lognormvariate(0, _SPECIMEN))
    if box.processor:
        box.processor *= draw.lognormvariate(0, _OTHER_HOST)
    return box
