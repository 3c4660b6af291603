"""Choose the runs of tests/data/fio-depths.csv from all runs of the collection; run as a script it writes the table.

The collection is arrays-raw.csv in the folder that DISKMODEL_EVIDENCE names.
"""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from tests.validation.fits.measured import DATA, PERCENTS

#: Name of a drive and its host → folders of its runs in fio-plot's benchmark_data, the preferred first.
FOLDERS = {
    "Samsung F1 1 TB": ("HPMICROSERVERG10/SATA_AHCI_SAMSUNGF1_1TB_7K2RPM",),
    "WD Raptor 74 GB": (
        "HPMICROSERVERG10/SATA_AHCI_WD740GD_74GB_10RPM/RUN1",
        "HPMICROSERVERG10/SATA_AHCI_WD740GD_74GB_10RPM/RUN2",
    ),
    "Intel D3-S4610 (MicroServer G10)": ("HPMICROSERVERG10/SATA_AHCI_INTEL_D3-S4610_SSDSC2KG48",),
    "Samsung PM883 (MicroServer G10)": ("HPMICROSERVERG10/SATA_AHCI_SAMSUNG_PM833_MZ7LH480HAHQ",),
    "Intel D3-S4610 (MicroServer G8)": ("HPMICROSERVERG8/SATA300/INTELD3S4610",),
    "Samsung 860 Pro (MicroServer G8)": ("HPMICROSERVERG8/SATA300/SAMSUNG860PRO",),
    "Samsung PM883 (MicroServer G8)": ("HPMICROSERVERG8/SATA300/SAMSUNGPM833",),
    "Crucial 250 GB (MicroServer G8)": ("HPMICROSERVERG8/SATA300/crucial250-01",),
    "Crucial 250 GB (MicroServer G8; second run)": ("HPMICROSERVERG8/SATA300/crucial250-02",),
    "Intel D3-S4610 (IBM M1015)": ("SERVER/IBM_M1015/INTEL_D3-S4610_SSDSC2KG48",),
    "Kingston DC500M (IBM M1015)": ("SERVER/IBM_M1015/KINGSTONDC500M",),
    "Samsung 860 Pro (IBM M1015)": ("SERVER/IBM_M1015/SAMSUNG_860_PRO",),
    "Samsung 860 Pro (P420i as HBA)": ("HPDL380G8/HBA/SAMSUNG_860PRO",),
    "Crucial 240 GB (USB)": ("HPMICROSERVERG10/USB_CRUCIAL_240GB",),
    "HGST HTS72101 (P420i)": ("HPDL380G8/RAID/P420i_HGST_HTS72101_100GB7k",),
    "Intel SSD (P420i)": ("HPDL380G8/RAID/5MINUTES/INTEL",),
    "Kingston SSD (P420i)": ("HPDL380G8/RAID/5MINUTES/KINGSTON",),
    "Crucial MX200 (P420i)": ("HPDL380G8/RAID/P420i_CRUCIAL_MX200",),
    "Crucial MX200 (P420i; second run)": ("HPDL380G8/RAID/NEW/P420i_CRUCIAL_MX200",),
    "Crucial MX200 (P420i; file of 30 GB)": ("HPDL380G8/RAID/NEW/P420i_CRUCIAL_MX200_30GB",),
    "Intel D3-S4610 (P420i)": ("HPDL380G8/RAID/P420i_INTEL_D3-S4610_SSDSC2KG48/TEST01",),
    "Intel D3-S4610 (P420i; second run)": ("HPDL380G8/RAID/P420i_INTEL_D3-S4610_SSDSC2KG48/TEST02_RANDREPEAT_1",),
    "Intel D3-S4610 (P420i; third run)": ("HPDL380G8/RAID/P420i_INTEL_D3-S4610_SSDSC2KG48/TEST03_RANDREPEAT_0",),
    "Samsung 860 Pro (P420i)": ("HPDL380G8/RAID/P420i_SAMSUNG_860PRO/TEST01",),
    "Samsung 860 Pro (P420i; write cache off)": ("HPDL380G8/RAID/P420i_SAMSUNG_860PRO/TEST02_DISABLED_WRITE_CACHE",),
    "Samsung PM883 (P420i)": ("HPDL380G8/RAID/P420i_SAMSUNG_PM883_MZ7LH480",),
}
DEPTHS = (1, 2, 4, 8, 16, 32, 64)
#: Longest response of a run in which no command timed out, ms: Linux waits 30 s for a command.
LONGEST_MS = 20_000
FIELDS = ("iops", "lat_mean_ms", *(f"clat_p{percent}_ms" for percent in PERCENTS), "clat_max_ms")
HEAD = ("drive", "pattern", "depth", "jobs", "iops", "mean_ms", *(f"p{percent}_ms" for percent in PERCENTS), "max_ms")


def table(collection: Path) -> str:
    """Return the table: for each drive, pattern and depth the run with the fewest jobs in which nothing timed out."""
    with collection.open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((*HEAD, "folder"))
    for drive, folders in FOLDERS.items():
        own = [run for run in runs if run["dataset"] in folders and float(run["clat_max_ms"]) < LONGEST_MS]
        for pattern in ("randread", "randwrite"):
            for depth in DEPTHS:
                found = [r for r in own if r["rw"] == pattern and int(r["iodepth"]) * int(r["numjobs"]) == depth]
                if found:
                    run = min(found, key=lambda r: (int(r["numjobs"]), folders.index(r["dataset"])))
                    figures = [run[field] for field in FIELDS]
                    writer.writerow((drive, pattern, depth, run["numjobs"], *figures, run["dataset"]))
    return text.getvalue()


if __name__ == "__main__":
    DATA.write_text(table(Path(os.environ["DISKMODEL_EVIDENCE"]) / "arrays-raw.csv"), encoding="utf-8")
