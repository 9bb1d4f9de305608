"""No request gives a 500 or a reward outside the declared range, whatever is in it."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serving import Client, encode, post

from verifiers.types import FailureKind

any_text = st.text(st.characters(categories=["L", "N", "P", "S", "Z", "C"]), max_size=60)
pieces = ["\\boxed{", "}", "1", "/", "0", ",", ".", "-", "e", "\\frac", "{", "$", "%", "</think>", " "]
mathy = st.lists(st.sampled_from(pieces), max_size=20).map("".join)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
leaves = st.none() | st.booleans() | numbers | any_text
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=10,
)
FIELDS = ["verifier", "response", "ground_truth", "prompt", "options", "stop", "shaping", "meta"]

VERIFIERS = ["numeric", "exact", "pooled"]


def check(client: Client, path: str, body: bytes, most_reward: float = 1.0) -> None:
    """Post a body: it is scored within the range, unscorable, or a bad call; never anything else."""
    reply = client.post(path, content=body)
    assert reply.status_code in (200, 400, 404, 413, 422), reply.text

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    answer = json.loads(reply.text, parse_constant=refuse)
    if reply.status_code != 200:
        assert answer["code"]
        return
    for result in answer.get("results", [answer]):
        if result["status"] == "scored":
            assert 0.0 <= result["reward_components"]["correctness"] <= 1.0
            assert result["reward"] <= most_reward
            assert result["reward"] == pytest.approx(sum(result["reward_components"].values()))
        else:
            assert result["reward"] is None
            assert result["failure"]["kind"] in get_args(FailureKind)
            assert result["failure"]["kind"] != "verifier_error", result


@settings(max_examples=50)
@given(st.sampled_from(VERIFIERS), any_text | mathy, values)
def test_any_response_and_ground_truth(client: Client, verifier: str, response: str, truth: Any) -> None:
    """Content never makes a call bad."""
    body = {"verifier": verifier, "response": response, "ground_truth": truth}
    assert post(client, body).status_code == 200
    check(client, "/v1/verify", encode(body))


@settings(max_examples=50)
@given(st.sampled_from(VERIFIERS), st.sampled_from(FIELDS), values)
def test_any_value_in_any_field(client: Client, verifier: str, field: str, value: Any) -> None:
    """What does not fit is refused with a code."""
    body = {"verifier": verifier, "response": "\\boxed{1}", "ground_truth": "1"} | {field: value}
    check(client, "/v1/verify", encode(body))
    check(client, "/v1/verify/batch", encode({"items": [{}], "defaults": body}))


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_any_bytes(client: Client, body: bytes) -> None:
    """As a body, and as the text of a response."""
    check(client, "/v1/verify", body)
    check(client, "/v1/verify/batch", body)
    check(client, "/v1/verify", b'{"verifier":"numeric","ground_truth":1,"response":"' + body + b'"}')


@settings(max_examples=50)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "reason": st.sampled_from(["stop", "length", "abort", "error", "eos"]) | any_text,
            "engine": st.sampled_from(["vllm", "sglang", "tgi", "openai"]) | any_text,
            "matched": st.none() | any_text | st.integers(-(2**31), 2**31),
            "num_tokens": st.integers(0, 10**6),
            "max_tokens": st.integers(0, 10**6),
            "last_token_id": st.integers(0, 10**6),
            "eos_token_ids": st.lists(st.integers(0, 10**6), max_size=3),
            "terminal_reasons": st.lists(st.sampled_from(["eos", "length"]), max_size=2),
            "unscorable_reasons": st.lists(st.sampled_from(["aborted", "length"]), max_size=2),
        },
    ),
    st.sampled_from(["keep", "zero", "mask"]),
    st.integers(1, 10**6),
    st.floats(0, 10),
)
def test_any_stop_and_shaping(
    client: Client, stop: dict[str, Any], truncation: str, length: int, weight: float
) -> None:
    """Stop reasons and shaping that fit are always answered, and the reward is the sum of its parts."""
    shaping = {
        "truncation": truncation,
        "overlong": {"max_length": length, "cache_length": max(1, length // 3), "weight": weight},
    }
    body = {"verifier": "exact", "response": "a", "ground_truth": "a", "shaping": shaping}
    reply = post(client, body | {"stop": {"num_tokens": 5} | stop})
    assert reply.status_code == 200, reply.text
    check(client, "/v1/verify", encode(body | {"stop": {"num_tokens": 5} | stop}))
