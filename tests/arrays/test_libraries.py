"""Every array-generic function gives in any library what it gives in NumPy, there and not on NumPy's side."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import rollouts as r

RNG = np.random.default_rng(5)
B, L, V = 3, 5, 7
LOGITS, OTHER = RNG.normal(size=(2, B, L, V))
IDS = RNG.integers(0, V, (B, L))
MASK = np.array([[0, 1, 1, 1, 0], [0, 0, 1, 1, 1], [0, 1, 0, 1, 0]])
NEW, OLD, REF = -RNG.exponential(size=(3, B, L))
REWARDS = np.array([1.0, 0.0, 0.5])
CONFIG = r.SamplingConfig(
    temperature=0.7,
    top_k=5,
    top_p=0.9,
    min_p=0.02,
    repetition_penalty=1.2,
    presence_penalty=0.1,
    frequency_penalty=0.2,
    suppressed_token_ids=(3,),
    logit_bias={1: 0.5},
)

CALLS: dict[str, tuple[Any, ...]] = {
    # name: function of arrays, then the arrays
    "stable_log_softmax": (r.stable_log_softmax, LOGITS),
    "stable_log_softmax axis 0": (lambda x: r.stable_log_softmax(x, 0), LOGITS),
    "causal_response_logprobs": (lambda *a: r.causal_response_logprobs(*a)[0], LOGITS, IDS, MASK),
    "causal_response_logprobs mask": (lambda *a: r.causal_response_logprobs(*a)[1], LOGITS, IDS, MASK),
    "sum_logprob": (lambda *a: r.masked_sequence_metrics(*a).sum_logprob, NEW, MASK),
    "mean_nll": (lambda *a: r.masked_sequence_metrics(*a).mean_nll, NEW, MASK),
    "perplexity": (lambda *a: r.masked_sequence_metrics(*a).perplexity, NEW, MASK),
    "mean_token_entropy": (r.mean_token_entropy, LOGITS, MASK),
    "exact_kl_from_logits": (r.exact_kl_from_logits, LOGITS, OTHER),
    "exact_kl_from_logits 1-D": (r.exact_kl_from_logits, LOGITS[0, 0], OTHER[0, 0]),
    **{k: (lambda *a, k=k: r.kl_sample_values(*a)[k], NEW, OLD) for k in ("k1", "k2", "k3")},
    "kl_sample_values mask": (lambda p, q, m: r.kl_sample_values(p, q, mask=m)["k3"], NEW, OLD, MASK),
    "group_relative_advantages": (r.group_relative_advantages, REWARDS),
    "group_relative_advantages unscaled": (lambda x: r.group_relative_advantages(x, scale=False), REWARDS),
    "group_relative_advantages mask": (
        lambda x, m: r.group_relative_advantages(x, mask=m),
        REWARDS,
        np.array([1, 0, 1]),
    ),
    "group_advantages": (r.group_advantages, REWARDS, np.array([7, 9, 7])),
    "clipped_terms": (r.clipped_terms, np.exp(NEW[0]), OLD[0]),
    "clip_activity": (r.clip_activity, np.exp(NEW[0]), OLD[0]),
    "sequence_importance_ratio": (r.sequence_importance_ratio, NEW[0], OLD[0], MASK[0]),
    "gspo_surrogate_term": (
        lambda n, o, m: r.gspo_surrogate_term(n, o, 0.5, mask=m),
        NEW[0],
        OLD[0],
        MASK[0],
    ),
    "padded_original_grpo": (r.padded_original_grpo_token_weights, REWARDS, MASK),
    "padded_dr_grpo": (
        lambda x, m: r.padded_dr_grpo_token_weights(x, m, fixed_length=9),
        REWARDS,
        MASK,
    ),
    "padded_dapo": (r.padded_dapo_token_weights, REWARDS, MASK),
    "response_contributions": (r.response_contributions, NEW),
    "soft_overlong_penalty": (
        lambda x: r.soft_overlong_penalty(x, max_length=10, cache_length=4),
        np.array([3, 7, 9, 10, 12]),
    ),
    "temperature_distribution": (lambda x: r.temperature_distribution(x, 0.5), LOGITS),
    "top_k_distribution": (lambda x: r.top_k_distribution(x, 3), LOGITS),
    "top_p_distribution": (lambda x: r.top_p_distribution(x, 0.6), LOGITS),
    "min_p_distribution": (lambda x: r.min_p_distribution(x, 0.3, min_tokens_to_keep=2), LOGITS),
    "behavior_logprobs": (lambda x, ids: r.behavior_logprobs(x, CONFIG, ids), LOGITS[0], IDS[0]),
    **{
        f"loss {name}": (objective.loss, NEW, OLD, REWARDS - 0.5, MASK, REF)
        for name, objective in {
            "grpo": r.Objective.grpo(),
            "dr_grpo": r.Objective.dr_grpo(fixed_length=9),
            "dapo": r.Objective.dapo(),
            "gspo": r.Objective.gspo(),
        }.items()
    },
}
"""Functions whose results are arrays of the caller's library, with arguments."""


@pytest.mark.parametrize("call", CALLS)
def test_equals_numpy(call, library):
    """The same numbers, as an array of the library."""
    function, *arrays = CALLS[call]
    expected = function(*arrays)
    result = library.numpy(function(*map(library.array, arrays)))
    assert_allclose(result, expected, rtol=library.tolerance, atol=library.tolerance)


@pytest.mark.parametrize("call", [name for name in CALLS if name.startswith("loss")])
def test_unchecked_values(call, library):
    """Without looking at values the numbers are the same."""
    function, *arrays = CALLS[call]
    given = list(map(library.array, arrays))
    unchecked = library.numpy(function(*given, check_values=False))
    assert_allclose(unchecked, library.numpy(function(*given)))


def test_lists_and_numpy_follow(library):
    """Beside an array of a library, lists and NumPy arrays become arrays of it."""
    new, old = library.array(NEW), OLD.tolist()
    result = library.numpy(r.Objective.grpo(beta=0.0).loss(new, old, [0.5, 0.0, -0.5], MASK))
    expected = r.Objective.grpo(beta=0.0).loss(NEW, OLD, [0.5, 0.0, -0.5], MASK)
    assert_allclose(result, expected, rtol=library.tolerance)


def test_values_are_checked_once_and_by_name(library):
    """A bad value is found whatever the library is, and not looked for when asked not to."""
    bad = library.array([1.0, math.nan])
    with pytest.raises(ValueError, match="rewards must be finite"):
        r.group_relative_advantages(bad)
    assert library.numpy(r.group_relative_advantages(bad, check_values=False)).shape == (2,)
    with pytest.raises(ValueError, match="shape"):
        r.clipped_terms(library.array([1.0]), library.array([1.0, 2.0]), check_values=False)


HOLES = np.where(MASK == 1, NEW, np.nan)
MASKED = {
    "kl_sample_values": lambda a, m: r.kl_sample_values(a(HOLES), a(HOLES), mask=m)["k3"],
    "causal_response_logprobs": lambda a, m: r.causal_response_logprobs(
        a(np.where(np.roll(MASK, -1, 1)[..., None] == 1, LOGITS, np.nan)), a(IDS), m
    )[0],
}


@pytest.mark.parametrize("call", MASKED)
def test_masked_places_are_exact_zeros(call, library):
    """NaN in the padding never reaches the arithmetic."""
    result = library.numpy(MASKED[call](library.array, library.array(MASK)))
    mask = MASK[:, 1:] if result.shape[1] < L else MASK
    assert (result[mask == 0] == 0).all()
    assert np.isfinite(result).all()


@pytest.mark.parametrize("objective", [r.Objective.grpo(), r.Objective.dapo(), r.Objective.gspo()])
def test_loss_ignores_padding(objective, library):
    """The loss with NaN in the padding is the loss without it."""
    a = library.array
    holes = [a(np.where(MASK == 1, x, np.nan)) for x in (NEW, OLD, REF)]
    result = objective.loss(holes[0], holes[1], a(REWARDS), a(MASK), holes[2])
    expected = objective.loss(a(NEW), a(OLD), a(REWARDS), a(MASK), a(REF))
    assert_allclose(library.numpy(result), library.numpy(expected))
