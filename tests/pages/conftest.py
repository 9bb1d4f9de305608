"""The application whose pages these tests read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from serving import Client, serving


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application that stores every verdict before it answers."""
    with serving(tmp_path_factory.mktemp("pages"), audit_budget=100_000, audit_durability="commit") as client:
        yield client
