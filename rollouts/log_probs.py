"""Log-probabilities from logits, and what is read off them: likelihood, perplexity, entropy.

Lower perplexity says that these tokens surprised the model less. It does not say that they are right, and
perplexities under different tokenizers or over different masks do not compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from rollouts._arrays import Array, Backend, require_shape
from rollouts._pieces import by_pieces

__all__ = [
    "SequenceMetrics",
    "causal_response_logprobs",
    "masked_sequence_metrics",
    "mean_token_entropy",
    "stable_log_softmax",
]


def stable_log_softmax(logits: Array, axis: int = -1, *, check_values: bool = True) -> Array:
    """`x - max(x) - log(sum(exp(x - max(x))))` along `axis`, in nats.

    logits: any shape with at least one axis, finite. Returns the same shape; it does not change when a
    constant is added to the logits. A difference beyond the largest float stops there.
    Raises ValueError for NaN, infinities, 0-d input, an empty axis or one out of range; TypeError for an axis
    that is no integer.
    """
    if isinstance(axis, bool) or not isinstance(axis, Integral):
        raise TypeError(f"axis must be an integer, not {axis!r}")
    backend = Backend(logits, check_values=check_values)
    logits = backend.floats("logits", logits)
    if logits.ndim == 0 or not -logits.ndim <= axis < logits.ndim:
        raise ValueError(f"axis {axis} is out of range for logits of shape {list(logits.shape)}")
    if 0 in logits.shape:
        raise ValueError(f"logits must not be empty, but have shape {list(logits.shape)}")
    backend.require((backend.xp.isfinite(logits), "logits must be finite"))
    return row_log_softmax(backend.xp, logits, int(axis))


def causal_response_logprobs(
    model_logits: Array, input_ids: Array, response_token_mask: Array, *, check_values: bool = True
) -> tuple[Array, Array]:
    """Log-probability of each response token given everything before it; logits at i predict token i + 1.

    model_logits: `[B, L, V]`, in any float type; finite where they predict a response token. input_ids:
    `[B, L]`, prompt and response, each within `[0, V)`. response_token_mask: `[B, L]`, 1 for response tokens;
    the first position is predicted by nothing and is dropped.
    Returns `([B, L-1], [B, L-1])`: log-probabilities in nats, exactly 0 where the mask is 0, and the mask as
    booleans. No second `[B, L, V]` array is made, also not for the gradient.
    Raises ValueError for L < 2, shapes that disagree, ids outside the vocabulary, a mask of other values than
    0 and 1, or logits that are not finite where needed; TypeError for ids that are no integers.
    """
    backend = Backend(model_logits, input_ids, response_token_mask, check_values=check_values)
    xp = backend.xp
    logits = backend.narrow_floats("model_logits", model_logits)
    require_shape("model_logits", logits, "B", "L", "V")
    ids = backend.integers("input_ids", input_ids)
    batch, length, vocabulary = logits.shape
    if ids.shape != (batch, length):
        raise ValueError(f"input_ids must have shape [{batch}, {length}], not {list(ids.shape)}")
    if length < 2:
        raise ValueError("L must be at least 2: the first token is predicted by nothing")
    active, is_mask = backend.mask("response_token_mask", response_token_mask, (batch, length))
    active = active[:, 1:]
    inside = (ids >= 0) & (ids < vocabulary)
    # PyTorch gathers by int64 alone; ids that were not checked must not be read out of bounds.
    targets = xp.astype(xp.where(inside, ids, 0)[:, 1:], xp.asarray(0).dtype)
    backend.require(
        (is_mask, "response_token_mask must hold 0 and 1 only"),
        (inside, f"input_ids must lie within the vocabulary [0, {vocabulary})"),
    )

    def check(rows: slice, steps: slice, piece: Array) -> None:
        message = "model_logits must be finite where they predict a response token"
        backend.require_later(_finite_rows(xp, piece, active[rows, steps]), message)

    def log_prob(rows: slice, steps: slice, piece: Array) -> Array:
        target, chosen = targets[rows, steps], active[rows, steps]
        values = xp.where(chosen[..., None], backend.floats("model_logits", piece), 0.0)
        selected = xp.take_along_axis(values, target[..., None], axis=-1)[..., 0]
        return xp.where(chosen, selected - row_log_sum_exp(xp, values), 0.0)

    result = by_pieces(backend, log_prob, check, logits, length=length - 1)
    backend.settle()
    return result, active


@dataclass(frozen=True, slots=True)
class SequenceMetrics:
    """Likelihood of the active tokens. sum_logprob and mean_nll in nats; perplexity is `exp(mean_nll)`."""

    token_count: int
    sum_logprob: Any
    mean_nll: Any
    perplexity: Any


def masked_sequence_metrics(
    selected_logprobs: Array, mask: Array, *, check_values: bool = True
) -> SequenceMetrics:
    """Sum, mean negative log-likelihood and perplexity over the active tokens.

    selected_logprobs: `[T]` or `[B, T]`, in nats; what is masked may be NaN. mask: the same shape; tokens of
    all rows count alike. Perplexity stops near the largest float.
    Returns floats (0-d arrays of another library, through which gradients flow).
    Raises ValueError for shapes that differ or have other dimensions, a mask of other values than 0 and 1 or
    without an active token, and active values that are not finite.
    """
    backend = Backend(selected_logprobs, mask, check_values=check_values)
    xp = backend.xp
    values = backend.floats("selected_logprobs", selected_logprobs)
    require_shape("selected_logprobs", values, *(("T",) if values.ndim == 1 else ("B", "T")))
    active, is_mask = backend.mask("mask", mask, values.shape)
    count = xp.count_nonzero(active)
    backend.require(
        (is_mask, "mask must hold 0 and 1 only"),
        (count > 0, "mask must have an active token"),
        (xp.isfinite(values) | ~active, "selected_logprobs must be finite where active"),
    )
    total = xp.sum(xp.where(active, values, 0.0))
    mean_nll = -total / xp.astype(count, values.dtype)
    return SequenceMetrics(
        token_count=count if backend.tracing else int(count),
        sum_logprob=backend.scalar(total),
        mean_nll=backend.scalar(mean_nll),
        perplexity=backend.scalar(backend.exp(mean_nll)),
    )


def mean_token_entropy(logits: Array, mask: Array, *, check_values: bool = True) -> Any:
    """Mean of `-sum(p * log p)` over the active positions, in nats: how undecided the policy is per token.

    It is none of distinct strings, distinct strategies or pass@k: a policy may be undecided about wording
    alone.
    logits: `[T, V]` or `[B, T, V]`, finite where active. mask: `[T]` or `[B, T]`.
    Returns a float within `[0, log V]` (a 0-d array of another library).
    Raises ValueError for shapes that disagree, a mask of other values than 0 and 1 or without an active
    token, and logits that are not finite where active.
    """
    backend = Backend(logits, mask, check_values=check_values)
    xp = backend.xp
    by_row, lead = as_rows(backend, "logits", logits)
    if len(lead) not in (1, 2):
        raise ValueError(f"logits must be [T, V] or [B, T, V], not {[*lead, by_row.shape[-1]]}")
    active, is_mask = backend.mask("mask", mask, lead)
    active = xp.reshape(active, by_row.shape[:2])
    count = xp.count_nonzero(active)
    backend.require((is_mask, "mask must hold 0 and 1 only"), (count > 0, "mask must have an active token"))

    def check(rows: slice, steps: slice, piece: Array) -> None:
        backend.require_later(
            _finite_rows(xp, piece, active[rows, steps]), "logits must be finite where active"
        )

    def entropy(rows: slice, steps: slice, piece: Array) -> Array:
        chosen = active[rows, steps]
        log_p = row_log_softmax(xp, xp.where(chosen[..., None], backend.floats("logits", piece), 0.0))
        return xp.where(chosen, -xp.sum(xp.exp(log_p) * log_p, axis=-1), 0.0)

    entropies = by_pieces(backend, entropy, check, by_row)
    backend.settle()
    return backend.scalar(xp.sum(entropies) / xp.astype(count, entropies.dtype))


def as_rows(backend: Backend, name: str, logits: Array) -> tuple[Array, tuple[int, ...]]:
    """Logits `[..., V]` as `[B, T, V]` in their own dtype, and their leading shape."""
    array = backend.narrow_floats(name, logits)
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(f"{name} must be a non-empty [..., V] array, not shape {list(array.shape)}")
    lead = tuple(array.shape[:-1])
    if array.ndim == 3:
        return array, lead
    steps = lead[-1] if lead else 1
    return backend.xp.reshape(array, (-1, steps, array.shape[-1])), lead


def row_log_sum_exp(xp: Any, rows: Array) -> Array:
    """`log(sum(exp(x)))` over the last axis, without overflow."""
    top = xp.max(rows, axis=-1, keepdims=True)
    return (top + xp.log(xp.sum(xp.exp(_below(xp, rows, top)), axis=-1, keepdims=True)))[..., 0]


def row_log_softmax(xp: Any, rows: Array, axis: int = -1) -> Array:
    """`stable_log_softmax` of checked floats."""
    below = _below(xp, rows, xp.max(rows, axis=axis, keepdims=True))
    return below - xp.log(xp.sum(xp.exp(below), axis=axis, keepdims=True))


def _below(xp: Any, rows: Array, top: Array) -> Array:
    """`rows - top`, which stops at the largest float: halves cannot overflow."""
    limit = -float(xp.finfo(rows.dtype).max) / 2.0
    halves = rows * 0.5 - top * 0.5
    return xp.where(halves < limit, limit, halves) * 2.0


def _finite_rows(xp: Any, piece: Array, chosen: Array) -> Array:
    return xp.all(xp.isfinite(piece), axis=-1) | ~chosen
