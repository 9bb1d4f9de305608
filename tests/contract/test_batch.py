"""`/v1/verify/batch`: defaults, keyed ground truths, order, gzip, NDJSON, limits."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from serving import Client, batch, encode, post, serving

JSON = {"content-type": "application/json"}


def test_replies_come_in_order(client: Client) -> None:
    """Inline and pooled items mixed, each reply at the place of its item."""
    items = [
        {"verifier": ("exact", "pooled")[n % 2], "response": str(n), "ground_truth": str(n % 3)}
        for n in range(40)
    ]
    results = batch(client, items)
    assert [result["reward"] for result in results] == [float(n == n % 3) for n in range(40)]
    assert len({result["id"] for result in results}) == 40


def test_an_empty_batch_has_no_results(client: Client) -> None:
    """No items, no replies, no fault."""
    assert batch(client, []) == []


def test_defaults_fill_whole_fields(client: Client) -> None:
    """A field that an item names is its own, whole; `meta` is merged key by key."""
    defaults = {
        "verifier": "exact",
        "ground_truth": "a",
        "options": {"strip": True},
        "stop": {"reason": "length", "num_tokens": 5},
        "meta": {"canary": True, "run": "r"},
    }
    results = batch(
        client,
        [
            {"response": " a "},
            {"response": " a ", "options": {}},
            {"response": "a", "stop": {"reason": "eos"}},
            {"response": "a", "meta": {"step": 3}},
            {"response": "a", "meta": {"canary": False}},
            {"response": "a", "meta": None},
            {"response": "b", "ground_truth": "b"},
            {"response": "a", "ground_truth": None},
        ],
        defaults=defaults,
    )
    assert [result["reward"] for result in results] == [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, None]
    assert [result["stop"]["stop_reason"] for result in results[:3]] == ["length", "length", "eos"]
    assert [result["include_in_loss"] for result in results[3:6]] == [False, True, False]


DEFAULTS: dict[str, Any] = {
    "verifier": "exact",
    "response": "a ",
    "ground_truth": "a",
    "prompt": "p",
    "options": {"strip": True},
    "stop": {"reason": "length", "num_tokens": 5},
    "shaping": {"truncation": "mask"},
    "meta": {"run": "r", "canary": None},
}


@pytest.mark.parametrize("field", ["prompt", "options", "stop", "shaping", "meta", "ground_truth_key"])
def test_null_counts_as_left_out(client: Client, field: str) -> None:
    """In an item the default applies then, in the defaults nothing does; alone it is as if it were absent."""
    left_out, null = batch(client, [{}, {field: None}], defaults=DEFAULTS)
    for result in (left_out, null):
        assert (result["reward"], result["include_in_loss"]) == (1.0, False)
        assert result["stop"]["stop_reason"] == "length"
    without = {name: value for name, value in DEFAULTS.items() if name != field}
    pairs = [batch(client, [{}], defaults=defaults) for defaults in (without, without | {field: None})]
    if field != "ground_truth_key":
        pairs.append([post(client, without | {field: None}).json()])
    assert len({json.dumps([one[name] for name in ESSENCE]) for (one,) in pairs}) == 1


ESSENCE = ["status", "reward", "reward_components", "stop", "include_in_loss", "failure"]


def test_null_fields_of_meta_count_as_left_out(client: Client) -> None:
    """Where `meta` is merged key by key, too."""
    results = batch(
        client,
        [{}, {"meta": {"canary": None}}, {"meta": {"canary": False}}],
        defaults=DEFAULTS | {"shaping": None, "meta": {"canary": True}},
    )
    assert [result["include_in_loss"] for result in results] == [False, False, True]


def test_a_null_ground_truth_was_sent(client: Client) -> None:
    """It cannot be used, and no default, nor a default's key, takes its place; beside a key it is nothing."""
    item: dict[str, Any] = {"ground_truth": None}
    by_key = {name: value for name, value in DEFAULTS.items() if name != "ground_truth"}
    by_key["ground_truth_key"] = "k"
    for defaults in (DEFAULTS, by_key):
        results = batch(
            client, [item, item | {"ground_truth_key": "k"}], defaults=defaults, ground_truths={"k": "a"}
        )
        assert [result["reward"] for result in results] == [None, 1.0]
        assert results[0]["failure"]["kind"] == "invalid_ground_truth"


def test_ground_truths_whose_keys_are_no_unicode(client: Client) -> None:
    """Keys that could not be stored stay apart from each other, and from those that look like them."""
    keys = ["\ud800", "\ud801", "\0", "\ufffd", "\ufffdd800", "d800", "\ufffd\ud800", "\ud800\ud800"]
    results = batch(
        client,
        [{"ground_truth_key": key, "response": str(n)} for n, key in enumerate(keys)],
        defaults={"verifier": "exact", "ground_truth_key": "\udfff"},
        ground_truths={key: str(n) for n, key in enumerate([*keys, "\udfff"])},
    )
    assert [result["reward"] for result in results] == [1.0] * len(keys)
    assert all(result["audit"]["flags"] == [] for result in results)


def test_ground_truths_by_key(client: Client) -> None:
    """Items name a ground truth instead of carrying it; the defaults may name one for all."""
    results = batch(
        client,
        [
            {"response": "x"},
            {"response": "y", "ground_truth_key": "k2"},
            {"response": "z", "ground_truth": "z"},
            {"response": "y", "ground_truth_key": "k2", "ground_truth": None},
        ],
        defaults={"verifier": "exact", "ground_truth_key": "k1"},
        ground_truths={"k1": "x", "k2": "y"},
    )
    assert [result["reward"] for result in results] == [1.0, 1.0, 1.0, 1.0]


def test_keys_that_name_nothing(client: Client) -> None:
    """An unknown key, and a key beside a ground truth, are faults of the envelope."""
    items: list[dict[str, Any]] = [
        {"verifier": "exact", "response": "a", "ground_truth_key": "k9"},
        {"verifier": "exact", "response": "a", "ground_truth_key": "k1", "ground_truth": "a"},
    ]
    reply = post(client, {"items": items, "ground_truths": {"k1": "a"}}, "/v1/verify/batch")
    assert reply.status_code == 422
    pointers = [error["pointer"] for error in reply.json()["errors"]]
    assert pointers == ["/items/0/ground_truth_key", "/items/1/ground_truth_key"]


def test_replaced_characters_are_flagged_where_they_were(client: Client) -> None:
    """In the item, in its keyed ground truth, in the defaults; nowhere else."""
    results = batch(
        client,
        [
            {"response": "a\ud800", "ground_truth": "a"},
            {"response": "a", "ground_truth": "a"},
            {"response": "a", "ground_truth_key": "bad"},
            {"response": "a", "ground_truth_key": "good"},
            {"response": "a"},
        ],
        defaults={"verifier": "exact", "ground_truth": "\0"},
        ground_truths={"bad": "\ud800", "good": "a"},
    )
    flagged = [result["audit"]["flags"] == ["replaced_characters"] for result in results]
    assert flagged == [True, False, True, False, True]


def verdicts_counted(client: Client) -> list[str]:
    """The counters of verdicts."""
    lines = client.get("/metrics").text.splitlines()
    return [line for line in lines if line.startswith("goldcheck_verdicts_total")]


def test_a_bad_item_refuses_the_whole_batch(client: Client) -> None:
    """Nothing of it is scored or counted."""
    before = verdicts_counted(client)
    items = [{"verifier": "exact", "response": "a", "ground_truth": "a"}] * 50
    assert post(client, {"items": [*items, {"response": 1}]}, "/v1/verify/batch").status_code == 422
    assert verdicts_counted(client) == before


def test_ndjson_lines(client: Client) -> None:
    """One line per item with its index, and a last line that says how many there were."""
    items = [{"response": str(n), "ground_truth": "1"} for n in range(3)]
    body = {"items": items, "defaults": {"verifier": "pooled"}}
    reply = post(client, body, "/v1/verify/batch", accept="application/x-ndjson; q=1, */*")
    assert reply.headers["content-type"] == "application/x-ndjson"
    *lines, end = [json.loads(line) for line in reply.text.splitlines()]
    assert end == {"end": True, "count": 3}
    assert sorted(line["index"] for line in lines) == [0, 1, 2]
    assert {line["index"]: line["reward"] for line in lines} == {0: 0.0, 1: 1.0, 2: 0.0}


@pytest.mark.parametrize(
    "accept",
    [
        "application/x-ndjson",
        "APPLICATION/X-NDJSON ; Q=0.5",
        "application/json, application/x-ndjson",
        "application/json;q=0.8, application/x-ndjson;q=0.9",
        "application/json;q=0.4, application/x-ndjson;q=0.5, */*",
        "text/html, application/x-ndjson; charset=utf-8; q=0.001",
    ],
)
def test_lines_where_they_are_wanted_most(client: Client, accept: str) -> None:
    """Weights are read; on a tie lines are what was named on purpose."""
    reply = post(client, {"items": []}, "/v1/verify/batch", accept=accept)
    assert reply.text == '{"end":true,"count":0}\n'


@pytest.mark.parametrize(
    "accept",
    [
        "application/json",
        "*/*",
        "text/html",
        "application/x-ndjsonx",
        "application/*",
        "",
        "application/x-ndjson;q=0",
        "application/json, application/x-ndjson;q=0",
        "application/x-ndjson;q=0.000, */*;q=0.1",
        "application/json, application/x-ndjson;q=0.9",
        "application/x-ndjson;q=0.9, application/*",
    ],
)
def test_json_unless_lines_are_asked_for(client: Client, accept: str) -> None:
    """Any other Accept gets JSON."""
    assert post(client, {"items": []}, "/v1/verify/batch", accept=accept).json() == {"results": []}


@pytest.mark.parametrize("encoding", ["gzip", "x-gzip", "GZIP"])
def test_gzip_is_accepted(client: Client, encoding: str) -> None:
    """In one member or several."""
    body = encode({"items": [{"verifier": "exact", "response": "a", "ground_truth": "a"}]})
    for packed in (gzip.compress(body), gzip.compress(body[:20]) + gzip.compress(body[20:])):
        reply = client.post("/v1/verify/batch", content=packed, headers=JSON | {"content-encoding": encoding})
        assert reply.json()["results"][0]["reward"] == 1.0


def test_limits_are_readable_and_hold(tmp_path: Path) -> None:
    """`/v1/limits` says what is refused, and exactly that is."""
    limits = {
        "max_items": 3,
        "max_body_bytes": 5000,
        "max_response_bytes": 100,
        "max_ground_truth_bytes": 200,
    }
    with serving(tmp_path, **limits) as client:
        served = client.get("/v1/limits").json()
        assert limits.items() <= served.items()
        item = {"verifier": "exact", "response": "a", "ground_truth": "a"}
        assert len(batch(client, [item] * 3)) == 3
        assert post(client, {"items": [item] * 4}, "/v1/verify/batch").json()["code"] == "too_many_items"

        assert post(client, item | {"response": "é" * 50}).status_code == 200
        refused = post(client, {"items": [item, item | {"response": "é" * 51}]}, "/v1/verify/batch")
        assert refused.status_code == 413
        assert refused.json()["code"] == "response_too_large"
        assert refused.json()["errors"][0]["pointer"] == "/items/1/response"

        for ground_truth, fits in (
            ("é" * 100, True),
            ("é" * 101, False),
            (["a" * 196], True),
            (["a" * 197], False),
        ):
            failure = post(client, item | {"ground_truth": ground_truth}).json()["failure"]
            assert ("bytes" in (failure or {"message": ""})["message"]) is not fits

        padding = len(encode(item | {"prompt": ""}))
        assert post(client, item | {"prompt": "p" * (5000 - padding)}).status_code == 200
        too_large = post(client, item | {"prompt": "p" * (5001 - padding)})
        assert (too_large.status_code, too_large.json()["code"]) == (413, "body_too_large")
        bomb = gzip.compress(b" " * 1_000_000)
        reply = client.post("/v1/verify", content=bomb, headers=JSON | {"content-encoding": "gzip"})
        assert reply.json()["code"] == "body_too_large"


def test_a_huge_batch_in_parts_of_the_event_loop(client: Client) -> None:
    """As many items as are allowed."""
    results = batch(client, [{"response": "1"}] * 16_384, defaults={"verifier": "numeric", "ground_truth": 1})
    assert len(results) == 16_384
    assert {result["reward"] for result in results} == {1.0}
