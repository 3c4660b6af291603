"""Scores of all mutants that were run so far, by module: `python -m tests.trust.mutation.report`."""

from collections import Counter, defaultdict

from tests.trust.mutation.__main__ import is_noticed, module_of, statuses


def main() -> None:
    """Print a table as Markdown."""
    of_module: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name, status in statuses().items():
        of_module[module_of(name)][status] += 1
    of_module["all"] = sum(of_module.values(), Counter())
    print("| module | mutants | run | noticed | score |\n|---|---:|---:|---:|---:|")
    for module, count in of_module.items():
        n = count.total() - count["not checked"]
        noticed = sum(count[status] for status in count if is_noticed(status))
        if n:
            print(f"| `{module}` | {count.total()} | {n} | {noticed} | {noticed / n:.1%} |")


if __name__ == "__main__":
    main()
