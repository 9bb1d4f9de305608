"""`/v1/groups/metrics`: exact counts of what became of groups."""

from __future__ import annotations

import itertools
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving import Client, post, serving

import rollouts
from audit.groups import GroupReader

METRICS = "/v1/groups/metrics"
_serial = itertools.count()
NOTHING = {"all_correct": 0, "all_wrong": 0, "equal_partial": 0, "too_few_valid": 0}


@pytest.fixture(scope="module")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application that answers once counts are on disk."""
    with serving(tmp_path_factory.mktemp("groups"), audit_durability="commit") as client:
        until_open(client)
        yield client


def until_open(client: Client) -> None:
    """Wait for the database, which is made while the first requests are served."""
    deadline = time.monotonic() + 20
    while client.service.log.status().degraded and time.monotonic() < deadline:
        time.sleep(0.01)


def group(texts: str, tokens: int | None = 1, **meta: Any) -> dict[str, Any]:
    """A group of one response per letter: `a` is right, `b` is wrong, `x` was aborted."""
    stops = {"x": {"reason": "abort", "engine": "vllm"}}
    members = [
        {
            "response": text,
            "stop": {**stops.get(text, {}), **({} if tokens is None else {"num_tokens": tokens})},
        }
        for text in texts
    ]
    return {"verifier": "exact", "ground_truth": "a", "responses": members, "meta": meta}


def send(client: Client, *groups: dict[str, Any]) -> None:
    """Have groups judged."""
    assert post(client, {"groups": groups}, "/v1/groups/batch").status_code == 200


def metrics(client: Client, **query: Any) -> dict[str, Any]:
    """What the counts say."""
    reply = client.get(METRICS, params=query)
    assert reply.status_code == 200, reply.text
    found: dict[str, Any] = reply.json()
    return found


def test_nothing_yet(counting: Client) -> None:
    """No groups, no fractions."""
    total = metrics(counting, run="no such run")["total"]
    assert (total["groups"], total["rejected_fraction"], total["tokens_per_accepted_group"]) == (
        0,
        None,
        None,
    )
    assert total["pass_rate_hist"] == {"all": [0] * 12, "valid": [0] * 12}


def test_every_number(counting: Client) -> None:
    """Accepted and rejected, by reason, tokens of all for each accepted one, both histograms."""
    send(counting, *(group(texts, 10, run="all") for texts in ("ab", "aab", "aa", "bb", "bbbb", "ax")))
    assert metrics(counting, run="all")["total"] == {
        "groups": 6,
        "accepted": 2,
        "rejected": {"all_correct": 1, "all_wrong": 2, "equal_partial": 0, "too_few_valid": 1},
        "rejected_fraction": pytest.approx(4 / 6),
        "rejected_fraction_by_reason": {
            "all_correct": pytest.approx(1 / 6),
            "all_wrong": pytest.approx(2 / 6),
            "equal_partial": 0.0,
            "too_few_valid": pytest.approx(1 / 6),
        },
        "groups_with_tokens": 6,
        "tokens": 150,
        "tokens_per_accepted_group": 75.0,
        "pass_rate_hist": {
            "all": [2, 0, 0, 0, 0, 0, 2, 1, 0, 0, 0, 1],
            "valid": [2, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 2],
        },
    }


def test_groups_without_scored_members(counting: Client) -> None:
    """They have no pass rate among the scored, and none of the others is moved by them."""
    send(counting, group("xx", run="aborted"))
    hist = metrics(counting, run="aborted")["total"]["pass_rate_hist"]
    assert hist == {"all": [1] + [0] * 11, "valid": [0] * 12}


def test_tokens_that_are_not_known(counting: Client) -> None:
    """A group with an unknown length is seen, and left out of what is said about tokens."""
    send(counting, group("ab", 5, run="t"), group("ab", None, run="t"), group("aa", 7, run="t"))
    send(counting, group("ab", 2**62, run="t"))
    total = metrics(counting, run="t")["total"]
    assert (total["groups"], total["groups_with_tokens"]) == (4, 2)
    assert (total["tokens"], total["tokens_per_accepted_group"]) == (24, 24.0)


def test_canary_groups_are_left_out(counting: Client) -> None:
    """Their ground truth is out of reach: they say nothing about the prompts."""
    send(counting, group("bb", run="c", canary=True), group("ab", run="c", canary=False))
    assert metrics(counting, run="c")["total"]["groups"] == 1


def test_by_step_and_filters(counting: Client) -> None:
    """Each value of the field in ascending order, the one that was not named as null."""
    for step, texts in ((3, "ab"), (-1, "aa"), (None, "bb"), (3, "bb")):
        send(counting, group(texts, run="s", data_source="gsm8k", split="train", step=step))
    send(counting, group("ab", run="s", data_source="math", split="eval", step=3))
    found = metrics(counting, run="s", split="train", by="step")
    assert [(item["key"], item["groups"], item["accepted"]) for item in found["items"]] == [
        (None, 1, 0),
        (-1, 1, 0),
        (3, 2, 1),
    ]
    assert found["total"]["groups"] == 4
    assert (found["by"], found["next"]) == ("step", None)
    by_source = metrics(counting, run="s", by="data_source")["items"]
    assert [(item["key"], item["groups"]) for item in by_source] == [("gsm8k", 4), ("math", 1)]
    assert [item["key"] for item in metrics(counting, run="s", by="split")["items"]] == ["eval", "train"]
    assert metrics(counting, run="s", data_source="math")["total"]["groups"] == 1
    assert metrics(counting, run="s", data_source="", split="")["total"]["groups"] == 5
    assert {"s"} <= {item["key"] for item in metrics(counting, by="run")["items"]}


@pytest.mark.parametrize(("by", "keys"), [("step", list(range(5))), ("data_source", list("abcde"))])
def test_pages_follow_each_other(counting: Client, by: str, keys: list[Any]) -> None:
    """`next` leads through all values once; the total is that of all."""
    run = f"pages by {by}"
    send(counting, *(group("ab", run=run, **{by: key}) for key in keys))
    found, query = [], {"run": run, "by": by, "limit": 2}
    while True:
        page = metrics(counting, **query)
        assert page["total"]["groups"] == 5
        found += [item["key"] for item in page["items"]]
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert found == keys


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"by": "verifier"}, "/query/by"),
        ({"limit": 0}, "/query/limit"),
        ({"limit": 10_001}, "/query/limit"),
        ({"x": "1"}, "/query/x"),
        ({"run": "x" * 1025}, "/query/run"),
        ({"by": "step", "cursor": "?"}, "/query/cursor"),
        ({"by": "step", "cursor": "ImEi"}, "/query/cursor"),
        ({"by": "step", "cursor": "dHJ1ZQ"}, "/query/cursor"),
        ({"by": "step", "cursor": "OTk5OTk5OTk5OTk5OTk5OTk5OTk5OQ"}, "/query/cursor"),
        ({"by": "run", "cursor": "MQ"}, "/query/cursor"),
        ({"cursor": "MQ"}, "/query/cursor"),
    ],
)
def test_bad_queries(counting: Client, query: dict[str, Any], pointer: str) -> None:
    """Each is refused with its place; a cursor of another field is none."""
    reply = counting.get(METRICS, params=query)
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_query")
    assert [error["pointer"] for error in reply.json()["errors"]] == [pointer]


def test_long_and_odd_labels(counting: Client) -> None:
    """Labels of any characters and of the greatest length are kept apart and found again."""
    labels = ["é" * 1024, "é" * 1023 + "e", "'; DROP TABLE group_count; --", "\U0001f600", " "]
    for label in labels:
        send(counting, group("ab", run=label, data_source=label, split=label))
        assert metrics(counting, run=label, data_source=label, split=label)["total"]["groups"] == 1


@given(
    st.lists(
        st.tuples(st.text("abx", min_size=1, max_size=5), st.integers(0, 2), st.sampled_from(["p", "q"])),
        max_size=12,
    )
)
@settings(max_examples=15, suppress_health_check=list(HealthCheck))
def test_counts_are_what_the_library_says_of_the_same_groups(
    counting: Client, groups: list[tuple[str, int, str]]
) -> None:
    """For every step and data source: the library's audit of the groups, told by their replies."""
    run = f"library {next(_serial)}"
    send(
        counting, *(group(texts, 3, run=run, step=step, data_source=source) for texts, step, source in groups)
    )
    by: dict[tuple[str, Any], list[rollouts.SampledGroup]] = defaultdict(list)
    for texts, step, source in groups:
        scored = texts.replace("x", "")
        reason = None
        if len(scored) < 2:
            reason = "too_few_valid"
        elif len(set(scored)) == 1:
            reason = "all_correct" if scored[0] == "a" else "all_wrong"
        sampled = rollouts.SampledGroup(texts.count("a") / len(texts), 3 * len(texts), reason)  # type: ignore[arg-type]
        by["step", step].append(sampled)
        by["data_source", source].append(sampled)
    for field in ("step", "data_source"):
        items = metrics(counting, run=run, by=field)["items"]
        assert [item["key"] for item in items] == sorted(key for name, key in by if name == field)
        for item in items:
            audit = rollouts.dynamic_sampling_audit(by[field, item["key"]])
            assert item["groups"] == audit.groups
            assert item["rejected"] == NOTHING | dict(audit.rejected_by_reason)
            assert item["tokens_per_accepted_group"] == audit.tokens_per_accepted_group
            assert tuple(item["pass_rate_hist"]["all"]) == audit.pass_rates


def test_counts_survive_a_restart_and_add_up_over_workers(tmp_path: Path) -> None:
    """Two applications on one file, one after the other is gone too."""
    with serving(tmp_path, audit_durability="commit") as first:
        until_open(first)
        with serving(tmp_path, audit_durability="commit") as second:
            until_open(second)
            send(first, group("ab", run="r"))
            send(second, group("aa", run="r"))
        send(first, group("bb", run="r"))
    with serving(tmp_path) as third:
        until_open(third)
        total = metrics(third, run="r")["total"]
    assert (total["groups"], total["accepted"]) == (3, 1)


def test_without_commit_counts_follow_soon(tmp_path: Path) -> None:
    """By default a reply does not wait for the disk; closing writes what is left."""
    with serving(tmp_path) as client:
        send(client, *(group("ab", run="r") for _ in range(20)))
    with serving(tmp_path) as client:
        until_open(client)
        assert metrics(client)["total"]["groups"] == 20


def test_a_broken_log_is_told(tmp_path: Path) -> None:
    """503 with its own code while the database cannot be read; groups are judged all the same."""
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"no database" * 1000)
    with serving(tmp_path) as client:
        client.service.log._group_reader = GroupReader(f"sqlite:///{broken}")
        reply = client.get(METRICS)
        assert (reply.status_code, reply.json()["code"]) == (503, "log_unavailable")
        assert post(client, group("ab"), "/v1/groups").status_code == 200
