"""Reward algebra: components, truncation, overlong, canaries."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import Client, batch, post, verify

from app.shaping import overlong_penalty

CUT = {"reason": "length"}
ENDED = {"reason": "eos"}


@pytest.mark.parametrize(
    ("response", "policy", "stop", "components", "in_loss"),
    [
        ("a", "keep", CUT, {"correctness": 1.0}, True),
        ("a", "zero", CUT, {"correctness": 1.0, "truncation": -1.0}, True),
        ("b", "zero", CUT, {"correctness": 0.0, "truncation": 0.0}, True),
        ("a", "mask", CUT, {"correctness": 1.0}, False),
        ("b", "mask", CUT, {"correctness": 0.0}, False),
        ("a", "zero", ENDED, {"correctness": 1.0}, True),
        ("a", "mask", ENDED, {"correctness": 1.0}, True),
        ("a", "zero", None, {"correctness": 1.0}, True),
        ("a", "mask", None, {"correctness": 1.0}, True),
        ("a", None, CUT, {"correctness": 1.0}, True),
    ],
)
def test_truncation_acts_on_truncated_responses_only(
    client: Client,
    response: str,
    policy: str | None,
    stop: dict[str, Any] | None,
    components: dict[str, float],
    in_loss: bool,
) -> None:
    """`keep` scores the text, `zero` takes the correctness away, `mask` leaves it out of the loss."""
    body = verify(client, response=response, stop=stop, shaping={"truncation": policy})
    assert body["reward_components"] == components
    assert body["reward"] == sum(components.values())
    assert math.copysign(1, body["reward"]) == 1 or body["reward"] < 0
    assert body["include_in_loss"] is in_loss
    assert body["verdict"]["correct"] is (response == "a")


@pytest.mark.parametrize(
    ("num_tokens", "weight", "penalty"),
    [
        (750, 1, 0.0),
        (800, 1, 0.0),
        (900, 1, -0.5),
        (1000, 1, -1.0),
        (1200, 1, -1.0),
        (900, 0.5, -0.25),
        (900, None, -0.5),
        (900, 0, 0.0),
        (1200, 0.0, 0.0),
    ],
)
def test_overlong_penalty(client: Client, num_tokens: int, weight: float | None, penalty: float) -> None:
    """DAPO's numbers, times the weight; on right and wrong responses, and independent of truncation."""
    shaping = {"overlong": {"max_length": 1000, "cache_length": 200, "weight": weight}}
    for response, correctness in (("a", 1.0), ("b", 0.0)):
        body = verify(client, response=response, stop={"num_tokens": num_tokens}, shaping=shaping)
        assert body["reward_components"] == {"correctness": correctness, "overlong": penalty}
        assert penalty or math.copysign(1, body["reward_components"]["overlong"]) == 1
        assert body["reward"] == correctness + penalty


def test_overlong_weight_is_one_by_default(client: Client) -> None:
    """The weight may be left out."""
    shaping = {"overlong": {"max_length": 10, "cache_length": 5}}
    assert verify(client, stop={"num_tokens": 11}, shaping=shaping)["reward"] == 0.0


def test_overlong_needs_the_number_of_tokens(client: Client) -> None:
    """Without it the call is bad."""
    body = {
        "verifier": "exact",
        "response": "a",
        "shaping": {"overlong": {"max_length": 9, "cache_length": 3}},
    }
    for stop in ({}, {"stop": {"reason": "length"}}, {"stop": {"num_tokens": None}}):
        reply = post(client, body | stop)
        assert reply.status_code == 422
        assert [error["pointer"] for error in reply.json()["errors"]] == ["/stop/num_tokens"]


@pytest.mark.parametrize(
    "stop",
    [
        {"reason": "abort"},
        {"reason": {"type": "abort"}, "engine": "sglang"},
        {"reason": "length", "unscorable_reasons": ["length"]},
    ],
)
def test_what_has_no_reward_needs_no_number_of_tokens(client: Client, stop: dict[str, Any]) -> None:
    """An aborted generation is unscorable, and neither it nor its batch is refused for want of a length."""
    shaping = {"overlong": {"max_length": 10, "cache_length": 5}}
    body = verify(client, stop=stop, shaping=shaping)
    assert (body["status"], body["failure"]["kind"]) == ("unscorable", "aborted_generation")
    defaults = {"verifier": "exact", "response": "a", "ground_truth": "a", "shaping": shaping}
    results = batch(client, [{"stop": {"num_tokens": 10}}, {"stop": stop}], defaults=defaults)
    assert [result["reward"] for result in results] == [0.0, None]


def test_truncation_and_overlong_add_up(client: Client) -> None:
    """The reward is the sum of all components."""
    body = verify(
        client,
        stop={"reason": "length", "num_tokens": 10},
        shaping={"truncation": "zero", "overlong": {"max_length": 10, "cache_length": 5, "weight": 2}},
    )
    assert body["reward_components"] == {"correctness": 1.0, "truncation": -1.0, "overlong": -2.0}
    assert body["reward"] == -2.0


@given(
    max_length=st.integers(1, 10**6),
    share=st.floats(0, 1),
    num_tokens=st.integers(0, 2 * 10**6),
    weight=st.floats(0, 1e6),
)
def test_overlong_penalty_stays_within_its_weight(
    max_length: int, share: float, num_tokens: int, weight: float
) -> None:
    """Between 0 and -weight, falling with length."""
    cache_length = max(1, int(share * max_length))
    overlong: Any = {"max_length": max_length, "cache_length": cache_length, "weight": weight}
    penalty = overlong_penalty(overlong, num_tokens)
    assert -weight <= penalty <= 0
    assert overlong_penalty(overlong, num_tokens + 1) <= penalty


def test_canaries_are_scored_and_kept_out_of_the_loss(client: Client) -> None:
    """Only `include_in_loss` tells a canary from another response."""
    plain, canary = verify(client), verify(client, meta={"canary": True})
    assert (plain["include_in_loss"], canary["include_in_loss"]) == (True, False)
    for body in (plain, canary):
        for name in ("id", "timing", "include_in_loss"):
            body.pop(name)
        body["audit"].pop("selected")
    assert plain == canary
