"""Records, batches and sampling settings: what generators make is accepted, each single mutation refused."""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rollouts as r

text = st.text(min_size=1).filter(str.strip)
logprob = st.floats(-100, 0)
token_id = st.integers(0, 2**31)


@st.composite
def records(draw):
    """Valid rollout records."""
    length = draw(st.integers(1, 8))
    mask = draw(st.lists(st.integers(0, 1), min_size=length, max_size=length).filter(any))
    number = st.floats(allow_nan=False, allow_infinity=False)
    return r.RolloutRecord(
        prompt_id=draw(text),
        group_id=draw(text),
        token_ids=tuple(draw(st.lists(token_id, min_size=length, max_size=length))),
        action_mask=tuple(mask),
        old_logprobs=tuple(draw(st.lists(logprob, min_size=length, max_size=length))),
        reward_components=draw(
            st.lists(number, min_size=1).map(tuple) | st.dictionaries(text, number, min_size=1)
        ),
        stop_reason=draw(st.sampled_from(sorted(r.RECORD_STOP_REASONS))),
        generator_version=draw(text),
    )


RECORD_MUTATIONS = {
    "blank prompt": ("prompt_id", lambda value: " "),
    "no group": ("group_id", lambda value: ""),
    "group is no text": ("group_id", lambda value: 7),
    "blank version": ("generator_version", lambda value: "\n"),
    "ids as a list": ("token_ids", list),
    "one id more": ("token_ids", lambda value: (*value, 1)),
    "negative id": ("token_ids", lambda value: (-1, *value[1:])),
    "boolean id": ("token_ids", lambda value: (True, *value[1:])),
    "float id": ("token_ids", lambda value: (1.0, *value[1:])),
    "mask without an action": ("action_mask", lambda value: (0,) * len(value)),
    "mask of another value": ("action_mask", lambda value: (2, *value[1:])),
    "mask too short": ("action_mask", lambda value: value[:-1]),
    "NaN log-probability": ("old_logprobs", lambda value: (math.nan, *value[1:])),
    "infinite log-probability": ("old_logprobs", lambda value: (*value[:-1], -math.inf)),
    "missing log-probability": ("old_logprobs", lambda value: (None, *value[1:])),
    "one log-probability less": ("old_logprobs", lambda value: value[1:]),
    "no component": ("reward_components", lambda value: ()),
    "no named component": ("reward_components", lambda value: {}),
    "NaN component": ("reward_components", lambda value: (math.nan,)),
    "infinite named component": ("reward_components", lambda value: {"correctness": math.inf}),
    "blank component": ("reward_components", lambda value: {" ": 1.0}),
    "component is text": ("reward_components", lambda value: ("1",)),
    "components as a number": ("reward_components", lambda value: 1.0),
    "stop reason of an engine": ("stop_reason", lambda value: "max_tokens"),
    "no stop reason": ("stop_reason", lambda value: None),
}


class TestRecords:
    """One rollout."""

    @given(records())
    def test_valid(self, record):
        """What the rules say is enough, in process and as a JSON object."""
        assert r.validate_rollout_record(record) is None
        fields = {
            name: list(v) if isinstance(v, tuple) else v for name, v in dataclasses.asdict(record).items()
        }
        assert r.check_rollout_record(fields).count == 0

    @settings(max_examples=15)
    @pytest.mark.parametrize("mutation", RECORD_MUTATIONS)
    @given(record=records())
    def test_single_mutations(self, record, mutation):
        """Each is refused, and the place is named."""
        name, mutate = RECORD_MUTATIONS[mutation]
        mutated = dataclasses.replace(record, **{name: mutate(getattr(record, name))})
        with pytest.raises(ValueError, match=r"ids|id|mask|logprobs|components|stop_reason|version"):
            r.validate_rollout_record(mutated)

    def test_records_are_frozen(self):
        """A record says what happened."""
        record = r.RolloutRecord("q", "g", (1,), (1,), (-1.0,), (1.0,), "eos", "v")
        with pytest.raises(dataclasses.FrozenInstanceError):
            record.prompt_id = "other"

    @pytest.mark.parametrize("record", [None, {}, "record"])
    def test_no_record(self, record):
        """Something else altogether is a bad type."""
        with pytest.raises(TypeError, match="record"):
            r.validate_rollout_record(record)

    def test_every_violation_is_named_by_its_pointer(self):
        """All of them, not the first only; names are escaped as RFC 6901 says."""
        found = r.check_rollout_record(
            {
                "prompt_id": "",
                "group_id": "g",
                "token_ids": [1, -2, True],
                "action_mask": [1, 0, 5],
                "old_logprobs": [None, -1.0, -1.0],
                "reward_components": {"a/b": math.nan},
                "stop_reason": "eos",
                "extra": 1,
            }
        )
        assert {violation.pointer for violation in found.listed} == {
            "/prompt_id", "/token_ids/1", "/token_ids/2", "/action_mask/2", "/old_logprobs/0",
            "/reward_components/a~1b", "/generator_version", "/extra",
        }  # fmt: skip
        assert found.count == len(found.listed)

    def test_violations_are_counted_beyond_those_listed(self):
        """A hundred places are listed, all are counted."""
        fields = dataclasses.asdict(
            r.RolloutRecord("q", "g", (-1,) * 500, (1,) * 500, (0.0,) * 500, (1,), "eos", "v")
        )
        found = r.check_rollout_record(fields)
        assert (len(found.listed), found.count) == (100, 500)


@st.composite
def batches(draw):
    """Valid rollout batches of NumPy arrays."""
    size, width = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    lengths = rng.integers(1, width + 1, size)
    mask = np.arange(width) < lengths[:, None]
    logprobs = [np.where(mask, -rng.exponential(size=mask.shape), np.nan) for _ in range(2)]
    batch = {
        "response_ids": rng.integers(0, 1000, mask.shape),
        "response_mask": mask.astype(draw(st.sampled_from([bool, np.int64, np.float32]))),
        "old_logprobs": logprobs[0],
        "ref_logprobs": logprobs[1].astype(np.float32),
        "sequence_rewards": rng.normal(size=size),
        "terminated": rng.random(size) < 0.5,
        "truncated": rng.random(size) < 0.5,
        "stop_reason": [str(reason) for reason in rng.choice(["eos", "length", "my own"], size)],
    }
    if draw(st.booleans()):
        batch["action_mask"] = mask & (rng.random(mask.shape) < 0.5)
        batch["action_mask"][0, 0] = True
        batch["old_logprobs"] = np.where(mask & ~batch["action_mask"], np.nan, batch["old_logprobs"])
        batch["policy_version"] = draw(st.sampled_from(["ckpt-1", 12, ["ckpt-1"] * size]))
        batch["sampling_config"] = draw(st.sampled_from([{"temperature": 1.0}, [r.SamplingConfig()] * size]))
        batch["reward_raw"] = rng.normal(size=size)
    return batch


def put(value, place=(0, 0)):
    """A mutation that puts `value` at one place of an array."""

    def mutate(array):
        array = np.array(array, dtype=object if isinstance(value, str) else np.float64)
        array[place[: array.ndim]] = value
        return array

    return mutate


BATCH_MUTATIONS = {
    "an id fewer": ("response_ids", lambda value: value[:, 1:]),
    "flat ids": ("response_ids", np.ravel),
    "no rows": ("response_ids", lambda value: value[:0]),
    "float ids": ("response_ids", lambda value: value.astype(float)),
    "boolean ids": ("response_ids", lambda value: value.astype(bool)),
    "negative id": ("response_ids", lambda value: -1 - value),
    "mask of another value": ("response_mask", put(2)),
    "mask starts late": ("response_mask", put(0)),
    "mask with a hole": (
        "response_mask",
        lambda value: np.concatenate([value[:, :1] * 0, value[:, 1:]], axis=1),
    ),
    "mask of another shape": ("response_mask", lambda value: value[None]),
    "NaN where active": ("ref_logprobs", put(math.nan)),
    "infinite where active": ("ref_logprobs", put(-math.inf)),
    "text for a log-probability": ("old_logprobs", put("-1.0")),
    "log-probabilities of another shape": ("old_logprobs", lambda value: value.T[..., None]),
    "boolean log-probabilities": ("old_logprobs", lambda value: value > 0),
    "NaN reward": ("sequence_rewards", put(math.nan)),
    "infinite reward": ("sequence_rewards", put(math.inf)),
    "a reward more": ("sequence_rewards", lambda value: [*value, 0.0]),
    "rewards per token": ("sequence_rewards", lambda value: value[:, None]),
    "flag of another value": ("terminated", put(2)),
    "flag not known": ("truncated", put(math.nan)),
    "flags as text": ("truncated", lambda value: ["true"] * len(value)),
    "blank stop reason": ("stop_reason", lambda value: [" ", *value[1:]]),
    "stop reason is no text": ("stop_reason", lambda value: [None, *value[1:]]),
    "a stop reason more": ("stop_reason", lambda value: [*value, "eos"]),
    "one stop reason for all": ("stop_reason", lambda value: "eos"),
    "ragged ids": ("response_ids", lambda value: [[1], [1, 2]]),
    "blank policy version": ("policy_version", lambda value: ""),
    "sampling configuration is text": ("sampling_config", lambda value: "temperature 1"),
    "NaN raw reward": ("reward_raw", lambda value: put(math.nan)(np.zeros(1))),
}


class TestBatches:
    """A padded batch of rollouts."""

    @given(batches())
    def test_valid(self, batch):
        """What the rules say is enough, as arrays and as JSON-like lists with None for padding."""
        summary = r.validate_rollout_batch(batch)
        mask = batch["response_mask"].astype(bool)
        assert (summary.batch_size, summary.max_response_tokens) == mask.shape
        assert summary.active_tokens == batch.get("action_mask", mask).sum()
        assert summary.mean_response_length == pytest.approx(mask.sum(axis=1).mean())
        assert summary.terminated_sequences == batch["terminated"].sum()
        assert summary.truncated_sequences == batch["truncated"].sum()
        lists = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in batch.items()
        }
        for name in ("old_logprobs", "ref_logprobs"):
            lists[name] = [[None if math.isnan(x) else x for x in row] for row in lists[name]]
        assert r.validate_rollout_batch(lists) == summary

    @settings(max_examples=15)
    @pytest.mark.parametrize("mutation", BATCH_MUTATIONS)
    @given(batch=batches())
    def test_single_mutations(self, batch, mutation):
        """Each is refused, and the field is named."""
        name, mutate = BATCH_MUTATIONS[mutation]
        batch = copy.deepcopy(batch)
        batch[name] = mutate(batch.get(name))
        with pytest.raises(ValueError, match=r"^\w+(/\d+)* "):
            r.validate_rollout_batch(batch)
        found, summary = r.check_rollout_batch(batch)
        assert summary is None
        assert found.count >= 1

    @given(
        batches(),
        st.sampled_from(["response_ids", "response_mask", "ref_logprobs", "truncated", "stop_reason"]),
    )
    def test_missing_fields(self, batch, name):
        """Every field of the minimal contract has to be there."""
        del batch[name]
        with pytest.raises(ValueError, match=f"{name} is missing"):
            r.validate_rollout_batch(batch)

    def test_padding(self):
        """Padding is NaN unless asked otherwise; tool output inside the response may be anything."""
        batch = batch_of_two()
        batch["old_logprobs"][1, 1] = 0.0
        with pytest.raises(ValueError, match=r"old_logprobs/1/1 must be NaN in the padding"):
            r.validate_rollout_batch(batch)
        assert r.validate_rollout_batch(batch, padding="any").active_tokens == 3
        batch = batch_of_two() | {"action_mask": np.array([[1, 0], [1, 0]])}
        for observed in (0.0, math.nan):
            batch["old_logprobs"][0, 1] = observed
            assert r.validate_rollout_batch(batch).active_tokens == 2
        batch["action_mask"] = np.array([[1, 0], [1, 1]])
        with pytest.raises(ValueError, match="action_mask/1/1 must be 0 outside the response"):
            r.validate_rollout_batch(batch)
        with pytest.raises(ValueError, match="padding"):
            r.validate_rollout_batch(batch_of_two(), padding="zero")

    def test_every_violation_has_its_pointer(self):
        """By field, row and column."""
        batch = batch_of_two()
        batch["old_logprobs"][0] = [math.inf, math.nan]
        batch["sequence_rewards"][1] = math.nan
        batch["stop_reason"][0] = ""
        found, _ = r.check_rollout_batch(batch)
        pointers = {violation.pointer for violation in found.listed}
        assert pointers == {"/old_logprobs/0/0", "/old_logprobs/0/1", "/sequence_rewards/1", "/stop_reason/0"}

    def test_both_flags_may_be_true(self):
        """An episode can reach its end in the very step that cuts it off."""
        batch = batch_of_two() | {"terminated": [True, True], "truncated": [True, False]}
        summary = r.validate_rollout_batch(batch)
        assert (summary.terminated_sequences, summary.truncated_sequences) == (2, 1)

    def test_no_mapping(self):
        """Something else altogether is a bad type."""
        with pytest.raises(TypeError, match="batch"):
            r.validate_rollout_batch([])


def batch_of_two():
    """The batch of the course, as arrays."""
    return {
        "response_ids": np.array([[5, 6], [7, 8]]),
        "response_mask": np.array([[1, 1], [1, 0]]),
        "old_logprobs": np.array([[-0.1, -0.2], [-0.3, np.nan]]),
        "ref_logprobs": np.array([[-0.1, -0.2], [-0.3, np.nan]]),
        "sequence_rewards": np.array([1.0, 0.0]),
        "terminated": np.array([True, False]),
        "truncated": np.array([False, True]),
        "stop_reason": ["eos", "length"],
    }


SETTINGS = [
    ("temperature", 0.0, ValueError),
    ("temperature", "1", TypeError),
    ("temperature", True, TypeError),
    ("temperature", math.nan, ValueError),
    ("top_k", 0, ValueError),
    ("top_k", 1.5, TypeError),
    ("top_k", True, TypeError),
    ("top_p", 0.0, ValueError),
    ("top_p", 1.01, ValueError),
    ("min_p", -0.1, ValueError),
    ("min_tokens_to_keep", 0, ValueError),
    ("repetition_penalty", 0.0, ValueError),
    ("presence_penalty", math.inf, ValueError),
    ("seed", 1.0, TypeError),
    ("max_tokens", 0, ValueError),
    ("allowed_token_ids", (), ValueError),
    ("allowed_token_ids", "12", TypeError),
    ("suppressed_token_ids", (-1,), ValueError),
    ("logit_bias", {-1: 0.0}, ValueError),
    ("logit_bias", {1: math.nan}, ValueError),
    ("stop_strings", "END", TypeError),
    ("stop_strings", ("",), TypeError),
    ("stop_token_ids", (True,), TypeError),
    ("processor_order", ("masks",), ValueError),
    ("processor_order", ("top_k", "masks", "penalties", "temperature", "top_p", "min_p"), ValueError),
    ("generator_version", 12, TypeError),
]


@pytest.mark.parametrize(("name", "value", "error"), SETTINGS)
def test_settings_are_checked(name, value, error):
    """A sampling setting out of range, or of the wrong kind, is named."""
    with pytest.raises(error, match=name):
        r.SamplingConfig(**{name: value})


def test_settings_are_plain_data():
    """A configuration goes to JSON and is a value: equal ones are one key."""
    config = r.SamplingConfig(top_k=5, stop_strings=["END"], logit_bias={3: -1.0})
    assert config.to_dict()["logit_bias"] == {"3": -1.0}
    assert config.to_dict()["stop_strings"] == ["END"]
    assert hash(config) == hash(dataclasses.replace(config))
