"""The loss against numbers worked out by hand, and the table of variants."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollouts import VARIANTS, Objective, dapo_token_weights, original_grpo_token_weights

PRESETS = {
    "grpo": Objective.grpo(),
    "dr_grpo": Objective.dr_grpo(fixed_length=100),
    "dapo": Objective.dapo(),
    "gspo": Objective.gspo(),
}
SETTINGS = {
    "advantage_scaling": ["std", "none"],
    "aggregation": ["response_mean", "fixed_length", "token_mean"],
    "importance_sampling_level": ["token", "sequence"],
    "eps_high": [None, 0.28],
    "dynamic_sampling": [False, True],
    "overlong": ["keep", "soft_penalty", "mask"],
}
OBJECTIVES = [
    Objective(**values, fixed_length=9 if values["aggregation"] == "fixed_length" else None)
    for values in (dict(zip(SETTINGS, row, strict=True)) for row in itertools.product(*SETTINGS.values()))
]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_are_their_rows(name):
    """Each published variant is the row of its name, whatever the weight of its KL term."""
    for beta in (0.0, 0.04):
        variant = dataclasses.replace(PRESETS[name], beta=beta).variant
        assert (variant.name, variant.rows) == (name, (name,))


HYBRIDS = [
    # What TRL calls "dapo" by default: the normalisation alone.
    (Objective(aggregation="token_mean"), ("grpo", "dapo")),
    (Objective(advantage_scaling="none"), ("grpo", "dr_grpo")),
    (Objective(eps_high=0.28), ("grpo", "dapo")),
    (Objective(dynamic_sampling=True), ("grpo", "dapo")),
    (dataclasses.replace(Objective.dapo(), importance_sampling_level="sequence"), ("dapo", "gspo")),
    (dataclasses.replace(Objective.dapo(), advantage_scaling="none"), ("dr_grpo", "dapo")),
    (dataclasses.replace(Objective.gspo(), advantage_scaling="none"), ("dr_grpo", "gspo")),
]


@pytest.mark.parametrize(("objective", "rows"), HYBRIDS)
def test_hybrids_name_what_they_are_made_of(objective, rows):
    """The fewest rows that between them have every setting."""
    assert (objective.variant.name, objective.variant.rows) == ("hybrid", rows)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=range(len(OBJECTIVES)))
def test_every_configuration_has_a_place(objective):
    """A row is named only if it has all settings; a hybrid's rows cover them, and none of them alone does."""
    variant = objective.variant
    covered = {
        setting for setting, (_, owners) in variant.settings.items() if set(owners) & set(variant.rows)
    }
    assert covered == set(variant.settings)
    alone = [
        row
        for row in VARIANTS
        if all(value in VARIANTS[row][name] for name, (value, _) in variant.settings.items())
    ]
    assert alone == ([] if variant.name == "hybrid" else [variant.name])


# Two responses of two tokens and one, log-ratios log 1.5, log 1 and log .5, advantages 1 and -2.
NEW = np.log([[1.5, 1.0], [0.5, np.nan]])
OLD = np.where(np.isnan(NEW), np.nan, 0.0)
ADVANTAGES, MASK = [1.0, -2.0], [[1, 1], [1, 0]]
TERMS = [1.2, 1.0, -1.6]
BY_HAND = [
    (Objective(), -(sum(TERMS[:2]) / 2 + TERMS[2]) / 2),
    (Objective(aggregation="token_mean"), -sum(TERMS) / 3),
    (Objective(aggregation="fixed_length", fixed_length=10), -sum(TERMS) / 20),
    (Objective(aggregation="token_mean", eps_high=0.28), -(1.28 + 1.0 - 1.6) / 3),
    (Objective(importance_sampling_level="sequence"), -(1.2 - 1.6) / 2),
    (Objective(importance_sampling_level="sequence", eps_low=1.0, eps_high=9.0), -(math.sqrt(1.5) - 1.0) / 2),
]


@pytest.mark.parametrize(("objective", "expected"), BY_HAND)
def test_loss_by_hand(objective, expected):
    """Ratio, clip and aggregation of each kind."""
    loss = objective.loss(NEW, OLD, ADVANTAGES, MASK)
    assert isinstance(loss, float)
    assert loss == pytest.approx(expected)


def test_kl_term_by_hand():
    """beta times k3 of reference over current, per token."""
    reference = np.where(np.isnan(NEW), np.nan, np.log(2.0)) + NEW
    plain = Objective().loss(NEW, OLD, ADVANTAGES, MASK)
    loss = Objective(beta=0.1).loss(NEW, OLD, ADVANTAGES, MASK, reference)
    assert loss == pytest.approx(plain + 0.1 * (2 - 1 - math.log(2)))


def test_divisor_of_a_larger_batch():
    """Micro-batches with the token count of the whole add up to the whole."""
    objective = Objective(aggregation="token_mean")
    whole = objective.loss(NEW, OLD, ADVANTAGES, MASK)
    parts = [
        objective.loss(NEW[i : i + 1], OLD[i : i + 1], ADVANTAGES[i : i + 1], MASK[i : i + 1], token_count=3)
        for i in range(2)
    ]
    assert sum(parts) == pytest.approx(whole)


def test_rows_without_actions_count_as_responses():
    """A masked response adds nothing, but does not raise the weight of the others."""
    mask = [[1, 1], [0, 0]]
    assert Objective().loss(NEW, OLD, [1.0, math.nan], mask) == pytest.approx(-(1.2 + 1.0) / 4)
    assert Objective(aggregation="token_mean").loss(NEW, OLD, [1.0, math.nan], mask) == pytest.approx(-1.1)


def test_advantages_per_token():
    """`[B, T]` advantages, NaN in the padding."""
    per_token = [[1.0, 1.0], [-2.0, math.nan]]
    assert Objective().loss(NEW, OLD, per_token, MASK) == Objective().loss(NEW, OLD, ADVANTAGES, MASK)


@given(st.lists(st.tuples(st.floats(-2, 2), st.integers(1, 5)), min_size=2, max_size=5))
def test_gradient_weights_are_the_token_weights(responses):
    """On policy the loss's derivative by a log-probability is minus the token's weight of that variant."""
    rewards, lengths = map(np.array, zip(*responses, strict=True))
    mask = np.arange(lengths.max()) < lengths[:, None]
    old = np.full(mask.shape, -1.0)
    for objective, weights in (
        (Objective(), original_grpo_token_weights(rewards, lengths)),
        (Objective(aggregation="token_mean"), dapo_token_weights(rewards, lengths)),
    ):
        advantages = objective.advantages(rewards, [0] * len(rewards))
        for row, place in ((0, 0), (len(rewards) - 1, lengths[-1] - 1)):
            step = np.zeros(mask.shape)
            step[row, place] = 1e-6
            high, low = (objective.loss(old + d, old, advantages, mask) for d in (step, -step))
            assert (low - high) / 2e-6 == pytest.approx(weights[row][place], abs=1e-8)


BAD = [
    ({"aggregation": "mean"}, ValueError, "aggregation"),
    ({"advantage_scaling": "batch"}, ValueError, "advantage_scaling"),
    ({"importance_sampling_level": "word"}, ValueError, "importance_sampling_level"),
    ({"overlong": "drop"}, ValueError, "overlong"),
    ({"eps_low": -0.1}, ValueError, "eps_low"),
    ({"eps_low": 1.1}, ValueError, "eps_low"),
    ({"eps_high": math.inf}, ValueError, "eps_high"),
    ({"beta": -1}, ValueError, "beta"),
    ({"beta": "0"}, TypeError, "beta"),
    ({"fixed_length": 10}, ValueError, "fixed_length"),
    ({"aggregation": "fixed_length"}, ValueError, "fixed_length"),
    ({"aggregation": "fixed_length", "fixed_length": True}, TypeError, "fixed_length"),
    ({"dynamic_sampling": 1}, TypeError, "dynamic_sampling"),
]


@pytest.mark.parametrize(("settings", "error", "name"), BAD)
def test_settings_are_checked(settings, error, name):
    """By name."""
    with pytest.raises(error, match=name):
        Objective(**settings)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mask": [[0, 0], [0, 0]]}, "mask"),
        ({"mask": [[1, 1], [1, 1]]}, "new_logprobs must be finite"),
        ({"mask": [[1, 1], [2, 0]]}, "mask"),
        ({"mask": [1, 1]}, "mask"),
        ({"advantages": [1.0]}, "advantages"),
        ({"advantages": [math.nan, 1.0]}, "advantages"),
        ({"old_logprobs": [[0.0, 0.0]]}, "old_logprobs"),
        ({"new_logprobs": [0.0]}, "new_logprobs"),
        ({"objective": Objective(beta=0.1)}, "ref_logprobs"),
        ({"token_count": 0}, "token_count"),
    ],
)
def test_loss_inputs_are_checked(change, message):
    """Shapes, finiteness where active, masks, and a reference when it is weighed."""
    inputs = {"new_logprobs": NEW, "old_logprobs": OLD, "advantages": ADVANTAGES, "mask": MASK} | change
    objective = inputs.pop("objective", Objective(aggregation="token_mean"))
    with pytest.raises(ValueError, match=message):
        objective.loss(**inputs)
