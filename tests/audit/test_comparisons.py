"""Two proportions and two judges, against published vectors, statsmodels and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import confint_proportions_2indep, test_proportions_2indep

from audit.comparisons import cohen_kappa, mcnemar_exact, newcombe, score_test

as_statsmodels = test_proportions_2indep
as_statsmodels.__test__ = False  # a function of the oracle, not a test


def test_vectors() -> None:
    """12 of 120 and 3 of 120 errors; nine flips one way and two the other; two labelers of 100."""
    assert newcombe(12, 120, 3, 120)[1:] == pytest.approx((0.012852, 0.143684), abs=5.1e-7)
    assert score_test(12, 120, 3, 120) == pytest.approx(0.016621, abs=5.1e-7)
    assert stats.fisher_exact([[12, 108], [3, 117]]).pvalue == pytest.approx(0.02972, abs=1e-5)
    assert mcnemar_exact(9, 2) == pytest.approx(0.065430, abs=5.1e-7)
    assert cohen_kappa([[40, 3], [5, 52]]) == pytest.approx(0.837728, abs=5.1e-7)


COUNTS = st.integers(2, 3_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@settings(max_examples=200)
@given(COUNTS, COUNTS)
def test_two_proportions_as_statsmodels(one: tuple[int, int], other: tuple[int, int]) -> None:
    """Any counts of two independent samples."""
    found = newcombe(*one, *other)
    assert found[1:] == pytest.approx(confint_proportions_2indep(*one, *other, method="newcomb"), abs=1e-9)
    errors = one[0] + other[0]
    assume(0 < errors < one[1] + other[1])
    with np.errstate(all="ignore"):  # its ratios, which nobody asked for
        expected: Any = as_statsmodels(*one, *other, method="score")
    assert score_test(*one, *other) == pytest.approx(expected.pvalue, abs=1e-7)


def test_nothing_but_errors_or_none() -> None:
    """No variance, no evidence of a difference."""
    assert score_test(0, 10, 0, 20) == score_test(10, 10, 20, 20) == 1.0


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_as_statsmodels(one_way: int, other_way: int) -> None:
    """Any number of flips."""
    expected = mcnemar([[0, one_way], [other_way, 0]], exact=True).pvalue if one_way + other_way else 1.0
    assert mcnemar_exact(one_way, other_way) == pytest.approx(min(1.0, expected), abs=1e-9)
    assert mcnemar_exact(one_way, other_way) == mcnemar_exact(other_way, one_way)


def test_mcnemar_of_very_many_flips() -> None:
    """Beyond the range of floats."""
    assert mcnemar_exact(3_000, 3_000) == 1.0
    assert mcnemar_exact(0, 3_000) == 0.0


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=4, max_size=4))
def test_kappa_as_statsmodels(table: list[list[int]]) -> None:
    """Any table of four answers; undefined where chance alone agrees, or nothing was labelled."""
    found = cohen_kappa(table)
    if found is None:
        rows = [sum(row) for row in table]
        assert sum(rows) in (0, max(rows))
    else:
        assert found == pytest.approx(cohens_kappa(table, return_results=False), abs=1e-9)
