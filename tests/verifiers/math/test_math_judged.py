"""Pairs judged by hand, as models and data sets write them: right ones, near misses and hostile ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.types import Unscorable, Verdict

Pair = tuple[str, str, bool, MathOptions]


def _pairs() -> Iterator[tuple[str, Pair]]:
    kind = ""
    for line in Path(__file__).with_name("judged_pairs.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            kind = line[3:]
        elif not line.startswith("#"):
            truth, answer, right, *options = line.split(" ||| ")
            yield (
                kind,
                (truth, answer, right == "1", MathOptions(**json.loads(options[0] if options else "{}"))),
            )


KINDS: dict[str, list[Pair]] = {}
for _kind, _pair in _pairs():
    KINDS.setdefault(_kind, []).append(_pair)


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_are_judged_as_by_hand(kind: str) -> None:
    """Every pair of the kind gets the verdict that stands beside it."""
    wrong = []
    for truth, answer, right, options in KINDS[kind]:
        raw = answer.startswith("raw:")
        response = answer[4:].replace("\\n", "\n") if raw else f"\\boxed{{{answer}}}"
        outcome = judge(response, truth, options)
        if not isinstance(outcome, Verdict) or outcome.correct is not right:
            wrong.append((truth, answer, outcome))
    assert wrong == []


ONE_WAY = {
    ("n \\ge 3", "n \\geq 3, n \\in \\mathbb{N}"),
    ("a_n=2^n", "a_n = 2^n, n\\ge1"),
    ("x=2, y=5", "5, 2"),
    ("x=-5, p=\\frac{14}{3}", "\\frac{14}{3}, -5"),
    ("x^2, x > 0", "x^2"),
    ("x^2", "x^2, x>0"),
    ("5", "2+3=6=5"),
    ("x^2 \\ (x>0)", "x^2"),
    ("n^2, n\\in\\mathbb{N}", "n^2"),
    ("n^2", "n^2, n\\in\\mathbb{N}"),
}
"""Other kinds on the two sides: the ground truth needs its condition or order, the response does not."""


@pytest.mark.parametrize("kind", KINDS)
def test_swapped_pairs_get_the_same_verdict(kind: str) -> None:
    """Under default options it does not matter which side is the ground truth, where both can be one."""
    wrong = []
    for truth, answer, right, options in KINDS[kind]:
        if answer.startswith("raw:") or options != MathOptions() or (truth, answer) in ONE_WAY:
            continue
        outcome = judge(f"\\boxed{{{truth}}}", answer, options)
        if (
            not (isinstance(outcome, Unscorable) and not right)
            and getattr(outcome, "correct", None) is not right
        ):
            wrong.append((truth, answer, outcome))
    assert wrong == []
