"""Fit every trace, compare, and write the page: `make synthesis`. Needs DISKMODEL_EVIDENCE."""

from __future__ import annotations

import sys

from tests.validation.synthesis.measure import measure, summary
from tests.validation.synthesis.page import PAGE, write_page
from tests.validation.synthesis.traces import paths

#: What a synthetic workload is asked to reach: median error of mean and p99, and the largest of any.
MEDIAN_OF_MEAN, MEDIAN_OF_P99, LARGEST = 0.10, 0.20, 0.50


def main() -> int:
    """Exit status 0 when every limit is met, 3 when one is not."""
    if not paths():
        sys.exit("DISKMODEL_EVIDENCE names no folder with real-files/trace")
    found = measure()
    write_page(found)
    numbers = summary(found.fitted)
    for name, (median, most) in numbers.items():
        print(f"{name}: median error {median:.1%}, largest {most:.1%}")
    print(f"written: {PAGE}")
    is_met = numbers["mean"][0] <= MEDIAN_OF_MEAN and numbers["p99"][0] <= MEDIAN_OF_P99
    return 0 if is_met and max(most for _, most in numbers.values()) <= LARGEST else 3


if __name__ == "__main__":
    sys.exit(main())
