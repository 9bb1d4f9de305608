"""JAX: gradients and tracing."""

from __future__ import annotations

import numpy as np
import pytest

import rollouts as r

jax = pytest.importorskip("jax", reason="jax comes with make test-arrays")
jnp = jax.numpy

RNG = np.random.default_rng(0)
MASK = jnp.asarray([[1, 1, 0, 0], [1, 0, 1, 1]])
NEW, OLD, REF = (
    jnp.where(MASK == 1, jnp.asarray(-RNG.random((2, 4)), dtype=jnp.float32), jnp.nan) for _ in range(3)
)
ADVANTAGES = jnp.asarray([1.0, -0.5])
LOGITS = jnp.asarray(RNG.normal(size=(2, 4, 11)), dtype=jnp.float32)
IDS = jnp.asarray(RNG.integers(0, 11, (2, 4)))


@pytest.mark.parametrize(
    "objective",
    [r.Objective.grpo(), r.Objective.dr_grpo(fixed_length=7), r.Objective.dapo(), r.Objective.gspo()],
)
def test_compiled_loss_and_gradient(objective):
    """Traced, compiled and differentiated: the same loss, finite gradients, exact zeros in the padding."""
    compiled = jax.jit(jax.value_and_grad(objective.loss))
    loss, gradient = compiled(NEW, OLD, ADVANTAGES, MASK, REF)
    assert np.allclose(loss, objective.loss(NEW, OLD, ADVANTAGES, MASK, REF), rtol=1e-5)
    assert bool(jnp.isfinite(gradient).all())
    assert bool((gradient[MASK == 0] == 0).all())


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (lambda x, ids, m: r.causal_response_logprobs(x, ids, m)[0], (LOGITS, IDS, MASK)),
        (r.mean_token_entropy, (LOGITS, MASK)),
        (r.exact_kl_from_logits, (LOGITS, LOGITS[::-1])),
        (r.stable_log_softmax, (LOGITS,)),
        (lambda x: r.top_p_distribution(x, 0.7), (LOGITS,)),
        (lambda x, ids: r.behavior_logprobs(x, r.SamplingConfig(top_k=9), ids), (LOGITS[0], IDS[0])),
        (r.group_relative_advantages, (ADVANTAGES,)),
        (lambda x, m: r.masked_sequence_metrics(x, m).mean_nll, (NEW, MASK)),
        (r.padded_original_grpo_token_weights, (ADVANTAGES, MASK)),
    ],
)
def test_compiled_functions(function, arrays):
    """Under jit the numbers are those of the plain call."""
    assert np.allclose(jax.jit(function)(*arrays), function(*arrays), rtol=1e-5, atol=1e-6)


def test_gradient_of_log_probs():
    """Through the recomputed pieces, against JAX's own log-softmax."""

    def ours(logits):
        return r.causal_response_logprobs(logits, IDS, MASK)[0].sum()

    def theirs(logits):
        full = jax.nn.log_softmax(logits, axis=-1)
        return (jnp.take_along_axis(full[:, :-1], IDS[:, 1:, None], axis=-1)[..., 0] * MASK[:, 1:]).sum()

    assert np.allclose(jax.grad(ours)(LOGITS), jax.grad(theirs)(LOGITS), atol=1e-6)


def test_half_precision_is_computed_in_float32():
    """bfloat16 logits give float32 log-probabilities."""
    selected, _ = r.causal_response_logprobs(LOGITS.astype(jnp.bfloat16), IDS, MASK)
    assert selected.dtype == jnp.float32
