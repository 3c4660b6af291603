"""Pytest plugin of mutation runs: property tests stop at the first failure, and the quickest tests run first."""

import pytest
from hypothesis import Phase, settings

settings.register_profile(
    "mutation", derandomize=True, database=None, deadline=None, phases=(Phase.explicit, Phase.generate)
)
settings.load_profile("mutation")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples worked by hand before properties, which draw hundreds of inputs."""
    items.sort(key=lambda item: "property" in item.nodeid)
