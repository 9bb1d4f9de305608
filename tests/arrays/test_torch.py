"""PyTorch: gradients, half precision, and no second array of the size of the logits."""

from __future__ import annotations

import numpy as np
import pytest

import rollouts as r

torch = pytest.importorskip("torch", reason="torch comes with make test-arrays")

MASK = torch.tensor([[1, 1, 0, 0], [1, 0, 1, 1]])


def hole(value: torch.Tensor) -> torch.Tensor:
    """The same with NaN where the mask is 0, as a leaf that takes gradients."""
    return torch.where(MASK == 1, value.detach(), torch.nan).requires_grad_()


def logprobs(seed: int) -> torch.Tensor:
    return -torch.rand(MASK.shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


OBJECTIVES = [r.Objective.grpo(), r.Objective.dr_grpo(fixed_length=7), r.Objective.dapo(), r.Objective.gspo()]


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_in_the_padding_are_exact_zeros(objective):
    """NaN in the padding gives a finite loss and finite gradients: exactly 0 there, and not 0 elsewhere."""
    new = hole(logprobs(0))
    objective.loss(new, hole(logprobs(1)), torch.tensor([1.0, -0.5]), MASK, hole(logprobs(2))).backward()
    assert torch.isfinite(new.grad).all()
    assert (new.grad[MASK == 0] == 0).all()


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_gradients_are_those_of_finite_differences(objective):
    """On the loss as a function of the current log-probabilities."""
    old, ref, advantages = logprobs(1), logprobs(2), torch.tensor([1.0, -0.5], dtype=torch.float64)
    new = (old + 1e-5 * logprobs(0)).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: objective.loss(x, old, advantages, MASK, ref), (new,), eps=1e-8, atol=1e-5
    )


def test_derivative_is_zero_where_clipping_is_active():
    """And the advantage where it is not."""
    ratios = torch.linspace(0.3, 2.0, 60, dtype=torch.float64).requires_grad_()
    for sign in (1.0, -1.0):
        advantages = torch.full_like(ratios, 3.0 * sign)
        active = r.clip_activity(ratios, advantages, 0.2, 0.28)
        (gradient,) = torch.autograd.grad(r.clipped_terms(ratios, advantages, 0.2, 0.28).sum(), ratios)
        assert active.any()
        assert (gradient[active] == 0).all()
        assert torch.allclose(gradient[~active], advantages[~active])


def test_log_prob_gradients_equal_pytorchs_own():
    """Selected log-probabilities, entropy and divergence, in pieces and recomputed for the backward pass."""
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn((2, 150, 2000), generator=generator, dtype=torch.float64).requires_grad_()
    other = torch.randn((2, 150, 2000), generator=generator, dtype=torch.float64)
    ids = torch.randint(0, 2000, (2, 150), generator=generator)
    mask = torch.rand((2, 150), generator=generator) < 0.7
    full = torch.log_softmax(logits, dim=-1)
    selected, active = r.causal_response_logprobs(logits, ids, mask)
    expected = torch.where(mask[:, 1:], full[:, :-1].gather(-1, ids[:, 1:, None])[..., 0], 0.0)
    entropy = -(full.exp() * full).sum(-1)[mask].mean()
    divergence = (full.exp() * (full - torch.log_softmax(other, -1))).sum(-1)
    pairs = [
        (selected, expected),
        (r.mean_token_entropy(logits, mask), entropy),
        (r.exact_kl_from_logits(logits, other), divergence),
    ]
    assert torch.equal(active, mask[:, 1:])
    for ours, theirs in pairs:
        assert torch.allclose(ours, theirs)
        gradients = [torch.autograd.grad(x.sum(), logits, retain_graph=True)[0] for x in (ours, theirs)]
        assert torch.allclose(*gradients)


def test_behavior_logprobs_have_finite_gradients():
    """Cut tokens get gradient 0, sampled ones the softmax's over what was kept."""
    logits = torch.randn((5, 9), dtype=torch.float64).requires_grad_()
    config = r.SamplingConfig(temperature=0.8, top_k=4, suppressed_token_ids=(2,), presence_penalty=0.3)
    ids = logits.detach().argmax(dim=-1)
    result = r.behavior_logprobs(logits, config, ids)
    (gradient,) = torch.autograd.grad(result[torch.isfinite(result)].sum(), logits)
    assert torch.isfinite(gradient).all()
    assert (gradient[:, 2] == 0).all()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_float32(dtype):
    """Results are float32 and as precise as the rounded logits allow."""
    logits = torch.randn((2, 6, 50)).to(dtype)
    ids = torch.randint(0, 50, (2, 6))
    selected, _ = r.causal_response_logprobs(logits, ids, torch.ones((2, 6)))
    assert selected.dtype == torch.float32
    full = torch.log_softmax(logits.double(), dim=-1)
    assert torch.allclose(selected.double(), full[:, :-1].gather(-1, ids[:, 1:, None])[..., 0], atol=1e-5)
    assert r.group_relative_advantages(torch.tensor([1, 0, 0], dtype=dtype)).dtype == torch.float32


def test_integers_and_ids_of_any_width():
    """Rewards may be integers, ids of 32 bits."""
    assert r.group_relative_advantages(torch.tensor([1, 0])).dtype == torch.float32
    ids = torch.tensor([[0, 1, 2]], dtype=torch.int32)
    selected, _ = r.causal_response_logprobs(torch.zeros((1, 3, 4)), ids, torch.ones((1, 3)))
    assert torch.allclose(selected, torch.tensor(-np.log(4.0), dtype=torch.float32))


@pytest.mark.filterwarnings("ignore:Dynamo detected a call to a `functools.lru_cache`")
def test_no_values_are_looked_at_while_compiling():
    """A compiled loss has no break in its graph, and the same value."""
    objective = r.Objective.dapo()
    new, old, advantages = logprobs(0), logprobs(1), torch.tensor([1.0, -0.5], dtype=torch.float64)
    compiled = torch.compile(objective.loss, fullgraph=True, backend="eager")
    assert torch.allclose(compiled(new, old, advantages, MASK), objective.loss(new, old, advantages, MASK))


def test_vmap_needs_unchecked_values():
    """A vectorised call cannot look at values; without looking it works."""
    rewards = torch.rand((4, 8))
    result = torch.func.vmap(lambda row: r.group_relative_advantages(row, check_values=False))(rewards)
    assert torch.allclose(result[2], r.group_relative_advantages(rewards[2]))


def test_batches_of_tensors():
    """The validator reads tensors, with gradients or not."""
    mask = MASK.sum(1, keepdim=True) > torch.arange(4)
    values = torch.where(mask, logprobs(0), torch.nan).requires_grad_()
    batch = {
        "response_ids": torch.ones((2, 4), dtype=torch.int64),
        "response_mask": mask,
        "old_logprobs": values,
        "ref_logprobs": values.float(),
        "sequence_rewards": torch.tensor([1.0, 0.0]),
        "terminated": torch.tensor([True, False]),
        "truncated": torch.tensor([False, True]),
        "stop_reason": ["eos", "length"],
    }
    assert r.validate_rollout_batch(batch).active_tokens == 5
