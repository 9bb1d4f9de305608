"""Dynamic sampling under audit: what drawing until groups teach buys, costs, and shifts.

More signal per update is paid with more generation, and with a training distribution that is no longer that
of the prompts. So the pass rates are those of all groups, before any was rejected; quality is measured on
held-out prompts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from rollouts._parameters import integer, real
from rollouts.groups import RejectReason

__all__ = [
    "DynamicSamplingAudit",
    "SampledGroup",
    "dynamic_sampling_audit",
    "pass_rate_bin",
    "pass_rate_histogram",
]


@dataclass(frozen=True, slots=True)
class SampledGroup:
    """One generated group. pass_rate: share solved, within [0, 1]. reject_reason: None when it was accepted.
    tokens: generated for all its responses. stratum: what the prompt distribution is watched by (data source,
    topic, difficulty).
    """

    pass_rate: float
    tokens: int
    reject_reason: RejectReason | None = None
    stratum: str = ""

    def __post_init__(self) -> None:
        real("pass_rate", self.pass_rate, low=0.0, high=1.0)
        integer("tokens", self.tokens, low=0)
        if self.reject_reason is not None and self.reject_reason not in get_args(RejectReason):
            raise ValueError(f"reject_reason must be one of {', '.join(get_args(RejectReason))} or None")


@dataclass(frozen=True, slots=True)
class DynamicSamplingAudit:
    """What happened to the groups of a run or a step.

    tokens_per_accepted_group: tokens of all groups, rejected ones too, for each accepted one; None without
    any.
    pass_rates: histogram over all groups, by `pass_rate_bin`.
    prompt_shift: total variation distance, within [0, 1], between the strata of all groups and of the
        accepted ones; None without any accepted. pass_rate_shift: mean pass rate of the accepted minus that
        of all.
    """

    groups: int
    accepted: int
    rejected_fraction: float
    rejected_by_reason: Mapping[str, int]
    tokens_per_accepted_group: float | None
    pass_rates: tuple[int, ...]
    prompt_shift: float | None
    pass_rate_shift: float | None


def dynamic_sampling_audit(groups: Iterable[SampledGroup]) -> DynamicSamplingAudit:
    """Sum up generated groups, accepted and rejected. Raises ValueError when there is none."""
    seen = list(groups)
    if not seen:
        raise ValueError("groups must not be empty")
    accepted = [group for group in seen if group.reject_reason is None]
    rates = [group.pass_rate for group in seen]
    return DynamicSamplingAudit(
        groups=len(seen),
        accepted=len(accepted),
        rejected_fraction=1.0 - len(accepted) / len(seen),
        rejected_by_reason=dict(Counter(g.reject_reason for g in seen if g.reject_reason is not None)),
        tokens_per_accepted_group=sum(g.tokens for g in seen) / len(accepted) if accepted else None,
        pass_rates=pass_rate_histogram(rates),
        prompt_shift=_total_variation(seen, accepted) if accepted else None,
        pass_rate_shift=_mean([g.pass_rate for g in accepted]) - _mean(rates) if accepted else None,
    )


def pass_rate_bin(pass_rate: float) -> int:
    """The histogram bin of a pass rate: 0 for exactly 0, 11 for exactly 1, and 1..10 for the tenths between.

    A tenth holds its lower edge; the first starts just above 0. Raises ValueError outside [0, 1].
    """
    pass_rate = real("pass_rate", pass_rate, low=0.0, high=1.0)
    if pass_rate in (0.0, 1.0):
        return 11 * int(pass_rate)
    # Rates are ratios of small integers: a rate that is a tenth may lie an ulp below it as a float.
    return 1 + min(int(pass_rate * 10 + 1e-9), 9)


def pass_rate_histogram(pass_rates: Iterable[float]) -> tuple[int, ...]:
    """Counts of pass rates in the twelve bins of `pass_rate_bin`."""
    counts = Counter(map(pass_rate_bin, pass_rates))
    return tuple(counts[place] for place in range(12))


def _total_variation(seen: Sequence[SampledGroup], accepted: Sequence[SampledGroup]) -> float:
    before, after = (Counter(group.stratum for group in groups) for groups in (seen, accepted))
    return 0.5 * sum(abs(before[s] / len(seen) - after[s] / len(accepted)) for s in before)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
