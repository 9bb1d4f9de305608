"""Which payloads are kept."""

from __future__ import annotations

import pytest

from audit.sampling import unit_interval


@pytest.mark.parametrize(
    ("verdict_id", "expected"), [("v-000001", 0.815857427845), ("v-000002", 0.632475668341)]
)
def test_published_vectors(verdict_id: str, expected: float) -> None:
    """The hash is the documented one, so that other programs can repeat the choice."""
    assert unit_interval(verdict_id, "s1") == pytest.approx(expected, abs=5e-13)
