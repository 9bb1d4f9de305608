"""What a group of responses to one prompt tells: whether it teaches anything, how often it was solved.

Token entropy, distinct strings, distinct strategies and pass@k are four different things: a policy may be
undecided about words, write many texts with one idea, have one idea in many wordings, or solve by luck.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from keyword import kwlist
from typing import Final, Literal

from rollouts._parameters import integer, real

__all__ = [
    "DistinctStrategies",
    "RejectReason",
    "distinct_answers",
    "distinct_strategies",
    "distinct_strings",
    "expected_prompt_draws",
    "independent_pass_at_k",
    "informative_group_probability",
    "pass_at_k",
    "program_shape",
    "reject_reason",
]

_EXACT_N: Final = 10_000  # beyond, the integers get long

RejectReason = Literal["all_correct", "all_wrong", "equal_partial", "too_few_valid"]


def informative_group_probability(p: float, group_size: int) -> float:
    """`1 - p**G - (1 - p)**G`: the chance that a group is neither all solved nor all unsolved.

    p: chance of solving, within [0, 1], the same and independent for each response. group_size: at least 1.
    Raises ValueError for values out of range; TypeError for a group size that is no integer.
    """
    p, size = real("p", p, low=0.0, high=1.0), integer("group_size", group_size, low=1)
    return max(0.0, -_power_minus_one(1.0 - p, p, size) - p**size)


def expected_prompt_draws(groups: int, p: float, group_size: int) -> float:
    """`groups / informative_group_probability(p, group_size)`: prompts to draw until so many groups teach.

    Assumes that responses are independent and that p stays the same, for all prompts and while it is drawn;
    neither quite holds in training. groups: at least 1. Infinite when no group can be informative.
    Raises as `informative_group_probability`.
    """
    groups = integer("groups", groups, low=1)
    probability = informative_group_probability(p, group_size)
    return groups / probability if probability > 0.0 else math.inf


def independent_pass_at_k(p: float, k: int) -> float:
    """`1 - (1 - p)**k`: the chance that one of k independent responses is right.

    p: within [0, 1]. k: at least 1. Raises ValueError for values out of range; TypeError for a k of another
    type.
    """
    p, k = real("p", p, low=0.0, high=1.0), integer("k", k, low=1)
    return -_power_minus_one(1.0 - p, p, k)


def pass_at_k(n: int, c: int, k: int) -> float:
    """`1 - C(n - c, k) / C(n, k)`: unbiased estimate of pass@k from n responses of which c are right.

    Source: Chen et al. (arXiv 2107.03374). `0 <= c <= n`, `1 <= k <= n`.
    Raises ValueError for values out of range; TypeError for values that are no integers.
    """
    n = integer("n", n, low=1)
    c, k = integer("c", c, low=0, high=n), integer("k", k, low=1, high=n)
    if n - c < k:
        return 1.0
    if n <= _EXACT_N:
        subsets = math.comb(n, k)
        return (subsets - math.comb(n - c, k)) / subsets
    # C(n-c, k) / C(n, k) is a product over k factors, and the same one with c and k exchanged.
    few, many = min(c, k), max(c, k)
    return -math.expm1(math.fsum(math.log1p(-many / (n - i)) for i in range(few)))


def reject_reason(
    rewards: Sequence[float], correct: Sequence[bool], scores: Sequence[float] | None = None
) -> RejectReason | None:
    """Why a group teaches nothing, or None when it does: rewards that differ.

    rewards, correct: of the scored members only. scores: correctness without shaping (default: the rewards).
    `too_few_valid`: fewer than two were scored. Else all rewards are equal, and all are right
    (`all_correct`), all wrong with nothing earned (`all_wrong`), or anything between (`equal_partial`).
    Raises ValueError when lengths differ or a reward is not finite.
    """
    scores = rewards if scores is None else scores
    if not len(rewards) == len(correct) == len(scores):
        raise ValueError("rewards, correct and scores must have one length")
    if not all(math.isfinite(reward) for reward in rewards):
        raise ValueError("rewards must be finite")
    if len(rewards) < 2:
        return "too_few_valid"
    if min(rewards) != max(rewards):
        return None
    if all(correct):
        return "all_correct"
    return "all_wrong" if not any(correct) and max(scores) <= 0 else "equal_partial"


def distinct_strings(responses: Iterable[str]) -> int:
    """How many different texts there are, space around them aside."""
    return len({response.strip() for response in responses})


def distinct_answers(answers: Iterable[Hashable | None]) -> int:
    """How many different answers were given; None (no answer) is not one.

    Answers come normalised by the verifier, so that `1/2` and `0.5` are one.
    """
    return len({answer for answer in answers if answer is not None})


@dataclass(frozen=True, slots=True)
class DistinctStrategies:
    """How many ways of solving there are, as far as `source` can tell."""

    count: int
    source: Literal["tag", "program_shape"]


def distinct_strategies(
    *, tags: Iterable[str | None] | None = None, programs: Iterable[str | None] | None = None
) -> DistinctStrategies:
    """Count strategies, by the tags a trainer or judge gave, or else by the shape of programs.

    Both are approximations, so the source is named. None stands for a response without one and is not
    counted.
    Raises ValueError unless exactly one of `tags` and `programs` is given.
    """
    if (tags is None) == (programs is None):
        raise ValueError("give either tags or programs")
    if tags is not None:
        return DistinctStrategies(len({tag for tag in tags if tag is not None}), "tag")
    shapes = {program_shape(program) for program in programs or () if program is not None}
    return DistinctStrategies(len(shapes), "program_shape")


_LEXEME: Final = re.compile(
    r"""(?P<skip>\#[^\n]*|[ \t\r\f]+|\\\n)
      | (?P<text>[rbuf]{0,2}(?:'{3}.*?(?:'{3}|\Z)|"{3}.*?(?:"{3}|\Z)|'(?:\\.|[^'\\\n])*'?
          |"(?:\\.|[^"\\\n])*"?))
      | (?P<number>\d[\w.]*)
      | (?P<word>[^\W\d]\w*)
      | (?P<sign>.)""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def program_shape(program: str) -> str:
    """A Python program without its names, literals and comments: programs of one shape do the same steps.

    Read by one linear scan for words and signs; the text is never parsed as code.
    """
    shape = []
    for match in _LEXEME.finditer(program):
        kind, lexeme = match.lastgroup, match.group()
        if kind == "word":
            shape.append(lexeme if lexeme in kwlist else "n")
        elif kind in ("text", "number"):
            shape.append("0")
        elif kind == "sign" and lexeme not in ("\n", ";"):
            shape.append(lexeme)
    return " ".join(shape)


def _power_minus_one(base: float, complement: float, exponent: int) -> float:
    """`base**exponent - 1`, precise for a base near 1, where `complement = 1 - base` is small."""
    if base <= 0.0:
        return -1.0
    return math.expm1(exponent * math.log1p(-complement))
