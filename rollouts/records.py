"""One rollout: what has to be kept of a response so that it can be learned from.

Text alone is not enough. Another tokenizer cuts it otherwise, tool output inside it was not chosen by the
policy (it is an observation: mask 0), and its probability under the policy that wrote it cannot be recovered
later.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Final

from rollouts.stop_reasons import CANONICAL_REASONS
from rollouts.violations import Violations

__all__ = ["RECORD_STOP_REASONS", "RolloutRecord", "check_rollout_record", "validate_rollout_record"]

RECORD_STOP_REASONS: Final = frozenset({"truncated", *CANONICAL_REASONS})
"""Stop reasons of a record: the canonical ones, and `truncated` where the limit that cut it was not kept."""


@dataclass(frozen=True, slots=True)
class RolloutRecord:
    """One response, token by token. Not checked when made: see `validate_rollout_record`.

    token_ids: the response's tokens. action_mask: 1 where the policy chose the token, 0 where it was told
    (tool output). old_logprobs: in nats, under the policy and the settings that generated, of every token
    (0.0 for those not chosen). reward_components: already weighted; their sum is the reward.
    generator_version: of the weights that generated, the denominator of every importance ratio.
    """

    prompt_id: str
    group_id: str
    token_ids: tuple[int, ...]
    action_mask: tuple[int, ...]
    old_logprobs: tuple[float, ...]
    reward_components: tuple[float, ...] | Mapping[str, float]
    stop_reason: str
    generator_version: str


def validate_rollout_record(record: RolloutRecord) -> None:
    """Check a record; ValueError names what is wrong first, TypeError a value that is no record.

    Holds of a valid record: prompt, group and version are non-blank text; the three token fields are tuples
    of one length, not empty, with ids of 0 or more, masks of 0 and 1 with a 1 among them, and finite
    log-probabilities; there is a reward component and all are finite; the stop reason is one of
    `RECORD_STOP_REASONS`.
    """
    if not isinstance(record, RolloutRecord):
        raise TypeError(f"record must be a RolloutRecord, not {type(record).__name__}")
    fields = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    _check_fields(fields, (tuple,)).raise_first()


def check_rollout_record(fields: Mapping[str, Any]) -> Violations:
    """Every violation of `validate_rollout_record`'s rules in a record given as a JSON object.

    Arrays stand for tuples. Missing and unknown fields are violations too. Raises TypeError for no mapping.
    """
    if not isinstance(fields, Mapping):
        raise TypeError("record must be a mapping")
    return _check_fields(fields, (list, tuple))


def _check_fields(fields: Mapping[str, Any], kinds: tuple[type, ...]) -> Violations:
    found = Violations()
    names = [field.name for field in dataclasses.fields(RolloutRecord)]
    for name in fields:
        if name not in names:
            found.add("is not a field of a rollout record", name)
    for name in names:
        if name not in fields:
            found.add("is missing", name)
    for name in ("prompt_id", "group_id", "generator_version"):
        if name in fields and not _is_text(fields[name]):
            found.add("must be non-blank text", name)
    _check_tokens(fields, kinds, found)
    if "reward_components" in fields:
        _check_components(fields["reward_components"], kinds, found)
    if "stop_reason" in fields and not _is_stop_reason(fields["stop_reason"]):
        found.add(f"must be one of {', '.join(sorted(RECORD_STOP_REASONS))}", "stop_reason")
    return found


def _check_tokens(fields: Mapping[str, Any], kinds: tuple[type, ...], found: Violations) -> None:
    checks = {
        "token_ids": (_is_token_id, "must be an integer of at least 0"),
        "action_mask": (_is_mask_value, "must be 0 or 1"),
        "old_logprobs": (_is_finite, "must be a finite number"),
    }
    lengths: dict[str, int] = {}
    for name, (is_valid, message) in checks.items():
        if name not in fields:
            continue
        values = fields[name]
        if type(values) not in kinds:
            found.add("must be a tuple" if kinds == (tuple,) else "must be an array", name)
            continue
        lengths[name] = len(values)
        if not values:
            found.add("must not be empty", name)
        for place, value in enumerate(values):
            if not is_valid(value):
                found.add(message, name, place)
    if len(set(lengths.values())) > 1:
        found.add("must have as many elements as token_ids and the others", *sorted(lengths)[:1])
    mask = fields.get("action_mask")
    if type(mask) in kinds and mask and all(map(_is_mask_value, mask)) and not any(mask):
        found.add("must have an action: a 1", "action_mask")


def _check_components(components: object, kinds: tuple[type, ...], found: Violations) -> None:
    items: Sequence[tuple[Any, Any]]
    if isinstance(components, Mapping):
        items = list(components.items())
    elif type(components) in kinds and isinstance(components, Sequence):
        items = list(enumerate(components))
    else:
        found.add("must be numbers, by name or in order", "reward_components")
        return
    if not items:
        found.add("must not be empty", "reward_components")
    for key, value in items:
        if isinstance(components, Mapping) and not _is_text(key):
            found.add("must have non-blank names", "reward_components")
        if not _is_finite(value):
            found.add("must be a finite number", "reward_components", key)


def _is_stop_reason(value: object) -> bool:
    return isinstance(value, str) and value in RECORD_STOP_REASONS


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


# Built-in numbers first: to ask an abstract class of each of a million tokens costs four times the rest.
def _is_token_id(value: object) -> bool:
    if type(value) is int:
        return value >= 0
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def _is_mask_value(value: object) -> bool:
    if type(value) is int:
        return value in (0, 1)
    return isinstance(value, Real) and value in (0, 1)


def _is_finite(value: object) -> bool:
    if type(value) is float:
        return math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
