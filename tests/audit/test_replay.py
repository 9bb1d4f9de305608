"""What flips between two versions, and which flips labels call wrong."""

from __future__ import annotations

import json
from itertools import product

import pytest

from audit.replay import Comparisons, Judged, Replayed

SIDES = (True, False, None)
ANSWERS = ("correct", "incorrect", "unsure", "bad_ground_truth", None)


def item(before: bool | None, now: bool | None, answer: str | None, name: str = "v") -> Replayed:
    """One item judged twice."""
    return Replayed(name, "numeric", Judged("1", "e", before, "a"), Judged("2", "e", now, "b"), answer)


@pytest.mark.parametrize(("before", "now", "answer"), list(product(SIDES, SIDES, ANSWERS)))
def test_turned_wrong_is_what_the_label_says(
    before: bool | None, now: bool | None, answer: str | None
) -> None:
    """All 45 cases: wrong now and not before, or right before and null now; nothing without a clear label."""
    right = {"correct": True, "incorrect": False}.get(answer or "")
    was_wrong, is_wrong = (
        None if side is None or right is None else side is not right for side in (before, now)
    )
    one = item(before, now, answer)
    expected = (is_wrong is True and was_wrong is not True) or (
        was_wrong is False and now is None and right is not None
    )
    assert one.turned_wrong is expected
    assert one.turned_right is (was_wrong is True and is_wrong is False)
    assert (one.flip == "same") is (before is now)
    if before is now:
        assert not one.turned_wrong
        assert not one.turned_right


def test_results_come_back() -> None:
    """A line of the results is the item again."""
    for sides in product(SIDES, SIDES, ANSWERS):
        one = item(*sides)
        assert Replayed.from_json(json.loads(json.dumps(one.as_json()))) == one


def test_mcnemar_of_flips_and_of_errors() -> None:
    """Nine flips one way and two the other have the exact p of the published table, .065430."""
    comparisons = Comparisons()
    for n in range(11):
        comparisons.add(item(n >= 9, n < 9, "correct" if n < 9 else "incorrect", str(n)))
    for n in range(5):
        comparisons.add(item(True, True, None, f"same {n}"))
    (one,) = comparisons.by_versions.values()
    assert (one.items, one.flips) == (16, {"accepted": 9, "rejected": 2, "same": 5})
    assert one.p_flips == pytest.approx(0.065430, abs=5e-7)
    assert (one.turned_right, one.turned_wrong) == (11, 0)
    assert one.p_errors == pytest.approx(2 / 2**11)
