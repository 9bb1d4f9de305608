"""A padded batch of rollouts, the minimal contract between generation and training.

Keys: `response_ids, response_mask, old_logprobs, ref_logprobs` (`[B, T]`), `sequence_rewards, terminated,
truncated, stop_reason` (`[B]`), and optionally `action_mask` (`[B, T]`), `policy_version, sampling_config,
reward_raw`. Further keys are the trainer's own and are not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Final, Literal

import numpy as np

from rollouts.sampling import SamplingConfig
from rollouts.violations import Violations

__all__ = ["RolloutBatchSummary", "check_rollout_batch", "validate_rollout_batch"]

NumPyArray = np.ndarray[Any, Any]

_PER_TOKEN: Final = ("response_ids", "response_mask", "old_logprobs", "ref_logprobs")
_PER_SEQUENCE: Final = ("sequence_rewards", "terminated", "truncated", "stop_reason")
_ROWS_AT_ONCE: Final = 64  # so that the pieces stay in the processor's cache
_MISSING: Final = object()
_ITEM_MESSAGES: Final = {
    "stop_reason": "must be non-blank text",
    "policy_version": "must be a non-blank version, for the batch or for each sequence",
    "sampling_config": "must be a sampling configuration, for the batch or for each sequence",
}


@dataclass(frozen=True, slots=True)
class RolloutBatchSummary:
    """What a valid batch holds.

    max_response_tokens: the width T. active_tokens: tokens that the loss sees, those of `action_mask` where
    there is one, else of `response_mask`. mean_response_length: in tokens, of `response_mask`. A sequence may
    be counted as terminated and as truncated.
    """

    batch_size: int
    max_response_tokens: int
    active_tokens: int
    terminated_sequences: int
    truncated_sequences: int
    mean_response_length: float


def validate_rollout_batch(
    batch: Mapping[str, Any], *, padding: Literal["nan", "any"] = "nan"
) -> RolloutBatchSummary:
    """Check a batch and sum it up.

    Holds of a valid batch: `[B, T]` and `[B]` shapes agree and are not empty; ids are integers, 0 or more
    where active; each row of `response_mask` is a non-empty right-padded prefix of ones; log-probabilities
    (nats) are finite where active and NaN (None in lists) in the padding, which with `padding="any"` may hold
    anything; rewards are finite; `terminated` and `truncated` are booleans, and both may be true; stop
    reasons are non-blank text. `action_mask` may have any pattern inside the response: where it is 0 (tool
    output) no log-probability is asked for.
    Raises ValueError with the first violation; TypeError when `batch` is no mapping.
    """
    found, summary = check_rollout_batch(batch, padding=padding)
    found.raise_first()
    assert summary is not None  # noqa: S101 - it is None only beside violations
    return summary


def check_rollout_batch(
    batch: Mapping[str, Any], *, padding: Literal["nan", "any"] = "nan"
) -> tuple[Violations, RolloutBatchSummary | None]:
    """Every violation of `validate_rollout_batch`'s rules, and the summary if there is none."""
    if not isinstance(batch, Mapping):
        raise TypeError("batch must be a mapping")
    if padding not in ("nan", "any"):
        raise ValueError(f"padding must be 'nan' or 'any', not {padding!r}")
    found = Violations()
    arrays = _read(batch, found)
    if found.count:
        return found, None
    mask = _check_masks(arrays, found)
    if found.count:
        return found, None
    actions = _as_bool(arrays["action_mask"]) if "action_mask" in arrays else mask
    _check_tokens(arrays, mask, actions, padding, found)
    _check_sequences(batch, arrays, found)
    if found.count:
        return found, None
    lengths = np.count_nonzero(mask, axis=1)
    return found, RolloutBatchSummary(
        batch_size=mask.shape[0],
        max_response_tokens=mask.shape[1],
        active_tokens=int(np.count_nonzero(actions)),
        terminated_sequences=int(np.count_nonzero(arrays["terminated"])),
        truncated_sequences=int(np.count_nonzero(arrays["truncated"])),
        mean_response_length=float(lengths.mean()),
    )


def _read(batch: Mapping[str, Any], found: Violations) -> dict[str, NumPyArray]:
    """Every field as a NumPy array of the right kind and shape, as far as it can be had."""
    arrays: dict[str, NumPyArray] = {}
    numbers = (*_PER_TOKEN, "action_mask", "sequence_rewards", "terminated", "truncated", "reward_raw")
    for name in numbers:
        value = batch.get(name, _MISSING)
        if value is _MISSING:
            if name in _PER_TOKEN or name in _PER_SEQUENCE:
                found.add("is missing", name)
            continue
        array = _numbers(value)
        if isinstance(array, str):
            found.add(array, name)
            continue
        arrays[name] = array
    if "stop_reason" not in batch:
        found.add("is missing", "stop_reason")
    ids = arrays.get("response_ids")
    if ids is None:
        return arrays
    if ids.ndim != 2 or 0 in ids.shape:
        found.add(f"must be a non-empty [B, T] array, not {list(ids.shape)}", "response_ids")
        return arrays
    for name, array in arrays.items():
        shape = ids.shape if name in _PER_TOKEN or name == "action_mask" else ids.shape[:1]
        if array.shape != shape:
            found.add(f"must have shape {list(shape)}, not {list(array.shape)}", name)
    return arrays


def _numbers(value: Any) -> NumPyArray | str:
    """`value` as an array of numbers, or what is wrong with it. None is read as NaN."""
    if hasattr(value, "detach"):
        value = value.detach().cpu()
    if _holds_text(value):
        return "must be a regular array of numbers"
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, OverflowError):
        return "must be a regular array of numbers"
    if array.dtype.kind == "O":
        kinds = set(map(type, array.flat))
        if not all(
            kind is type(None) or (issubclass(kind, (int, float)) and kind is not bool) for kind in kinds
        ):
            return "must be a regular array of numbers"
        try:
            return array.astype(np.float64)
        except OverflowError:
            return "must hold numbers that fit a float"
    return array if array.dtype.kind in "biuf" else f"must be an array of numbers, not {array.dtype}"


def _holds_text(value: Any) -> bool:
    """Whether a text stands in a list: NumPy would give every element the room of the longest."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, (list, tuple)):
            kinds = set(map(type, item))
            if any(issubclass(kind, (str, bytes)) for kind in kinds):
                return True
            if any(issubclass(kind, (list, tuple)) for kind in kinds):
                pending.extend(part for part in item if isinstance(part, (list, tuple)))
    return False


def _check_masks(arrays: Mapping[str, NumPyArray], found: Violations) -> NumPyArray:
    mask = _as_bool(arrays["response_mask"])
    for name in ("response_mask", "action_mask"):
        if name in arrays and arrays[name].dtype.kind != "b":
            found.add_where((arrays[name] != 0) & (arrays[name] != 1), "must be 0 or 1", name)
    found.add_where(~mask[:, 0], "must start with an active token", "response_mask")
    found.add_where(_late(mask), "must be a right-padded prefix: active after padding", "response_mask")
    if "action_mask" in arrays:
        outside = _as_bool(arrays["action_mask"]) & ~mask
        found.add_where(outside, "must be 0 outside the response", "action_mask")
    return mask


def _late(mask: NumPyArray) -> NumPyArray:
    late = np.zeros_like(mask)
    np.greater(mask[:, 1:], mask[:, :-1], out=late[:, 1:])
    return late


def _as_bool(mask: NumPyArray) -> NumPyArray:
    return mask if mask.dtype.kind == "b" else mask != 0


def _check_tokens(
    arrays: Mapping[str, NumPyArray], mask: NumPyArray, actions: NumPyArray, padding: str, found: Violations
) -> None:
    ids = arrays["response_ids"]
    if ids.dtype.kind not in "iu":
        found.add(f"must hold integers, not {ids.dtype}", "response_ids")
    elif ids.dtype.kind == "i":
        for start in range(0, len(mask), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            found.add_where((ids[rows] < 0) & mask[rows], "must be at least 0", "response_ids", start)
    for name in ("old_logprobs", "ref_logprobs"):
        if arrays[name].dtype.kind == "b":
            found.add("must hold numbers, not booleans", name)
            continue
        for start in range(0, len(mask), _ROWS_AT_ONCE):
            rows = slice(start, start + _ROWS_AT_ONCE)
            values = arrays[name][rows]
            found.add_where(actions[rows] > np.isfinite(values), "must be finite where active", name, start)
            if padding == "nan":
                # Tool output is inside the mask, so it may be either.
                found.add_where(~(mask[rows] | np.isnan(values)), "must be NaN in the padding", name, start)


def _check_sequences(batch: Mapping[str, Any], arrays: Mapping[str, NumPyArray], found: Violations) -> None:
    for name in ("sequence_rewards", "reward_raw"):
        if name in arrays:
            found.add_where(~np.isfinite(arrays[name]), "must be finite", name)
    for name in ("terminated", "truncated"):
        flags = arrays[name]
        if flags.dtype.kind != "b":
            found.add_where((flags != 0) & (flags != 1), "must be true or false", name)
    size = len(arrays["response_ids"])
    _check_items(batch, "stop_reason", size, _is_text, found)
    for name, is_valid in (("policy_version", _is_version), ("sampling_config", _is_config)):
        if name in batch and not is_valid(batch[name]):
            _check_items(batch, name, size, is_valid, found)


def _check_items(
    batch: Mapping[str, Any], name: str, size: int, is_valid: Callable[[object], bool], found: Violations
) -> None:
    value = batch[name].tolist() if isinstance(batch[name], np.ndarray) else batch[name]
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) != size:
        found.add(f"must have one element for each of the {size} sequences", name)
        return
    for place, item in enumerate(value):
        if not is_valid(item):
            found.add(_ITEM_MESSAGES[name], name, place)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_version(value: object) -> bool:
    return _is_text(value) or (isinstance(value, Integral) and not isinstance(value, bool))


def _is_config(value: object) -> bool:
    return isinstance(value, (SamplingConfig, Mapping))
