"""Intervals against published vectors, statsmodels and scipy, and what must hold of any interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from audit.beta import beta_cdf, beta_quantile
from audit.intervals import (
    Bounded,
    Interval,
    Proportion,
    bound_without_errors,
    clopper_pearson,
    mover_difference,
    mover_product,
    mover_sum,
    normal_quantile,
    wilson,
)
from benchmarks import interval_peers as peers

# errors, labels: Wilson, Agresti-Coull, Clopper-Pearson, Jeffreys (statsmodels 0.15.0)
VECTORS = [
    ((0, 50), (0, 0.071348), (0, 0.085216), (0, 0.071122), (0.000010, 0.048758)),
    ((1, 50), (0.003539, 0.104954), (0, 0.114748), (0.000506, 0.106470), (0.002166, 0.089680)),
    ((3, 100), (0.010255, 0.084519), (0.006522, 0.088252), (0.006230, 0.085176), (0.008520, 0.077888)),
    ((0, 300), (0, 0.012643), (0, 0.015233), (0, 0.012221), (0.000002, 0.008331)),
    ((50, 50), (0.928652, 1), (0.914784, 1), (0.928878, 1), (0.951242, 0.999990)),
    ((0, 1), (0, 0.793451), (0, 0.832501), (0, 0.975000), (0.000386, 0.853254)),
]
STRATA = [peers.Counted(400, 80, 24), peers.Counted(600, 60, 3), peers.Counted(9_000, 100, 0)]


@pytest.mark.parametrize(("counts", "of_wilson", "of_agresti", "of_clopper", "of_jeffreys"), VECTORS)
def test_vectors_of_one_proportion(
    counts: tuple[int, int],
    of_wilson: Interval,
    of_agresti: Interval,
    of_clopper: Interval,
    of_jeffreys: Interval,
) -> None:
    """The published bounds, to the last digit given."""
    assert wilson(*counts) == pytest.approx(of_wilson, abs=5.1e-7)
    assert clopper_pearson(*counts) == pytest.approx(of_clopper, abs=5.1e-7)
    assert peers.agresti_coull(*counts) == pytest.approx(of_agresti, abs=5.1e-7)
    assert peers.jeffreys(*counts) == pytest.approx(of_jeffreys, abs=5.1e-7)


def test_without_labels() -> None:
    """Nothing is known: from 0 to 1."""
    assert clopper_pearson(0, 0) == wilson(0, 0) == (0.0, 1.0)
    assert bound_without_errors(0) == 1.0
    assert Proportion(0.0, 0.0).bounds() == (0.0, 0.0, 1.0)


@pytest.mark.parametrize(("labels", "bound"), [(50, 0.058155), (300, 0.009936)])
def test_one_sided_bound(labels: int, bound: float) -> None:
    """Where no error was found: close to three by the number of labels."""
    assert bound_without_errors(labels) == pytest.approx(bound, abs=5.1e-7)
    assert bound < 3 / labels < 1.05 * bound


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (peers.wald, (0.010195, 0.019805)),
        (peers.wilson_effective, (0.010896, 0.020618)),
        (peers.mover_of(wilson), (0.010918, 0.048975)),
        (peers.mover_of(clopper_pearson), (0.010437, 0.048338)),
        (peers.bonferroni, (0.007793, 0.069241)),
    ],
)
def test_stratified_vectors(method: object, expected: Interval) -> None:
    """Three strata of 400, 600 and 9,000 verdicts, 27 errors in 240 labels."""
    assert method(STRATA) == pytest.approx(expected, abs=5.1e-7)  # type: ignore[operator]


def test_other_estimators_of_a_rate() -> None:
    """Stratified, Horvitz-Thompson, Hájek and active inference, with their published errors."""
    assert peers.stratified(STRATA) == pytest.approx((0.015, 0.0024517), abs=5e-8)
    wrong, chances = (1, 0, 1, 0, 0), (0.5, 0.5, 0.1, 0.1, 0.05)
    assert peers.horvitz_thompson(wrong, chances, 40) == pytest.approx((0.3, 0.239792), abs=5.1e-7)
    assert peers.hajek(wrong, chances) == pytest.approx((0.272727, 0.208012), abs=5.1e-7)
    active = peers.aipw((0.9, 0.1, 0.2, 0.05), (0.5, 0.5, 0.25, 0.25), (1, 0, 1, 0), (1, 0, 0, 0))
    assert active == pytest.approx(0.1625)
    assert peers.jeffreys_draws(STRATA, 20_000) == pytest.approx((0.0119, 0.0384), abs=6e-4)
    strata = [peers.Counted(40_000, 400, 40)]
    assert peers.hajek_normal(strata) == pytest.approx(proportion_confint(40, 400), rel=0.02)


COUNTS = st.integers(1, 5_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
CONFIDENCES = st.sampled_from([0.8, 0.95, 0.975, 0.9999])


@settings(max_examples=300)
@given(COUNTS, CONFIDENCES)
def test_as_statsmodels(counts: tuple[int, int], confidence: float) -> None:
    """Any counts, any confidence."""
    alpha = 1 - confidence
    assert clopper_pearson(*counts, confidence) == pytest.approx(
        proportion_confint(*counts, alpha=alpha, method="beta"), abs=1e-9
    )
    assert wilson(*counts, confidence) == pytest.approx(
        proportion_confint(*counts, alpha=alpha, method="wilson"), abs=1e-9
    )


@settings(max_examples=300)
@given(st.floats(0.05, 1e5), st.floats(0.05, 1e5), st.floats(1e-4, 1 - 1e-4))
def test_beta_as_scipy(a: float, b: float, p: float) -> None:
    """Distribution and quantile, for counts that are no integers too."""
    x = stats.beta.ppf(p, a, b)
    assert beta_quantile(p, a, b) == pytest.approx(x, rel=1e-6, abs=1e-9)
    assert beta_cdf(x, a, b) == pytest.approx(stats.beta.cdf(x, a, b), abs=1e-9)


@settings(max_examples=200)
@given(COUNTS, st.integers(1, 200))
def test_more_labels_narrow(counts: tuple[int, int], more: int) -> None:
    """At the same rate more labels never widen an interval, which always holds the rate itself."""
    errors, labels = counts
    before, after = clopper_pearson(errors, labels), clopper_pearson(errors * (1 + more), labels * (1 + more))
    assert before.lower <= after.lower <= errors / labels <= after.upper <= before.upper


@given(st.floats(0.01, 0.9999))
def test_normal_quantile_as_scipy(confidence: float) -> None:
    """Standard deviations to either side."""
    assert normal_quantile(confidence) == pytest.approx(stats.norm.ppf(0.5 + confidence / 2), abs=1e-9)


BOUNDED = st.tuples(COUNTS, CONFIDENCES).map(
    lambda given: Bounded(given[0][0] / given[0][1], *clopper_pearson(*given[0], given[1]))
)


@given(st.lists(st.tuples(st.floats(0.01, 1), BOUNDED), min_size=1, max_size=6))
def test_a_sum_lies_within_its_terms(terms: list[tuple[float, Bounded]]) -> None:
    """Never wider than all terms at their bounds at once, never narrower than any one of them."""
    total = math.fsum(weight for weight, _ in terms)
    scaled = [(weight / total, term) for weight, term in terms]
    estimate, lower, upper = mover_sum(scaled)
    slack = 1e-9
    assert lower <= estimate + slack
    assert estimate <= upper + slack
    assert lower >= sum(w * term.lower for w, term in scaled) - slack
    assert upper <= sum(w * term.upper for w, term in scaled) + slack
    assert upper - estimate >= max(w * (term.upper - term.estimate) for w, term in scaled) - slack


@given(BOUNDED, BOUNDED)
def test_products(one: Bounded, other: Bounded) -> None:
    """The product of bounds is never wider than that of the corners; an exact factor only scales."""
    estimate, lower, upper = mover_product(one, other)
    assert estimate == pytest.approx(one.estimate * other.estimate)
    assert lower >= one.lower * other.lower - 1e-9
    assert upper <= one.upper * other.upper + 1e-9
    assert lower <= estimate + 1e-12
    assert estimate <= upper + 1e-12
    exact = Proportion(other.estimate, math.inf).bounds()
    assert mover_product(one, exact) == pytest.approx([part * other.estimate for part in one])


@given(BOUNDED, BOUNDED)
def test_differences(one: Bounded, other: Bounded) -> None:
    """A difference turned round has its bounds turned round, within -1 and 1."""
    assume(one != other)
    estimate, lower, upper = mover_difference(one, other)
    assert mover_difference(other, one) == pytest.approx((-estimate, -upper, -lower), abs=1e-12)
    assert -1 <= lower <= estimate <= upper <= 1
