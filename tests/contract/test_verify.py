"""Contract section 2, sentence by sentence: one request, one reply."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from serving import Client, post, verify

EXAMPLE: dict[str, Any] = {
    "verifier": "numeric",
    "response": "3 of 7 parts, so \\boxed{3/7}",
    "ground_truth": "0.428571",
    "prompt": "What part is blue?",
    "options": {"rtol": 1e-6, "atol": 1e-9},
    "stop": {"reason": "stop", "engine": "vllm", "matched": None, "num_tokens": 41, "max_tokens": 1024},
    "shaping": {
        "truncation": "keep",
        "overlong": {"max_length": 1024, "cache_length": 128, "weight": 1.0},
    },
    "meta": {
        "data_source": "gsm8k",
        "run": "r7",
        "step": 1200,
        "split": "train",
        "prompt_id": "q1",
        "group_id": "g1",
        "rollout_id": "g1-3",
        "generator_version": "ckpt-1200",
        "reference_version": "sft-0",
        "canary": False,
        "tags": {"lang": "en"},
    },
}


def test_the_contracts_example(client: Client) -> None:
    """The request of the contract gets the reply of the contract."""
    reply = post(client, EXAMPLE)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "application/json"
    body = reply.json()
    assert uuid.UUID(body.pop("id")).version == 7
    assert len(body["verifier"].pop("environment")) == 16
    assert set(body.pop("timing")) == {"queue_ms", "verify_ms"}
    assert isinstance(body["audit"].pop("selected"), bool)
    assert body == {
        "status": "scored",
        "reward": 1.0,
        "reward_components": {"correctness": 1.0, "overlong": 0.0},
        "verdict": {
            "correct": True,
            "reason": "within_tolerance",
            "detail": {
                "extracted": "3/7",
                "source": "boxed",
                "span": [24, 27],
                "parsed": "3/7",
                "expected": "428571/1000000",
                "error": "3/7000000",
                "tolerance": "1.001e-06",
            },
        },
        "stop": {
            "stop_reason": "eos",
            "raw": "stop",
            "source": "explicit",
            "terminated": True,
            "truncated": False,
        },
        "include_in_loss": True,
        "failure": None,
        "verifier": {"name": "numeric", "version": "1.0.0"},
        "audit": {"flags": [], "stratum": "accept/plain"},
    }


def test_unscorable_replies_hold_no_reward(client: Client) -> None:
    """What cannot be judged has null where a judgement would be, and a failure that says why."""
    body = verify(client, ground_truth=["not", "a", "text"])
    assert body["status"] == "unscorable"
    assert body["reward"] is body["reward_components"] is body["verdict"] is None
    assert body["include_in_loss"] is False
    assert body["failure"]["kind"] == "invalid_ground_truth"
    assert body["audit"] == {"flags": [], "stratum": "unscorable/invalid_ground_truth", "selected": True}


@pytest.mark.parametrize("ground_truth", [None, {}, [], {"a": [1]}, True, "", "x", 1.5, "\ud800", "\0"])
def test_no_ground_truth_is_a_bad_call(client: Client, ground_truth: object) -> None:
    """Whatever a ground truth holds, the call is fine."""
    for verifier in ("exact", "numeric", "pooled"):
        verify(client, verifier=verifier, ground_truth=ground_truth)


def test_a_missing_ground_truth_is_unscorable(client: Client) -> None:
    """The schema does not ask for one, so leaving it out is no bad call."""
    reply = post(client, {"verifier": "numeric", "response": "1"})
    assert reply.status_code == 200
    assert reply.json()["failure"]["kind"] == "invalid_ground_truth"


@pytest.mark.parametrize("verifier", ["numeric", "exact", "pooled"])
@pytest.mark.parametrize("text", ["a\ud800b", "a\0b", "\udfff"])
def test_unstorable_characters_are_replaced_and_flagged(client: Client, verifier: str, text: str) -> None:
    """NUL and lone surrogates are judged as U+FFFD, in responses and ground truths alike."""
    for fields in ({"response": text}, {"ground_truth": text}):
        body = verify(client, verifier=verifier, **fields)
        assert body["audit"]["flags"] == ["replaced_characters"]
        assert "plain" not in body["audit"]["stratum"]


def test_replaced_characters_compare_as_such(client: Client) -> None:
    """A lone surrogate equals U+FFFD once read; a pair of surrogates is the character it stands for."""
    assert verify(client, response="a\ud800", ground_truth="a\ufffd")["reward"] == 1.0
    reply = client.post(
        "/v1/verify", content=rb'{"verifier":"exact","response":"\ud83d\ude00","ground_truth":"\ud83d\ude00"}'
    )
    assert reply.json()["reward"] == 1.0
    assert reply.json()["audit"]["flags"] == []


def test_surrogates_written_as_bytes_are_read(client: Client) -> None:
    """A client that encodes with `surrogatepass` is understood."""
    content = '{"verifier":"exact","response":"a\ud800","ground_truth":"a\ufffd"}'.encode(
        "utf-8", "surrogatepass"
    )
    reply = client.post("/v1/verify", content=content)
    assert reply.json()["reward"] == 1.0
    assert reply.json()["audit"]["flags"] == ["replaced_characters"]


def test_the_verifier_may_stand_in_the_path(client: Client) -> None:
    """`/v1/verify/{verifier}` is the same, with the name in the path."""
    reply = post(client, {"response": "\\boxed{2}", "ground_truth": 2}, "/v1/verify/numeric")
    assert reply.json()["reward"] == 1.0
    twice = post(client, {"verifier": "numeric", "response": "2", "ground_truth": 2}, "/v1/verify/numeric")
    assert twice.status_code == 422


@pytest.mark.parametrize("prompt", ["text", [{"role": "user", "content": "hi"}], None])
def test_prompts_change_nothing(client: Client, prompt: object) -> None:
    """A prompt is for the audit: text, messages or nothing."""
    assert verify(client, prompt=prompt)["reward"] == 1.0


def test_ground_truth_numbers_are_read_as_their_literals(client: Client) -> None:
    """A gold of 0.1 is one tenth exactly, and integers keep all their digits."""
    body = b'{"verifier":"numeric","response":"0.1","ground_truth":0.1,"options":{"rtol":0,"atol":0}}'
    assert client.post("/v1/verify", content=body).json()["reward"] == 1.0
    digits = "1" + "0" * 4000 + "7"
    body = b'{"verifier":"numeric","response":"%s","ground_truth":%s,"options":{"rtol":0,"atol":0}}'
    assert (
        client.post("/v1/verify", content=body % (digits.encode(), digits.encode())).json()["reward"] == 1.0
    )
    wrong = digits[:-1] + "8"
    assert client.post("/v1/verify", content=body % (digits.encode(), wrong.encode())).json()["reward"] == 0.0


def test_tolerances_are_read_as_the_decimals_written(client: Client) -> None:
    """Two tolerances that are the same double, but not the same decimal, are not the same option."""
    body = b'{"verifier":"numeric","response":"%s","ground_truth":0,"options":{"rtol":0,"atol":%s}}'
    just_above = b"0.1000000000000000000001"
    assert client.post("/v1/verify", content=body % (just_above, b"0.1")).json()["reward"] == 0.0
    assert client.post("/v1/verify", content=body % (just_above, just_above)).json()["reward"] == 1.0
    assert client.post("/v1/verify", content=body % (just_above, b"0.1")).json()["reward"] == 0.0


@pytest.mark.parametrize("digits", [4_301, 99_999, 100_000])
def test_long_integers_are_read_exactly(client: Client, digits: int) -> None:
    """Integers of up to 100,000 digits arrive whole."""
    text = "7" * digits
    body = b'{"verifier":"exact","response":"a","ground_truth":{"n":%s}}' % text.encode()
    assert (
        client.post("/v1/verify", content=body).json()["failure"]["message"]
        == "the ground truth must be a text"
    )


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("place", ["%s", "[[%s]]", '{"a": {"b": %s}}'])
def test_longer_integers_are_the_ground_truths_fault(client: Client, place: str, sign: str) -> None:
    """Beyond 100,000 digits the item is unscorable, wherever the integer stands."""
    ground_truth = place % (sign + "7" * 100_001)
    body = b'{"verifier":"exact","response":"a","ground_truth":%s}' % ground_truth.encode()
    reply = client.post("/v1/verify", content=body)
    assert reply.status_code == 200
    assert reply.json()["failure"]["kind"] == "invalid_ground_truth"
    assert "100000 digits" in reply.json()["failure"]["message"]


def test_deeply_nested_ground_truths_are_unscorable(client: Client) -> None:
    """Nesting beyond the limit is the item's fault, not the caller's."""
    nested: object = "x"
    for _ in range(201):
        nested = [nested]
    failure = verify(client, ground_truth=nested)["failure"]
    assert failure["kind"] == "invalid_ground_truth"
    assert "200 levels" in failure["message"]


def test_equal_requests_get_equal_answers(client: Client) -> None:
    """Everything but id, timing and audit is the same again."""
    first, second = post(client, EXAMPLE).json(), post(client, EXAMPLE).json()
    assert first["id"] < second["id"]
    for body in (first, second):
        for name in ("id", "timing", "audit"):
            body.pop(name)
    assert first == second


@pytest.mark.parametrize("level", ["none", "summary", "full"])
def test_detail_is_as_asked(client: Client, level: str) -> None:
    """`options.detail` says how much evidence comes along."""
    body = verify(client, verifier="numeric", response="1", ground_truth="1", options={"detail": level})
    assert (body["verdict"]["detail"] == {}) is (level == "none")


def test_unknown_fields_are_refused_and_tags_are_free(client: Client) -> None:
    """Free labels have their place; everywhere else a misspelt field is found."""
    assert verify(client, meta={"tags": {"anything": "goes", "n": 1, "x": None}})["reward"] == 1.0
    for fields in (
        {"x": 1},
        {"stop": {"x": 1}},
        {"meta": {"x": 1}},
        {"shaping": {"x": 1}},
        {"options": {"x": 1}},
    ):
        body = {"verifier": "exact", "response": "a", "ground_truth": "a"} | fields
        assert post(client, body).status_code == 422


@pytest.mark.parametrize("name", ["prompt", "options", "stop", "shaping", "meta"])
def test_null_stands_for_left_out(client: Client, name: str) -> None:
    """Clients that write every field may write null."""
    assert verify(client, **{name: None})["reward"] == 1.0
