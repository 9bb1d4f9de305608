"""Rates from strata, samples and labels: vectors, refusals, and what must hold of any labels."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import rates
from audit.estimates import MIN_LABELS, Estimates, estimate
from audit.intervals import Bounded, clopper_pearson
from audit.labels import Answer
from audit.strata import MIN_STRETCH, LabelledVerdict, SampleCount, StratumData, is_wrong, parts_of
from audit.types import Stratum


def labels_of(
    name: str, wrong: int, right: int, window: int = 0, *, differs: bool = False, undecided: int = 0
) -> list[LabelledVerdict]:
    """Labels by what they say of the verdict."""
    of_wrong, of_right = ("incorrect", "correct") if name.startswith("accept") else ("correct", "incorrect")
    answers: list[Any] = [of_wrong] * wrong + [of_right] * right + ["unsure"] * undecided
    return [
        LabelledVerdict(window, differs, f"{name} {window} {differs} {n}", answer)
        for n, answer in enumerate(answers)
    ]


def stratum(
    name: str,
    verdicts: int,
    labels: Iterable[LabelledVerdict] = (),
    samples: SampleCount | None = None,
) -> StratumData:
    """A stratum of one window."""
    counts = {0: samples or SampleCount(100, 100, 0)}
    return StratumData(Stratum("v", "1", "", name), {0: float(verdicts)}, counts, list(labels))


ACCEPTS = [
    stratum("accept/several_boxes", 400, labels_of("accept/several_boxes", 24, 56)),
    stratum("accept/edge", 600, labels_of("accept/edge", 3, 57)),
    stratum("accept/plain", 9_000, labels_of("accept/plain", 0, 100)),
]
REJECTS = [stratum("reject/plain", 15_000, labels_of("reject/plain", 4, 196))]


def test_stratified_vector() -> None:
    """The published strata: 27 errors in 240 labels are a rate of 1.5 %, not 11 %."""
    found = estimate(ACCEPTS)
    told = found.accepts.rate
    assert (told.estimate, told.lower, told.upper) == pytest.approx((0.015, 0.010437, 0.048338), abs=5.1e-7)
    assert (found.accepts.labels, found.accepts.errors) == (240, 27)
    assert found.accepts.unlabelled_share == 0.0


def test_channel_vectors() -> None:
    """F = 1.5 %, O = 2 %, 40 % accepted; the corners of the published bounds; Rogan and Gladen's check."""
    q, f, o = 0.4, 0.015, 0.02
    fpr, fnr = rates.false_positive_rate(q, f, o), rates.false_negative_rate(q, f, o)
    assert fpr is not None
    assert fnr is not None
    assert (fpr, fnr) == pytest.approx((0.010101, 0.029557), abs=5.1e-7)
    informedness = 1 - fpr - fnr
    assert informedness == pytest.approx(0.960342, abs=5.1e-7)
    assert rates.prevalence(q, f, o) == pytest.approx((q - fpr) / informedness) == pytest.approx(0.406)
    box = (Bounded(q, q, q), Bounded(f, 0.0104, 0.0483), Bounded(o, 0.01, 0.04))
    positive = rates.corners(rates.false_positive_rate, *box)
    negative = rates.corners(rates.false_negative_rate, *box)
    assert positive is not None
    assert negative is not None
    assert positive[1:] == pytest.approx((0.006955, 0.032453), abs=5.1e-7)
    assert negative[1:] == pytest.approx((0.014931, 0.059306), abs=5.1e-7)
    assert rates.informedness(positive, negative) == pytest.approx((0.960342, 0.908241, 0.978114), abs=1e-6)


def test_channel_from_labels() -> None:
    """Both sides labelled: rates at the estimates, bounds from 97.5 % intervals of each side."""
    found = estimate([*ACCEPTS, *REJECTS])
    assert found.fpr.estimate == pytest.approx(0.010101, abs=5.1e-7)
    assert found.fnr.estimate == pytest.approx(0.029557, abs=5.1e-7)
    assert found.prevalence.estimate == pytest.approx(0.406)
    assert found.accepted.estimate == found.accepted.lower == found.accepted.upper == 0.4
    wider = estimate(ACCEPTS, confidence=0.975).accepts.rate
    o = clopper_pearson(4, 200, 0.975)
    assert found.fpr.lower == pytest.approx(rates.false_positive_rate(0.4, wider.lower, o.lower))
    assert found.fpr.upper == pytest.approx(rates.false_positive_rate(0.4, wider.upper, o.upper))
    assert found.fnr.lower == pytest.approx(rates.false_negative_rate(0.4, wider.lower, o.lower))


@pytest.mark.parametrize(
    ("answer", "of_accept", "of_reject"),
    [
        ("correct", False, True),
        ("incorrect", True, False),
        ("unsure", None, None),
        ("bad_ground_truth", None, None),
    ],
)
def test_a_label_is_about_the_answer(answer: Answer, of_accept: bool | None, of_reject: bool | None) -> None:
    """Whether the verdict was wrong follows from the side it was on."""
    assert is_wrong("accept", answer) is of_accept
    assert is_wrong("reject", answer) is of_reject


@pytest.mark.parametrize(
    ("strata", "fdr", "fpr"),
    [
        ([], "no_verdicts", "no_verdicts"),
        ([stratum("accept/plain", 100)], "no_labels", "one_side_only"),
        ([stratum("accept/plain", 100), stratum("reject/plain", 100)], "no_labels", "no_labels"),
        (
            [stratum("accept/plain", 100, labels_of("accept/plain", 1, MIN_LABELS - 2)), *REJECTS],
            "too_few_labels",
            "too_few_labels",
        ),
        ([*ACCEPTS, stratum("accept/new", 10_001), *REJECTS], "too_little_covered", "too_little_covered"),
        ([*ACCEPTS, stratum("reject/plain", 100)], None, "no_labels"),
        ([*ACCEPTS, *REJECTS], None, None),
    ],
)
def test_refusals(strata: list[StratumData], fdr: str | None, fpr: str | None) -> None:
    """Too little: no estimate, a reason, and bounds that hold all the same."""
    found = estimate(strata)
    for rate, reason in ((found.accepts.rate, fdr), (found.fpr, fpr)):
        assert rate.reason == reason
        assert (rate.estimate is None) == (reason is not None)
        assert 0 <= rate.lower <= rate.upper <= 1
    if fdr in {"no_verdicts", "no_labels"}:
        assert (found.accepts.rate.lower, found.accepts.rate.upper) == (0, 1)


def test_strata_without_labels_are_said() -> None:
    """The estimate covers the rest; the bounds allow for anything in them."""
    before = estimate(ACCEPTS).accepts
    after = estimate([*ACCEPTS, stratum("accept/new", 1_000)]).accepts
    share = 1_000 / 11_000
    assert (after.unlabelled_parts, after.unlabelled_share) == (1, pytest.approx(share))
    assert after.rate.estimate == pytest.approx(before.rate.estimate)
    assert after.rate.lower == pytest.approx((1 - share) * before.rate.lower)
    assert after.rate.upper == pytest.approx((1 - share) * before.rate.upper + share)


def test_undecided_are_bounded_both_ways() -> None:
    """They count for nothing in the rate, and beside it for all right and for all wrong."""
    name = "accept/plain"
    without = estimate([stratum(name, 1_000, labels_of(name, 5, 95))]).accepts
    found = estimate([stratum(name, 1_000, labels_of(name, 5, 95, undecided=10))]).accepts
    assert (found.labels, found.errors, found.undecided) == (100, 5, 10)
    assert found.rate == without.rate
    assert found.with_undecided.lower == pytest.approx(clopper_pearson(5, 110).lower)
    assert found.with_undecided.upper == pytest.approx(clopper_pearson(15, 110).upper)


def test_windows_are_weighed_by_their_size() -> None:
    """As many labels from a small window as from a large one: each stands for its own window."""
    name = "accept/plain"
    data = StratumData(
        Stratum("v", "1", "", name),
        {0: 9_000.0, 1: 1_000.0},
        {0: SampleCount(50, 50, 0), 1: SampleCount(50, 50, 0)},
        labels_of(name, 2, 48, 0) + labels_of(name, 25, 25, 1),
    )
    [part] = parts_of(data)
    assert part.rate.estimate == pytest.approx(0.9 * 0.04 + 0.1 * 0.5)
    assert part.rate.known_from == pytest.approx(1 / (0.9**2 / 50 + 0.1**2 / 50))


def test_windows_with_few_labels_are_joined() -> None:
    """Windows with a label here and there count as one stretch of time."""
    name = "accept/plain"
    labels = [label for n in range(30) for label in labels_of(name, n % 10 == 0, n % 10 != 0, n * 7)]
    data = StratumData(Stratum("v", "1", "", name), dict.fromkeys(range(210), 100.0), {}, labels)
    [part] = parts_of(data)
    assert len(labels) == 30
    assert part.labels == 30 >= 3 * MIN_STRETCH
    assert part.rate.estimate == pytest.approx(0.1, abs=0.01)
    assert 29 < part.rate.known_from <= 30


def test_a_group_counts_as_one_label() -> None:
    """Eight responses to one prompt tell as much as one."""
    name = "accept/plain"
    alone = labels_of(name, 0, 40)
    grouped = [one._replace(group=str(n // 8)) for n, one in enumerate(alone)]
    [part] = parts_of(stratum(name, 1_000, grouped))
    assert part.rate.known_from == pytest.approx(5)
    assert part.labels == 40


def test_second_opinions_split_a_stratum() -> None:
    """Labels are dense where a second opinion differs; each part counts for its share of the sample."""
    name = "accept/plain"
    labels = labels_of(name, 0, 60) + labels_of(name, 15, 5, differs=True)
    same, differing = parts_of(stratum(name, 10_000, labels, SampleCount(400, 400, 20)))
    assert (same.share.estimate, differing.share.estimate) == pytest.approx((0.95, 0.05))
    assert differing.size == pytest.approx(500)
    found = estimate([stratum(name, 10_000, labels, SampleCount(400, 400, 20))]).accepts.rate
    assert found.estimate == pytest.approx(0.05 * 0.75)
    low, high = clopper_pearson(20, 400)
    assert found.lower < 0.05 * 0.75 * (1 - (0.05 - low) / 0.05)
    assert found.upper > 0.75 * high


def test_a_sample_that_retention_has_thinned_says_nothing_about_shares() -> None:
    """Labelled verdicts stay when others go: such a window is no sample any more."""
    name = "accept/plain"
    data = StratumData(
        Stratum("v", "1", "", name),
        {0: 1_000.0, 1: 1_000.0},
        {0: SampleCount(100, 20, 18), 1: SampleCount(100, 100, 5)},
        labels_of(name, 0, 30) + labels_of(name, 9, 9, differs=True),
    )
    same, differing = parts_of(data)
    assert differing.share.estimate == pytest.approx(0.05)
    assert differing.share.known_from == pytest.approx(100)
    assert same.size + differing.size == pytest.approx(2_000)


COUNTS = st.tuples(st.integers(0, 8), st.integers(0, 60), st.integers(0, 4))


@st.composite
def strata(draw: st.DrawFn) -> list[StratumData]:
    """Any strata of both sides."""
    found = []
    for number in range(draw(st.integers(1, 5))):
        name = f"{draw(st.sampled_from(['accept', 'reject']))}/{number}"
        windows = draw(st.lists(st.integers(1, 10_000), min_size=1, max_size=3))
        labels: list[LabelledVerdict] = []
        samples = {}
        for window in range(len(windows)):
            differing = draw(st.integers(0, 10))
            kept = differing + draw(st.integers(0, 50))
            samples[window] = SampleCount(kept + draw(st.integers(0, 1)), kept, differing)
            for differs in (False, True):
                wrong, right, undecided = draw(COUNTS)
                labels += labels_of(name, wrong, right, window, differs=differs, undecided=undecided)
        sizes = {window: float(n) for window, n in enumerate(windows)}
        found.append(StratumData(Stratum("v", "1", "", name), sizes, samples, labels))
    return found


def every_rate(found: Estimates) -> list[tuple[float | None, float, float]]:
    """All rates that are told."""
    told = [
        found.accepts.rate,
        found.rejects.rate,
        found.accepts.with_undecided,
        found.rejects.with_undecided,
        found.fpr,
        found.fnr,
        found.prevalence,
        found.accepted,
        found.informedness,
    ]
    return [(rate.estimate, rate.lower, rate.upper) for rate in told]


@settings(max_examples=100)
@given(strata(), st.sampled_from([math.inf, 300.0]))
def test_bounds_hold_the_estimate(found: list[StratumData], known_from: float) -> None:
    """Whatever was labelled: bounds in order and in range, the estimate inside unless parts are uncovered."""
    told = estimate(found, known_from)
    for estimated, lower, upper in every_rate(told)[:-1]:
        assert 0 <= lower <= upper <= 1
        if estimated is not None:
            assert lower - 1e-9 <= estimated <= upper + 1e-9
    assert -1 - 1e-9 <= told.informedness.lower <= told.informedness.upper <= 1 + 1e-9
    for side in told.sides:
        assert side.with_undecided.lower <= side.rate.lower
        assert side.rate.upper <= side.with_undecided.upper


@settings(max_examples=50)
@given(strata())
def test_higher_confidence_is_wider(found: list[StratumData]) -> None:
    """At 99 % every interval holds that at 90 %."""
    for (_, low, high), (_, lower, higher) in zip(
        every_rate(estimate(found, confidence=0.9)),
        every_rate(estimate(found, confidence=0.99)),
        strict=True,
    ):
        assert lower <= low + 1e-9
        assert high <= higher + 1e-9
