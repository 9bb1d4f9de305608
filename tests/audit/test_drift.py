"""Changes of rates: found when they are there, seldom raised when they are not."""

from __future__ import annotations

import random

import pytest

from audit.comparisons import newcombe
from audit.drift import ALPHA, MEASURES, Measure, Span, looks, merged
from audit.estimate_reader import Group
from audit.intervals import Bounded, clopper_pearson, mover_difference
from audit.strata import LabelledVerdict, SampleCount
from audit.types import Stratum


def group(window: int, *, wrong: int = 0, right: int = 0, nulls: int = 0, verdicts: int = 1_000) -> Group:
    """One window: accepts with labels, rejects with as many, unscorable verdicts."""
    found = Group()
    for name, answers in (
        ("accept/plain", ["incorrect"] * wrong + ["correct"] * right),
        ("reject/plain", ["correct"] * wrong + ["incorrect"] * right),
    ):
        data = found.of(Stratum("v", "1", "", name))
        data.verdicts[window] = float(verdicts)
        data.samples[window] = SampleCount(200, 200, 0)
        data.labels += [
            LabelledVerdict(window, False, f"{name}{window}{n}", answer)  # type: ignore[arg-type]
            for n, answer in enumerate(answers)
        ]
    if nulls:
        found.of(Stratum("v", "1", "", "unscorable/verifier_timeout")).verdicts[window] = float(nulls)
    return found


def span(window: int, of: Group) -> Span:
    """A span of one window."""
    return Span(None, window, window + 1, of)


def alarms(groups: list[Group], *, pooled: bool = True) -> list[list[Measure]]:
    """Which measures alarm at each look."""
    found = looks([span(window, one) for window, one in enumerate(groups)], pooled=pooled)
    return [[name for name, change in look.changes.items() if change.alarm] for look in found]


def test_the_published_difference() -> None:
    """12 errors in 120 labels beside 3 in 120: by exact intervals it reaches lower than Newcombe's."""
    before, after = group(0, wrong=3, right=117), group(1, wrong=12, right=108)
    [look] = looks([span(0, before), span(1, after)], pooled=False)
    change = look.changes["fdr"]
    confidence = 1 - ALPHA * 6 / 3.141592653589793**2 / 3
    assert change.confidence == pytest.approx(confidence)
    assert (change.before, change.after) == (pytest.approx(0.025), pytest.approx(0.1))
    assert change.difference is not None
    exact = mover_difference(
        Bounded(0.1, *clopper_pearson(12, 120, confidence)),
        Bounded(0.025, *clopper_pearson(3, 120, confidence)),
    )
    assert change.difference == pytest.approx(exact)
    assert change.difference.lower < newcombe(12, 120, 3, 120, confidence).lower


def test_a_rise_and_a_fall() -> None:
    """Errors on both sides and null rates that change are named, with their direction."""
    calm, bad = group(0, wrong=2, right=198, nulls=1), group(1, wrong=40, right=160, nulls=60)
    [look] = looks([span(0, calm), span(1, bad)], pooled=True)
    assert {measure: look.changes[measure].alarm for measure in MEASURES} == dict.fromkeys(MEASURES, "rose")
    [look] = looks([span(0, bad), span(1, calm)], pooled=True)
    assert {measure: look.changes[measure].alarm for measure in MEASURES} == dict.fromkeys(MEASURES, "fell")


def test_too_few_labels_say_nothing() -> None:
    """No labels, no verdicts: no difference and no alarm."""
    [look] = looks([span(0, group(0, wrong=5, right=100)), span(1, group(1))], pooled=True)
    assert look.changes["fdr"].difference is None
    assert look.changes["null_rate"].difference is not None
    [look] = looks([span(0, Group()), span(1, Group())], pooled=True)
    assert all(change.difference is None and change.alarm is None for change in look.changes.values())


def test_each_look_asks_for_more() -> None:
    """What all looks together may spend is the chance of a false alarm that was promised."""
    found = looks([span(n, group(n)) for n in range(400)], pooled=True)
    spent = sum(len(MEASURES) * (1 - look.changes["fdr"].confidence) for look in found)
    assert ALPHA * 0.99 < spent < ALPHA


def test_what_came_before_is_pooled_by_time_and_not_by_version() -> None:
    """A third span is held against both before it, or against the second alone."""
    groups = [group(0, right=2_000), group(1, right=20, verdicts=20), group(2, wrong=40, right=360)]
    assert "fdr" in alarms(groups)[1]
    assert alarms(groups, pooled=False) == [[], []]


def test_a_change_is_told_once() -> None:
    """What alarmed is what later spans are held against."""
    calm, bad = (lambda n: group(n, wrong=2, right=198)), (lambda n: group(n, wrong=60, right=140))
    found = alarms([calm(0), calm(1), bad(2), bad(3), bad(4), calm(5)])
    assert ["fdr" in names for names in found] == [False, True, False, False, True]


def test_merging_loses_nothing() -> None:
    """All windows, samples and labels of the parts, which are left as they were."""
    parts = [group(n, wrong=n, right=10, nulls=n) for n in range(4)]
    whole = merged(parts)
    assert sum(data.size for data in whole.scored) == 8_000
    assert sum(len(data.labels) for data in whole.scored) == 2 * (6 + 40)
    assert whole.sizes("unscorable") == {"verifier_timeout": 6}
    assert sum(len(data.labels) for data in parts[3].scored) == 26


def test_a_steady_verifier_seldom_alarms() -> None:
    """Of 60 steady runs with five looks at three measures, no more alarm than was promised."""
    random_ = random.Random(7)
    alarmed = 0
    for _ in range(60):
        groups = []
        for window in range(6):
            wrong = sum(random_.random() < 0.03 for _ in range(60))
            nulls = sum(random_.random() < 0.01 for _ in range(1_000))
            groups.append(group(window, wrong=wrong, right=60 - wrong, nulls=nulls))
        alarmed += any(alarms(groups))
    assert alarmed <= 60 * ALPHA
