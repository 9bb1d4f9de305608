"""Log-probabilities under the settings that sampled, against every token's probability written out."""

from __future__ import annotations

import dataclasses
import math

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special

import rollouts as r

VOCABULARY = 6


def one_step(logits, config, response, prompt):
    """The distribution of the next token, one processor after another, in plain Python."""
    values = {i: float(x) for i, x in enumerate(logits)}
    for step in config.processor_order:
        if step == "masks":
            values = {
                i: x + config.logit_bias.get(i, 0.0)
                for i, x in values.items()
                if i not in config.suppressed_token_ids
                and (config.allowed_token_ids is None or i in config.allowed_token_ids)
            }
        elif step == "penalties":
            for i, x in values.items():
                penalty = config.repetition_penalty if i in response or i in prompt else 1.0
                values[i] = (
                    x / penalty if x > 0 else x * penalty
                ) - config.frequency_penalty * response.count(i)
                values[i] -= config.presence_penalty * (i in response)
        elif step == "temperature":
            values = {i: x / config.temperature for i, x in values.items()}
        else:
            values = cut(step, values, config)
    total = special.logsumexp(list(values.values()))
    return {i: x - total for i, x in values.items()}


def cut(step, values, config):
    """Keep the most likely tokens."""
    order = sorted(values, key=lambda i: (-values[i], i))
    probabilities = dict(zip(order, special.softmax([values[i] for i in order]), strict=True))
    if step == "top_k":
        kept = order[: config.top_k]
    elif step == "min_p":
        kept = [i for i in order if probabilities[i] >= config.min_p * probabilities[order[0]] * (1 - 1e-11)]
    else:
        kept, mass = [], 0.0
        for i in order:
            if mass < config.top_p - 1e-12 or config.top_p == 1:
                kept.append(i)
            mass += probabilities[i]
    return {i: values[i] for i in {*kept, *order[: config.min_tokens_to_keep if step != "top_k" else 0]}}


ids = st.lists(st.integers(0, VOCABULARY - 1), max_size=2).map(tuple)
configs = st.builds(
    r.SamplingConfig,
    temperature=st.sampled_from([0.5, 1.0, 2.0]),
    top_k=st.none() | st.integers(1, VOCABULARY),
    top_p=st.sampled_from([0.3, 0.7, 0.95, 1.0]),
    min_p=st.sampled_from([0.0, 0.1, 0.5]),
    min_tokens_to_keep=st.integers(1, 3),
    repetition_penalty=st.sampled_from([1.0, 1.3]),
    presence_penalty=st.sampled_from([0.0, 0.4]),
    frequency_penalty=st.sampled_from([0.0, 0.3]),
    suppressed_token_ids=ids,
    allowed_token_ids=st.none() | st.just((0, 1, 3, 4, 5)),
    logit_bias=st.dictionaries(st.integers(0, VOCABULARY - 1), st.floats(-2, 2), max_size=2),
    processor_order=st.permutations(r.PROCESSOR_ORDER[1:])
    .flatmap(lambda rest: st.sampled_from([("masks", *rest), (rest[0], "masks", *rest[1:])]))
    .filter(lambda order: order[0] not in ("top_k", "top_p", "min_p")),
)


@settings(max_examples=60)
@given(configs, hnp.arrays(np.float64, (4, VOCABULARY), elements=st.floats(-4, 4)), ids, st.data())
def test_processors_compose_in_order(config, logits, prompt, data):
    """Any settings in any order, position by position with the history each had; what was cut is -inf."""
    response = data.draw(st.lists(st.integers(0, VOCABULARY - 1), min_size=4, max_size=4))
    result = r.behavior_logprobs(logits, config, response, prompt_token_ids=prompt)
    for place, token in enumerate(response):
        expected = one_step(logits[place], config, response[:place], prompt)
        assert result[place] == pytest.approx(expected.get(token, -math.inf), abs=1e-9)


@settings(max_examples=30)
@given(configs, hnp.arrays(np.float64, VOCABULARY, elements=st.floats(-4, 4)))
def test_all_tokens_are_one_distribution(config, logits):
    """The probabilities of all tokens sum to 1 after any processors."""
    logprobs = [r.behavior_logprobs(logits[None], config, [token])[0] for token in range(VOCABULARY)]
    assert np.exp(logprobs).sum() == pytest.approx(1)


def test_plain_settings_are_the_softmax():
    """Without processors the behaviour is the model's own distribution, also for rows worked in pieces."""
    rng = np.random.default_rng(1)
    logits, tokens = rng.normal(size=(300, 5000)), rng.integers(0, 5000, 300)
    expected = special.log_softmax(logits, axis=-1)[np.arange(300), tokens]
    assert_allclose(r.behavior_logprobs(logits, r.SamplingConfig(), tokens), expected, atol=1e-12)
    penalised = r.SamplingConfig(frequency_penalty=0.5)
    result = r.behavior_logprobs(logits, penalised, np.full(300, 7))
    values = logits - 0.5 * np.where(np.arange(5000) == 7, np.arange(300)[:, None], 0)
    assert_allclose(result, special.log_softmax(values, axis=-1)[:, 7], atol=1e-9)


def test_masked_logits_of_any_size_do_no_harm():
    """A suppressed token with an enormous logit leaves the others as they are."""
    logits = np.array([[1e30, 1.0, 2.0]])
    config = r.SamplingConfig(suppressed_token_ids=(0,), temperature=0.5, top_p=0.99, min_p=0.01)
    assert r.behavior_logprobs(logits, config, [2])[0] == pytest.approx(-math.log1p(math.exp(-2)))
    assert r.behavior_logprobs(logits, config, [0])[0] == -math.inf


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"logits": np.zeros(4)}, ValueError, "logits"),
        ({"logits": np.full((2, 4), np.nan)}, ValueError, "logits must be finite"),
        ({"token_ids": [0]}, ValueError, "token_ids"),
        ({"token_ids": [0, 4]}, ValueError, "vocabulary"),
        ({"token_ids": [0.0, 1.0]}, TypeError, "token_ids"),
        ({"token_ids": [True, False]}, TypeError, "token_ids"),
        ({"prompt_token_ids": (4,)}, ValueError, "prompt_token_ids"),
        ({"prompt_token_ids": "1"}, TypeError, "prompt_token_ids"),
        ({"config": r.SamplingConfig(top_k=5)}, ValueError, "top_k"),
        ({"config": r.SamplingConfig(min_tokens_to_keep=5)}, ValueError, "min_tokens_to_keep"),
        ({"config": r.SamplingConfig(suppressed_token_ids=(4,))}, ValueError, "vocabulary"),
        (
            {"config": r.SamplingConfig(allowed_token_ids=(1,), suppressed_token_ids=(1,))},
            ValueError,
            "no token",
        ),
        ({"config": {"temperature": 1.0}}, TypeError, "config"),
    ],
)
def test_inputs_are_checked(change, error, message):
    """By name."""
    inputs = {"logits": np.zeros((2, 4)), "config": r.SamplingConfig(), "token_ids": [0, 1]} | change
    with pytest.raises(error, match=message):
        r.behavior_logprobs(**inputs)


def test_settings_answer_who_generated():
    """Version of weights, tokenizer and template, every processor and its order, stop rules and seed are
    fields."""
    fields = {field.name for field in dataclasses.fields(r.SamplingConfig)}
    assert fields >= {
        "generator_version", "tokenizer_version", "template_version", "temperature", "top_k", "top_p",
        "min_p",
        "repetition_penalty", "allowed_token_ids", "processor_order", "stop_strings", "stop_token_ids",
        "seed",
    }  # fmt: skip
