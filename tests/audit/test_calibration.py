"""Calibrated rewards: what they are, and when they are refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.calibration import MIN_VERSION_LABELS, SPAN_S, of_spans
from audit.drift import Span
from audit.estimate_reader import Group
from audit.estimates import MIN_LABELS
from audit.strata import LabelledVerdict, SampleCount
from audit.types import Stratum
from rollouts.advantages import group_relative_advantages

Labels = dict[str, tuple[int, int]]
"""By stratum: right and wrong answers."""

HEALTHY: Labels = {"accept/plain": (97, 3), "accept/edge": (12, 18), "reject/plain": (5, 95)}


def day(number: int, labels: Labels, sizes: dict[str, int] | None = None) -> Span:
    """One day: 1,000 verdicts of each stratum unless said otherwise."""
    group = Group()
    window = number * SPAN_S
    for name, (right, wrong) in labels.items():
        data = group.of(Stratum("numeric", "1", "", name))
        data.verdicts[window] = float((sizes or {}).get(name, 1_000))
        data.samples[window] = SampleCount(200, 200, 0)
        answers = ["correct"] * right + ["incorrect"] * wrong
        data.labels += [
            LabelledVerdict(window, False, f"{name}{number}{n}", answer)  # type: ignore[arg-type]
            for n, answer in enumerate(answers)
        ]
    return Span(None, window, window + SPAN_S, group)


def test_the_chance_that_an_answer_is_right() -> None:
    """1 - F for accepts, O for rejects, by stratum: what the labels of that stratum say."""
    found = of_spans([day(0, HEALTHY)])
    assert (found.refused, found.labels) == (None, 230)
    assert found.by_stratum == pytest.approx({"accept/plain": 0.97, "accept/edge": 0.4, "reject/plain": 0.05})
    assert found.of("accept/edge") == (pytest.approx(0.4), None)
    assert found.of("accept/unseen") == (None, "too_few_labels_in_stratum")


def test_a_stratum_with_few_labels_is_refused_alone() -> None:
    """The others keep their chance."""
    found = of_spans([day(0, HEALTHY | {"reject/odd": (0, MIN_LABELS - 1)}, {"reject/odd": 10})])
    assert found.of("reject/odd") == (None, "too_few_labels_in_stratum")
    assert found.of("reject/plain") == (pytest.approx(0.05), None)


@pytest.mark.parametrize(
    ("labels", "refused"),
    [
        ({}, "too_few_labels"),
        ({"accept/plain": (100, 0), "reject/plain": (0, MIN_VERSION_LABELS - 101)}, "too_few_labels"),
        ({"accept/plain": (100, 0), "reject/plain": (0, MIN_VERSION_LABELS - 100)}, None),
        ({"accept/plain": (MIN_VERSION_LABELS, 0), "reject/plain": (0, 0)}, "uninformative"),
        ({"accept/plain": (60, 40), "reject/plain": (45, 55)}, "uninformative"),
    ],
)
def test_refusals_of_a_version(labels: Labels, refused: str | None) -> None:
    """Too few labels, or rates whose upper bounds together reach 1."""
    found = of_spans([day(0, labels)])
    assert found.refused == refused
    assert found.of("accept/plain")[1] == refused
    assert bool(found.by_stratum) == (refused is None)


def test_labels_from_before_a_change_do_not_count() -> None:
    """After an alarm only what was labelled since counts, and too little of that is refused."""
    before = [day(n, {"accept/plain": (100, 0), "reject/plain": (0, 100)}) for n in range(2)]
    few = day(2, {"accept/plain": (50, 50), "reject/plain": (1, 40)})
    found = of_spans([*before, few])
    assert (found.refused, found.labels) == ("labels_before_drift", 141)
    more = day(3, {"accept/plain": (50, 50), "reject/plain": (1, 40)})
    found = of_spans([*before, few, more])
    assert (found.refused, found.labels) == (None, 282)
    assert found.by_stratum["accept/plain"] == pytest.approx(0.5)


@given(
    st.lists(st.sampled_from([0.0, 1.0]), min_size=4, max_size=16),
    st.floats(0.0, 0.45),
    st.floats(0.0, 0.45),
)
def test_one_correction_for_all_changes_nothing(rewards: list[float], fpr: float, fnr: float) -> None:
    """Undoing the noise by the same map for all leaves GRPO as it is, and only scales Dr. GRPO."""
    scale = 1 - fpr - fnr
    corrected = [(reward - fpr) / scale for reward in rewards]
    of_grpo, of_dr_grpo = (
        partial(group_relative_advantages, scale=scaled, eps=0.0) for scaled in (True, False)
    )
    assert of_grpo(np.array(corrected)) == pytest.approx(of_grpo(np.array(rewards)), abs=1e-9)
    assert of_dr_grpo(np.array(corrected)) == pytest.approx(of_dr_grpo(np.array(rewards)) / scale, abs=1e-9)
