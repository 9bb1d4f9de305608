"""How many labels a question needs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.intervals import wilson
from audit.label_needs import MOST_LABELS, design_effect, for_half_width, probability_to_find, to_find


@pytest.mark.parametrize(("rate", "half_width", "labels"), [(0.01, 0.005, 1_610), (0.05, 0.02, 480)])
def test_published_needs(rate: float, half_width: float, labels: int) -> None:
    """Half a point at one percent, two points at five: published in tens, with whole errors."""

    def half(n: int) -> float:
        lower, upper = wilson(round(rate * n), n)
        return (upper - lower) / 2

    assert half(labels) <= half_width < half(labels - 10)
    found = for_half_width(rate, half_width)
    assert found is not None
    assert labels * 0.97 < found <= labels


@given(st.floats(0, 1), st.floats(1e-3, 0.4))
def test_least_number_for_a_width(rate: float, half_width: float) -> None:
    """Enough, and one less is not."""
    labels = for_half_width(rate, half_width)
    assert labels is not None

    def half(n: int) -> float:
        lower, upper = wilson(rate * n, n)
        return (upper - lower) / 2

    assert half(labels) <= half_width
    assert labels == 1 or half(labels - 1) > half_width


@given(st.integers(1, 10), st.floats(1e-3, 1), st.floats(1e-2, 1), st.floats(0.5, 0.999))
def test_least_number_to_find(errors: int, rate: float, share: float, probability: float) -> None:
    """By scipy's binomial: enough, and one less is not."""
    labels = to_find(errors, rate, share, probability)
    assert labels is not None
    assert stats.binom.sf(errors - 1, labels, rate * share) >= probability - 1e-9
    assert labels == errors or stats.binom.sf(errors - 1, labels - 1, rate * share) < probability + 1e-9


def test_hopeless() -> None:
    """More labels than anybody gives."""
    assert to_find(1, 0.0) is None
    assert to_find(1, 1e-6, 1e-6) is None
    assert for_half_width(0.5, 1e-9) is None
    assert MOST_LABELS >= 10**6
    assert probability_to_find(0, 0.0, 0) == 1.0
    assert probability_to_find(2, 0.5, 1) == 0.0


def test_design_effect() -> None:
    """Groups of eight with a correlation of 0.4: 200 labels are worth 53."""
    assert design_effect(8, 0.4) == pytest.approx(3.8)
    assert round(200 / design_effect(8, 0.4)) == 53
    assert design_effect(1, 0.4) == 1.0
