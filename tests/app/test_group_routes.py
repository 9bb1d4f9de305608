"""`/v1/groups`: members judged as ever, compared by `rollouts`, and counted."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import Client, Live, post, verify
from test_streaming import until

import rollouts

GROUPS, BATCH = "/v1/groups", "/v1/groups/batch"


def judge(client: Client, responses: list[Any], **fields: Any) -> dict[str, Any]:
    """The reply to one group; a response may be a text, the ground truth is "a"."""
    members = [one if isinstance(one, dict) else {"response": one} for one in responses]
    body = {"verifier": "exact", "ground_truth": "a", "responses": members} | fields
    reply = post(client, body, GROUPS)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def of_verdict(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply without what is each reply's own, and without the advantage."""
    own = {"id", "timing", "audit", "advantage"}
    return {name: value for name, value in reply.items() if name not in own}


def test_one_right_of_four(client: Client) -> None:
    """The course's group: sqrt(3) for the right one and -1/sqrt(3) for each other, and every statistic."""
    reply = judge(
        client,
        [
            {"response": "\\boxed{42}", "stop": {"reason": "stop", "num_tokens": 10}},
            {"response": "\\boxed{42.0} ", "stop": {"reason": "length", "num_tokens": 20}},
            {"response": "\\boxed{6}", "stop": {"reason": "length", "num_tokens": 30}},
            {"response": "no idea", "stop": {}},
        ],
        verifier="numeric",
        ground_truth="6",
        group={"method": "grpo", "pass_at_k": [1, 2, 4, 5]},
    )
    third = 1 / math.sqrt(3)
    expected = pytest.approx([-third, -third, math.sqrt(3), -third], abs=1e-7)
    assert reply["group"]["advantages"] == expected
    assert [one["advantage"] for one in reply["results"]] == reply["group"]["advantages"]
    statistics = {
        "count": 4,
        "reward_mean": 0.25,
        "reward_std": pytest.approx(math.sqrt(3) / 4),
        "zero_std": False,
        "solved": 1,
        "pass_rate": 0.25,
        "pass_at_k": {"1": 0.25, "2": 0.5, "4": 1.0, "5": None},
        "distinct_responses": 4,
        "distinct_answers": 2,  # 42 and 42.0 are one number
        "distinct_programs": None,
        "truncated_fraction": pytest.approx(2 / 3),  # the last one's ending is not known
        "truncated_accepted_fraction": 0.5,
        "stop_reason_counts": {"stop": 1, "length": 2, "unknown": 1},
        "tokens": 60,
    }
    group = reply["group"]
    assert group["all"] == statistics
    assert group["valid"] == statistics
    assert (group["method"], group["informative"], group["reject_reason"]) == ("grpo", True, None)
    assert set(group) == {"method", "informative", "reject_reason", "advantages", "all", "valid"}


@given(
    members=st.lists(
        st.fixed_dictionaries(
            {"response": st.sampled_from(["a", "b", " a", "a\0", "\ud800"])},
            optional={
                "stop": st.fixed_dictionaries(
                    {"num_tokens": st.integers(0, 20)},
                    optional={"reason": st.sampled_from(["stop", "length", "abort", "odd"])},
                )
            },
        ),
        min_size=1,
        max_size=6,
    ),
    truth=st.sampled_from(["a", None, 3, "a\0", ["a"]]),
    verifier=st.sampled_from(["exact", "pooled", "numeric"]),
    shaping=st.sampled_from([{}, {"truncation": "zero"}, {"truncation": "mask"}]),
    canary=st.booleans(),
)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_members_are_judged_as_by_verify(
    client: Client, members: list[Any], truth: Any, verifier: str, shaping: Any, canary: bool
) -> None:
    """Each result is the reply of `/v1/verify` to that response, and the advantages are the library's."""
    shared = {"verifier": verifier, "ground_truth": truth, "shaping": shaping, "meta": {"canary": canary}}
    reply = judge(client, members, **shared)
    alone = [verify(client, **shared, **member) for member in members]
    assert [of_verdict(one) for one in reply["results"]] == [of_verdict(one) for one in alone]
    flags = [one["audit"]["flags"] for one in reply["results"]]
    assert flags == [one["audit"]["flags"] for one in alone]
    rewards = [one["reward"] for one in alone if one["status"] == "scored"]
    advantages = iter(rollouts.group_relative_advantages(rewards) if rewards else [])
    for one in reply["results"]:
        assert one["advantage"] == (pytest.approx(next(advantages)) if one["status"] == "scored" else None)
    assert reply["group"]["valid"]["count"] == len(rewards)
    assert reply["group"]["all"]["count"] == len(members)


def test_unscorable_members(client: Client) -> None:
    """They have no advantage, `valid` leaves them out, `all` counts them as not solved."""
    aborted = {"response": "a", "stop": {"reason": "abort", "engine": "vllm"}}
    group = judge(client, ["a", "b", aborted, aborted], group={"pass_at_k": [3]})["group"]
    assert group["advantages"] == [pytest.approx(1), pytest.approx(-1), None, None]
    assert (group["valid"]["pass_rate"], group["all"]["pass_rate"]) == (0.5, 0.25)
    assert (group["valid"]["pass_at_k"], group["all"]["pass_at_k"]) == ({"3": None}, {"3": 0.75})
    assert (group["valid"]["reward_mean"], group["all"]["reward_mean"]) == (0.5, 0.25)
    assert group["all"]["stop_reason_counts"]["aborted"] == 2
    assert group["reject_reason"] is None


@pytest.mark.parametrize(
    ("terms", "advantages"),
    [
        (None, [1, -1]),
        ({}, [1, -1]),
        ({"method": "grpo", "eps": 0.5}, [0.5, -0.5]),
        ({"method": "dr_grpo"}, [0.5, -0.5]),
        ({"method": "none"}, [None, None]),
        ({"method": None, "baseline": None, "pass_at_k": None, "eps": None}, [1, -1]),
    ],
)
def test_methods(client: Client, terms: Any, advantages: list[float | None]) -> None:
    """What stands above the deviation, and what it is divided by; null stands for leaving out."""
    group = judge(client, ["a", "b"], group=terms)["group"]
    assert group["advantages"] == [one if one is None else pytest.approx(one) for one in advantages]
    assert group["method"] == ((terms or {}).get("method") or "grpo")


def test_members_masked_for_truncation(client: Client) -> None:
    """They stay in mean and deviation, unless only what the loss includes is to be there."""
    cut = {"response": "a", "stop": {"reason": "length"}}
    scored = judge(client, ["a", "b", cut], shaping={"truncation": "mask"})
    included = judge(client, ["a", "b", cut], shaping={"truncation": "mask"}, group={"baseline": "included"})
    assert [one["include_in_loss"] for one in scored["results"]] == [True, True, False]
    root = math.sqrt(2)
    assert scored["group"]["advantages"] == pytest.approx([1 / root, -root, 1 / root], abs=1e-6)
    assert included["group"]["advantages"] == pytest.approx([1, -1, 0], abs=1e-6)
    alone = judge(client, ["a", cut], shaping={"truncation": "mask"}, group={"baseline": "included"})
    assert alone["group"]["reject_reason"] == "too_few_valid"


@pytest.mark.parametrize(
    ("responses", "fields", "reason"),
    [
        (["a", "a"], {}, "all_correct"),
        (["b", "c"], {}, "all_wrong"),
        (["a"], {}, "too_few_valid"),
        (["a", "b"], {"ground_truth": None}, "too_few_valid"),
        (["a", "b"], {}, None),
        (
            [{"response": "a", "stop": {"reason": "length"}}, "b"],
            {"shaping": {"truncation": "zero"}},
            "equal_partial",
        ),
    ],
)
def test_groups_that_teach_nothing(
    client: Client, responses: list[Any], fields: Any, reason: str | None
) -> None:
    """The reason is named, and the group is informative exactly when there is none."""
    group = judge(client, responses, **fields)["group"]
    assert group["reject_reason"] == reason
    assert group["informative"] is (reason is None)
    assert all(one in (0, None) for one in group["advantages"]) is (reason is not None)


def test_a_canary_group_looks_like_any_other(client: Client) -> None:
    """Only `include_in_loss` differs, whatever the baseline."""
    for baseline in ("scored", "included"):
        usual, canary = (
            judge(client, ["a", "b"], meta={"canary": flag}, group={"baseline": baseline})
            for flag in (False, True)
        )
        assert usual["group"] == canary["group"]
        assert [one["include_in_loss"] for one in canary["results"]] == [False, False]


def test_distinct_programs(service: str) -> None:
    """Programs that differ in names and literals only are one; unfenced text is a program too."""
    import httpx

    programs = ["print(1)", "print(2)  # two", "x = 1\nprint(x)"]
    body = {
        "verifier": "code",
        "ground_truth": {"type": "stdin_stdout", "cases": [{"stdin": "", "stdout": "1\n"}]},
        "responses": [{"response": f"so\n```python\n{program}\n```\n"} for program in programs],
    }
    reply = httpx.post(f"{service}{GROUPS}", json=body, timeout=60).json()
    assert [one["reward"] for one in reply["results"]] == [1.0, 0.0, 1.0]
    assert reply["group"]["all"]["distinct_programs"] == 2
    assert reply["group"]["all"]["distinct_answers"] is None


def test_many_members(client: Client) -> None:
    """A group of thousands: one right among them, in its place."""
    group = judge(client, ["b"] * 2_999 + ["a"], group={"pass_at_k": [1, 3_000]})
    assert group["group"]["all"]["pass_at_k"] == {"1": pytest.approx(1 / 3_000), "3000": 1.0}
    assert [one["reward"] for one in group["results"]].index(1.0) == 2_999
    assert group["group"]["advantages"][-1] == pytest.approx(math.sqrt(2_999), rel=1e-5)


def test_long_texts(client: Client) -> None:
    """Groups whose texts are compared in a thread are compared alike."""
    long = "x" * 200_000
    group = judge(client, [long, long + " ", long + "y", "a"])["group"]
    assert group["all"]["distinct_responses"] == 3
    assert group["all"]["solved"] == 1


async def test_members_are_judged_side_by_side(live: Live) -> None:
    """All members of a small group are under way before the first is done."""
    gates = [live.pooled.hold(str(n)) for n in range(2)]
    body = {"verifier": "pooled", "ground_truth": "1", "responses": [{"response": str(n)} for n in range(2)]}
    async with live.client() as client:
        import asyncio

        request = asyncio.create_task(client.post(GROUPS, json=body))
        await until(lambda: len(live.pooled.calls) == 2)
        for gate in gates:
            gate.set()
        assert [one["reward"] for one in (await request).json()["results"]] == [0.0, 1.0]


def test_a_batch_keeps_order_and_takes_defaults(client: Client) -> None:
    """Whole fields come from the defaults, `meta` key by key, and results stay in their groups."""
    body = {
        "defaults": {"verifier": "exact", "ground_truth": "a", "group": {"method": "dr_grpo"}},
        "groups": [
            {"responses": [{"response": "a"}, {"response": "b"}]},
            {"verifier": "pooled", "ground_truth": "b", "responses": [{"response": "b"}] * 3},
            {"group": {"method": "none"}, "responses": [{"response": "c"}]},
        ],
    }
    found = post(client, body, BATCH).json()["groups"]
    assert [[one["reward"] for one in group["results"]] for group in found] == [[1, 0], [1, 1, 1], [0]]
    assert [group["group"]["method"] for group in found] == ["dr_grpo", "dr_grpo", "none"]
    assert [group["results"][0]["verifier"]["name"] for group in found] == ["exact", "pooled", "exact"]
    assert post(client, {"groups": []}, BATCH).json() == {"groups": []}


def test_a_batch_as_lines(client: Client) -> None:
    """One line per group with its index, and a last line that says how many there were."""
    import json

    groups = [{"ground_truth": "a", "responses": [{"response": text}]} for text in ("a", "b")]
    body = {"groups": groups, "defaults": {"verifier": "exact"}}
    reply = post(client, body, BATCH, accept="application/x-ndjson")
    *lines, end = [json.loads(line) for line in reply.text.splitlines()]
    assert {line["index"]: line["results"][0]["reward"] for line in lines} == {0: 1.0, 1: 0.0}
    assert end == {"end": True, "count": 2}


def test_replaced_characters_are_flagged_where_they_were(client: Client) -> None:
    """A member's own, those of its group's ground truth, and those of an inherited one."""
    own = judge(client, ["a\0", "a"])["results"]
    assert [one["audit"]["flags"] for one in own] == [["replaced_characters"], []]
    groups = [{"responses": [{"response": "a"}]}, {"ground_truth": "a", "responses": [{"response": "a"}]}]
    body = {"groups": groups, "defaults": {"verifier": "exact", "ground_truth": "\ud800"}}
    found = post(client, body, BATCH).json()["groups"]
    assert [group["results"][0]["audit"]["flags"] for group in found] == [["replaced_characters"], []]


@given(
    response=st.text(st.characters(), max_size=20),
    truth=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=8,
    ),
)
@settings(max_examples=40, suppress_health_check=list(HealthCheck))
def test_content_is_never_a_bad_call(client: Client, response: str, truth: Any) -> None:
    """Whatever responses and ground truths hold, the group is answered."""
    for verifier in ("numeric", "exact"):
        group = judge(client, [response, "1"], verifier=verifier, ground_truth=truth)["group"]
        assert group["all"]["count"] == 2
