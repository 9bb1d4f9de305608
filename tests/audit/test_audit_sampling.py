"""Which payloads are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.sampling import inclusion_probability, unit_interval


@pytest.mark.parametrize(
    ("verdict_id", "expected"), [("v-000001", 0.815857427845), ("v-000002", 0.632475668341)]
)
def test_published_vectors(verdict_id: str, expected: float) -> None:
    """The hash is the documented one, so that other programs can repeat the choice."""
    assert unit_interval(verdict_id, "s1") == pytest.approx(expected, abs=5e-13)


def test_share_of_many() -> None:
    """About the asked share is kept: 100,000 ids at a tenth lie within four standard deviations."""
    kept = sum(inclusion_probability(f"v-{n:06d}", False, 0.1) is not None for n in range(100_000))
    assert kept / 100_000 == pytest.approx(0.1, abs=0.0038)


@given(st.text(max_size=40), st.floats(0, 1), st.floats(0, 1))
def test_more_keeps_what_less_kept(verdict_id: str, one: float, other: float) -> None:
    """Raising the share only adds verdicts, and what is kept carries the share as its probability."""
    low, high = sorted((one, other))
    kept_low = inclusion_probability(verdict_id, False, low)
    kept_high = inclusion_probability(verdict_id, False, high)
    assert kept_low in (None, low)
    assert kept_low is None or kept_high == high


@given(st.text(max_size=40), st.floats(0, 1))
def test_unscorable_is_always_kept(verdict_id: str, rate: float) -> None:
    """Whatever the share, a verdict that could not be given is kept with certainty."""
    assert inclusion_probability(verdict_id, True, rate) == 1.0
    assert inclusion_probability(verdict_id, False, 1.0) == 1.0
    assert inclusion_probability(verdict_id, False, 0.0) is None
