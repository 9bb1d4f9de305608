"""One group of responses in numbers: advantages, whether it teaches, and what it looked like.

Every number comes twice. `valid` is about the members that could be scored; `all` counts a member that could
not be as one that was not solved, so that a failing verifier is not mistaken for an easy prompt.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from rollouts.advantages import group_relative_advantages
from rollouts.groups import (
    RejectReason,
    distinct_answers,
    distinct_strings,
    pass_at_k,
    reject_reason,
)

__all__ = ["GroupMember", "GroupReport", "GroupStatistics", "group_report", "group_statistics"]

Method = Literal["grpo", "dr_grpo", "none"]
Baseline = Literal["scored", "included"]


@dataclass(frozen=True, slots=True)
class GroupMember:
    """One response of a group.

    reward: None when it could not be scored. score: correctness without shaping (None: the reward).
    included: the loss sees it. answer: what a verifier extracted. program_shape: what `program_shape()` gave.
    truncated, num_tokens: None when unknown.
    """

    reward: float | None
    correct: bool = False
    score: float | None = None
    included: bool = True
    response: str = ""
    answer: Hashable | None = None
    program_shape: str | None = None
    stop_reason: str = "unknown"
    truncated: bool | None = None
    num_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class GroupStatistics:
    """Counts and means of some members. None: there is nothing to tell it from.

    reward_std: population. pass_rate: solved of count. pass_at_k: by k, None for a k above count.
    distinct_programs: programs that differ in more than names and literals. truncated_fraction: of those
    whose ending is known. truncated_accepted_fraction: of the truncated ones, those whose text already holds
    an accepted answer, which a longer limit would not help. tokens: sum over those whose length is known.
    """

    count: int
    reward_mean: float | None
    reward_std: float | None
    zero_std: bool | None
    solved: int
    pass_rate: float | None
    pass_at_k: Mapping[int, float | None]
    distinct_responses: int
    distinct_answers: int | None
    distinct_programs: int | None
    truncated_fraction: float | None
    truncated_accepted_fraction: float | None
    stop_reason_counts: Mapping[str, int]
    tokens: int | None


@dataclass(frozen=True, slots=True)
class GroupReport:
    """A group as a trainer sees it. advantages: None for members that could not be scored, and for all of
    them under the method `none`.
    """

    method: Method
    informative: bool
    reject_reason: RejectReason | None
    advantages: tuple[float | None, ...]
    all: GroupStatistics
    valid: GroupStatistics


def group_report(
    members: Sequence[GroupMember],
    *,
    method: Method = "grpo",
    baseline: Baseline = "scored",
    ks: Sequence[int] = (),
    eps: float = 1e-8,
) -> GroupReport:
    """Advantages and statistics of one group.

    method: `grpo` (mean and population deviation), `dr_grpo` (mean only) or `none`. baseline: over all scored
    members, or only over those the loss sees; scored ones outside it then get 0. ks: for pass@k.
    Raises ValueError for no members, an unknown method or baseline, or a reward that is not finite.
    """
    if not members:
        raise ValueError("members must not be empty")
    if method not in get_args(Method):
        raise ValueError(f"method must be one of {', '.join(get_args(Method))}, not {method!r}")
    if baseline not in get_args(Baseline):
        raise ValueError(f"baseline must be one of {', '.join(get_args(Baseline))}, not {baseline!r}")
    scored = [member for member in members if member.reward is not None]
    counted = [member for member in scored if baseline == "scored" or member.included]
    rejected = reject_reason(
        [_reward(member) for member in counted],
        [member.correct for member in counted],
        [_reward(member) if member.score is None else member.score for member in counted],
    )
    return GroupReport(
        method=method,
        informative=rejected is None,
        reject_reason=rejected,
        advantages=_advantages(members, method, baseline, eps),
        all=group_statistics(members, ks),
        valid=group_statistics(scored, ks),
    )


def group_statistics(members: Sequence[GroupMember], ks: Sequence[int] = ()) -> GroupStatistics:
    """Statistics of members; one that could not be scored counts as not solved, with a reward of 0."""
    count = len(members)
    rewards = [_reward(member) for member in members]
    solved = sum(member.reward is not None and member.correct for member in members)
    mean = math.fsum(rewards) / count if count else None
    equal = len(set(rewards)) == 1
    answers = [member.answer for member in members if member.answer is not None]
    shapes = {member.program_shape for member in members if member.program_shape is not None}
    endings = [member for member in members if member.truncated is not None]
    cut = [member for member in endings if member.truncated]
    lengths = [member.num_tokens for member in members if member.num_tokens is not None]
    return GroupStatistics(
        count=count,
        reward_mean=mean,
        reward_std=None if mean is None else 0.0 if equal else _deviation(rewards, mean),
        zero_std=equal if count else None,
        solved=solved,
        pass_rate=_share(solved, count),
        pass_at_k={k: pass_at_k(count, solved, k) if k <= count else None for k in ks},
        distinct_responses=distinct_strings(member.response for member in members),
        distinct_answers=distinct_answers(answers) if answers else None,
        distinct_programs=len(shapes) or None,
        truncated_fraction=_share(len(cut), len(endings)),
        truncated_accepted_fraction=_share(sum(m.reward is not None and m.correct for m in cut), len(cut)),
        stop_reason_counts=dict(Counter(member.stop_reason for member in members)),
        tokens=sum(lengths) if lengths else None,
    )


def _advantages(
    members: Sequence[GroupMember], method: Method, baseline: Baseline, eps: float
) -> tuple[float | None, ...]:
    if method == "none":
        return (None,) * len(members)
    counted = [m.reward is not None and (baseline == "scored" or m.included) for m in members]
    values = [0.0] * len(members)
    if any(counted):
        rewards = [_reward(member) for member in members]
        values = group_relative_advantages(rewards, method == "grpo", eps, mask=counted).tolist()
    return tuple(None if m.reward is None else value for m, value in zip(members, values, strict=True))


def _reward(member: GroupMember) -> float:
    return 0.0 if member.reward is None else member.reward


def _deviation(values: Sequence[float], mean: float) -> float:
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
