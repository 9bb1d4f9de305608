"""Divergence between two policies: exact where the distributions are known, sampled where only tokens are.

A single sampled log-ratio may be negative; the divergence it estimates may not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rollouts._arrays import Array, Backend, require_same_shape, require_shape
from rollouts._pieces import by_pieces
from rollouts.log_probs import as_rows, row_log_softmax

__all__ = [
    "SupportReport",
    "exact_kl_from_logits",
    "kl_sample_values",
    "support_report",
    "unsupported_actions",
]


def exact_kl_from_logits(p_logits: Array, q_logits: Array, *, check_values: bool = True) -> Any:
    """`KL(p || q) = sum(p * (log p - log q))` of the softmax distributions, in nats.

    p_logits, q_logits: `[V]` or `[..., V]`, finite. Returns a float for `[V]`, else `[...]`.
    No second array of the size of the logits is made. Not negative; 0 for equal logits.
    Raises ValueError for empty, differently shaped or non-finite logits.
    """
    backend = Backend(p_logits, q_logits, check_values=check_values)
    xp = backend.xp
    p_rows, lead = as_rows(backend, "p_logits", p_logits)
    q_rows, q_lead = as_rows(backend, "q_logits", q_logits)
    if (*lead, p_rows.shape[-1]) != (*q_lead, q_rows.shape[-1]):
        raise ValueError(f"p_logits and q_logits must have the same shape, not {lead} and {q_lead} rows")

    def check(rows: slice, steps: slice, p_piece: Array, q_piece: Array) -> None:
        backend.require_later(xp.isfinite(p_piece), "p_logits must be finite")
        backend.require_later(xp.isfinite(q_piece), "q_logits must be finite")

    def divergence(rows: slice, steps: slice, p_piece: Array, q_piece: Array) -> Array:
        log_p = row_log_softmax(xp, backend.floats("p_logits", p_piece))
        log_q = row_log_softmax(xp, backend.floats("q_logits", q_piece))
        total = xp.sum(xp.exp(log_p) * (log_p - log_q), axis=-1)
        return xp.where(total < 0, 0.0, total)

    result = xp.reshape(by_pieces(backend, divergence, check, p_rows, q_rows), lead)
    backend.settle()
    return backend.scalar(result) if result.ndim == 0 else result


def kl_sample_values(
    log_q: Array, log_p: Array, *, mask: Array | None = None, check_values: bool = True
) -> dict[str, Array]:
    """Per-sample estimators of `KL(q || p)` from samples of q, with `r = p / q`.

    `k1 = -log r` (unbiased, may be negative), `k2 = (log r)^2 / 2` (biased, not negative),
    `k3 = r - 1 - log r` (not negative; unbiased only where q covers p, see `support_report`).
    Source: J. Schulman, "Approximating KL divergence" (2020).

    log_q, log_p: log-probabilities of the sampled tokens, in nats, of one shape. mask: of that shape; values
    where it is 0 may be NaN and give exact zeros. k2 and k3 stop near the largest float.
    Returns `{"k1", "k2", "k3"}`, each of the shape of the inputs.
    Raises ValueError for empty, differently shaped or, where active, non-finite inputs.
    """
    backend = Backend(log_q, log_p, mask, check_values=check_values)
    xp = backend.xp
    log_q, log_p = backend.floats("log_q", log_q), backend.floats("log_p", log_p)
    require_same_shape("log_q", log_q, "log_p", log_p)
    if 0 in log_q.shape:
        raise ValueError("log_q must not be empty")
    active, is_mask = backend.mask("mask", mask, log_q.shape)
    backend.require(
        (is_mask, "mask must hold 0 and 1 only"),
        (xp.isfinite(log_q) | ~active, "log_q must be finite where active"),
        (xp.isfinite(log_p) | ~active, "log_p must be finite where active"),
    )
    log_ratio = xp.where(active, log_p, 0.0) - xp.where(active, log_q, 0.0)
    root = math.sqrt(float(xp.finfo(log_ratio.dtype).max))
    bounded = xp.clip(log_ratio, -root, root)
    return {"k1": -log_ratio, "k2": bounded * bounded / 2.0, "k3": k3(backend, log_ratio)}


def k3(backend: Backend, log_ratio: Array) -> Array:
    """`exp(x) - 1 - x`, never negative and precise also where both terms nearly cancel."""
    xp = backend.xp
    small = xp.abs(log_ratio) < 0.05
    x = xp.where(small, log_ratio, 0.0)
    series = (
        x * x / 2.0 * (1.0 + x / 3.0 * (1.0 + x / 4.0 * (1.0 + x / 5.0 * (1.0 + x / 6.0 * (1.0 + x / 7.0)))))
    )
    # exp saturates before the sum with -x can overflow.
    return xp.where(small, series, backend.exp(xp.where(small, 0.0, log_ratio)) - 1.0 - log_ratio)


def unsupported_actions(target: Array, behavior: Array) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Actions that the target policy may take and the behaviour policy never does.

    No importance weight can make up for them: they are never sampled. target, behavior: `[V]`, probabilities.
    Returns the indices where `target > 0` and `behavior == 0`, ascending.
    Raises ValueError when either is no distribution or their shapes differ.
    """
    p, q = _distribution("target", target), _distribution("behavior", behavior)
    require_same_shape("target", p, "behavior", q)
    return np.flatnonzero((p > 0) & (q == 0))


@dataclass(frozen=True, slots=True)
class SupportReport:
    """What samples from q can say about p.

    log_ratio_finite: `log p/q` is finite wherever q samples (p covers q); otherwise `KL(q || p)` is infinite.
    covered_mass: the mass of p where q samples, which is `E_q[p/q]`.
    k3_unbiased: q covers p as well, so that `E_q[p/q] = 1`; otherwise the mean of k3 falls short of the
        divergence by `1 - covered_mass`.
    kl: `KL(q || p)` in nats, what k1 and k3 estimate from samples of q; infinite unless `log_ratio_finite`.
    """

    log_ratio_finite: bool
    covered_mass: float
    k3_unbiased: bool
    kl: float


def support_report(p: Array, q: Array) -> SupportReport:
    """Compare the supports of a policy p and of the policy q that samples, in both directions.

    p, q: `[V]`, probabilities. Raises ValueError when either is no distribution or their shapes differ.
    """
    p, q = _distribution("p", p), _distribution("q", q)
    require_same_shape("p", p, "q", q)
    sampled = q > 0
    log_ratio_finite = bool((p[sampled] > 0).all())
    divergence = float(np.sum(q[sampled] * np.log(q[sampled] / p[sampled]))) if log_ratio_finite else math.inf
    k3_unbiased = not bool(((p > 0) & ~sampled).any())
    return SupportReport(
        log_ratio_finite=log_ratio_finite,
        covered_mass=1.0 if k3_unbiased else float(p[sampled].sum()),
        k3_unbiased=k3_unbiased,
        kl=max(divergence, 0.0),
    )


def _distribution(name: str, value: Array) -> np.ndarray[Any, Any]:
    backend = Backend(value)
    array = np.asarray(backend.to_host(backend.floats(name, value)), dtype=np.float64)
    require_shape(name, array, "V")
    if not (np.isfinite(array).all() and (array >= 0).all() and abs(array.sum() - 1.0) <= 1e-6):
        raise ValueError(f"{name} must hold probabilities that sum to 1")
    return array
