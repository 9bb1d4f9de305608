"""The loss against TRL's own `GRPOTrainer._compute_loss`, for each setting the two share."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import pytest

import rollouts as r

torch = pytest.importorskip("torch", reason="torch comes with make test-arrays")
pytest.importorskip("trl", reason="trl comes with make test-arrays")

BATCH, LENGTH, LIMIT = 5, 7, 16


def trl_loss(objective: r.Objective, loss_type: str, new, old, advantages, mask, ref):
    """TRL's loss of the same log-probabilities: its code, given the settings of a trainer."""
    from trl import GRPOTrainer

    accelerator = SimpleNamespace(
        num_processes=1, gather=lambda x: x, reduce=lambda x, reduction: x, sync_gradients=True
    )
    args = SimpleNamespace(delta=None, use_bias_correction_kl=False, steps_per_generation=1)
    trainer = SimpleNamespace(
        accelerator=accelerator,
        args=args,
        model=SimpleNamespace(training=False),
        _get_per_token_logps_and_entropies=lambda *a, **k: (new, torch.zeros_like(new), None),
        _metrics={"eval": defaultdict(list)},
        _entropy_bonus_enabled=False,
        aux_loss_enabled=False,
        top_entropy_quantile=1.0,
        off_policy_mask_threshold=None,
        use_vllm=False,
        importance_sampling_level=objective.importance_sampling_level,
        beta=objective.beta,
        epsilon_low=objective.eps_low,
        epsilon_high=objective.eps_low if objective.eps_high is None else objective.eps_high,
        loss_type=loss_type,
        max_completion_length=LIMIT,
        current_gradient_accumulation_steps=1,
    )
    ids = torch.zeros_like(mask)
    inputs = {
        "prompt_ids": ids[:, :1],
        "prompt_mask": ids[:, :1] + 1,
        "completion_ids": ids,
        "completion_mask": mask,
        "advantages": advantages,
        "old_per_token_logps": old,
        "ref_per_token_logps": ref,
        "num_items_in_batch": mask.sum(),
    }
    return GRPOTrainer._compute_loss(trainer, None, inputs)


AGGREGATIONS = {
    "grpo": {"aggregation": "response_mean"},
    "dr_grpo": {"aggregation": "fixed_length", "fixed_length": LIMIT},
    "dapo": {"aggregation": "token_mean"},
    "bnpo": {"aggregation": "token_mean"},
}


@pytest.mark.parametrize("loss_type", AGGREGATIONS)
@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("beta", [0.0, 0.04])
@pytest.mark.parametrize("clip", [(0.2, None), (0.2, 0.28), (3e-4, 4e-4)])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_equals_trl(loss_type, level, beta, clip, spread):
    """Within 1e-6, and its gradient too; some tokens are clipped, one response has no action."""
    objective = r.Objective(
        **AGGREGATIONS[loss_type],
        importance_sampling_level=level,
        beta=beta,
        eps_low=clip[0],
        eps_high=clip[1],
    )
    generator = torch.Generator().manual_seed(11)
    old = -torch.rand((BATCH, LENGTH), generator=generator)
    new = (old + spread * torch.randn((BATCH, LENGTH), generator=generator)).requires_grad_()
    ref = old + 0.3 * torch.randn((BATCH, LENGTH), generator=generator)
    lengths = torch.tensor([[7], [3], [1], [0], [5]])
    mask = (torch.arange(LENGTH) < lengths).long()
    advantages = torch.tensor([1.5, -0.5, 0.7, 2.0, -1.0])
    ours = objective.loss(new, old, advantages, mask, ref)
    theirs = trl_loss(objective, loss_type, new, old, advantages, mask, ref)
    assert ours.item() == pytest.approx(theirs.item(), abs=1e-6)
    gradients = [torch.autograd.grad(loss, new)[0] for loss in (ours, theirs)]
    assert torch.allclose(*gradients, atol=1e-6)
