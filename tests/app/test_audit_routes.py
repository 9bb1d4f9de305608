"""Stored verdicts over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter, ValidationError
from serving import Client, post, serving, verify

from app.audit_contracts import ExportQuery, RowId
from app.drift_contracts import DriftQuery
from app.estimate_contracts import EstimateQuery
from app.pages.query import PageQuery
from app.review_contracts import QueueQuery, SeriesQuery
from app.settings import Settings
from audit.sampling import unit_interval

LIST = "/v1/audit/verdicts"


@pytest.fixture(scope="module")
def auditing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application that stores every verdict before it answers."""
    folder = tmp_path_factory.mktemp("auditing")
    with serving(folder, audit_budget=100_000, audit_durability="commit") as client:
        yield client


def listed(client: Client, **query: Any) -> list[str]:
    """Ids of the verdicts that a query finds."""
    reply = client.get(LIST, params=query)
    assert reply.status_code == 200, reply.text
    return [item["id"] for item in reply.json()["items"]]


def test_a_verdict_comes_back_as_judged(auditing: Client) -> None:
    """Texts with any code points, numbers beyond floats: what was judged is shown, and the reply too."""
    body = (
        b'{"verifier": "numeric", "response": "\\u00e9\\ud83d\\ude00 \\\\boxed{1/3}\\r\\n",'
        b' "ground_truth": 0.33333333333333333333333333, "prompt": [{"role": "user", "content": "\\u4f60"}],'
        b' "options": {"rtol": 1e-30, "atol": 1e-25}, "meta": {"run": "as-judged", "tags": {"lang": "en"}}}'
    )
    reply = auditing.post("/v1/verify", content=body).json()
    shown = auditing.get(f"{LIST}/{reply['id']}")
    assert shown.status_code == 200
    assert b'"ground_truth":0.33333333333333333333333333,' in shown.content
    assert b'"options":{"rtol":1e-30,"atol":1e-25}' in shown.content
    stored = shown.json()
    assert stored["response"] == "é😀 \\boxed{1/3}\r\n"
    assert stored["prompt"] == [{"role": "user", "content": "你"}]
    assert stored["meta"] == {"run": "as-judged", "tags": {"lang": "en"}}
    assert stored["reply"] == reply
    assert listed(auditing, run="as-judged") == [reply["id"]]


def test_what_is_replaced_is_shown_replaced(auditing: Client) -> None:
    """Lone surrogates and NUL are shown as they were judged, as U+FFFD."""
    reply = verify(auditing, response="a\ud800\0", meta={"run": "replaced"})
    stored = auditing.get(f"{LIST}/{reply['id']}").json()
    assert stored["response"] == "a\ufffd\ufffd"
    assert stored["flags"] == ["replaced_characters"]
    assert listed(auditing, flag="replaced_characters", run="replaced") == [reply["id"]]


@pytest.mark.parametrize("budget", [0, 1, 2])
def test_each_stratum_keeps_its_smallest_draws(tmp_path_factory: pytest.TempPathFactory, budget: int) -> None:
    """However often a stratum comes, as many are stored as the budget says, and accepted canaries besides."""
    folder = tmp_path_factory.mktemp("budget")
    with serving(folder, audit_budget=budget, audit_durability="commit") as client:
        truths = ["a", "b", None] * 5
        items = [{"response": "a", "ground_truth": truth} for truth in truths]
        batch = {"items": items, "defaults": {"verifier": "exact"}}
        canaries = [verify(client, meta={"canary": True})["id"] for _ in range(3)]
        replies = post(client, batch, "/v1/verify/batch").json()["results"]
        strata: dict[str, list[str]] = {}
        for reply in replies:
            strata.setdefault(reply["audit"]["stratum"], []).append(reply["id"])
        smallest = {key for ids in strata.values() for key in sorted(ids, key=unit_interval)[:budget]}
        assert set(listed(client)) == smallest | set(canaries)
        assert {reply["id"] for reply in replies if reply["audit"]["selected"]} >= smallest
        shown = client.get(LIST, params={"status": "scored", "stratum": "accept/plain"}).json()["items"]
        assert [item["inclusion_probability"] for item in shown] == [budget / 5] * budget


def test_canaries_are_told_apart_in_the_log_alone(auditing: Client) -> None:
    """The reply to a canary names the stratum of any verdict like it; the log counts it elsewhere."""
    reply = verify(auditing, meta={"canary": True, "run": "canaries"})
    assert reply["audit"]["stratum"] == "accept/plain"
    assert listed(auditing, run="canaries", stratum="canary/accept") == [reply["id"]]
    assert listed(auditing, run="canaries", stratum="accept/plain") == []


def test_pages_follow_each_other(auditing: Client) -> None:
    """`next` leads through all verdicts of a run, newest first, and ends."""
    sent = [verify(auditing, meta={"run": "pages", "step": step})["id"] for step in range(7)]
    found: list[str] = []
    query: dict[str, Any] = {"run": "pages", "limit": 3}
    sizes = []
    while True:
        page = auditing.get(LIST, params=query).json()
        sizes.append(len(page["items"]))
        found.extend(item["id"] for item in page["items"])
        if page["next"] is None:
            break
        query["cursor"] = page["next"]
    assert found == sent[::-1]
    assert sizes == [3, 3, 1]
    assert listed(auditing, run="pages", step_min=2, step_max=3) == [sent[3], sent[2]]


def test_text_search(auditing: Client) -> None:
    """`q` finds text in the response, the prompt and the ground truth."""
    ids = [
        verify(auditing, **{field: "x Needle y"}, meta={"run": "q"})["id"]
        for field in ("response", "prompt", "ground_truth")
    ]
    verify(auditing, meta={"run": "q"})
    assert listed(auditing, q="nEEdle", run="q") == ids[::-1]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"cursor": "x"}, "/query/cursor"),
        ({"limit": 0}, "/query/limit"),
        ({"limit": 1001}, "/query/limit"),
        ({"correct": "perhaps"}, "/query/correct"),
        ({"step_min": "x"}, "/query/step_min"),
        ({"step_max": 2**63}, "/query/step_max"),
        ({"run": "x" * 1025}, "/query/run"),
        ({"verdict": "x"}, "/query/verdict"),
    ],
)
def test_bad_queries(auditing: Client, query: dict[str, Any], pointer: str) -> None:
    """A query that does not fit the contract is refused, with the parameter's name."""
    reply = auditing.get(LIST, params=query)
    assert reply.status_code == 422
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["code"] == "invalid_query"
    assert reply.json()["errors"][0]["pointer"] == pointer


def test_unknown_verdict(auditing: Client) -> None:
    """An id that is not stored is a 404 of its own."""
    for verdict_id in ("x", "0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11", "%00", "%F0%9F%98%80"):
        reply = auditing.get(f"{LIST}/{verdict_id}")
        assert reply.status_code == 404
        assert reply.json()["code"] == "unknown_verdict"


@pytest.mark.parametrize(
    "model", [ExportQuery, DriftQuery, EstimateQuery, PageQuery, QueueQuery, SeriesQuery]
)
def test_questions_hold_no_nul(model: type[BaseModel]) -> None:
    """Texts are asked for as they would be stored: PostgreSQL refuses NUL even in a question."""
    asked = 0
    for name in model.model_fields:
        try:
            value = getattr(model.model_validate({"verifier": "v"} | {name: "a\0"}), name)
        except ValidationError:
            continue
        assert value == "a\ufffd", name
        asked += 1
    assert asked > 1
    assert TypeAdapter(RowId).validate_python("\0") == "\ufffd"


def test_replies_fit_the_document(auditing: Client) -> None:
    """What goes out has the shape that the OpenAPI document promises."""
    verdict_id = verify(auditing, meta={"run": "shape"})["id"]
    document = auditing.get("/openapi.json").json()
    for path, model in ((LIST, "VerdictPage"), (f"{LIST}/{verdict_id}", "StoredVerdict")):
        schema = {"$ref": f"#/components/schemas/{model}", "components": document["components"]}
        Draft202012Validator(schema).validate(auditing.get(path).json())


def test_database_in_trouble(tmp_path_factory: pytest.TempPathFactory) -> None:
    """With a broken database verdicts go on, /readyz says degraded, a counter rises, reading is a 503."""
    folder = tmp_path_factory.mktemp("garbage")
    (folder / "goldcheck.db").write_bytes(b"garbage " * 1000)
    with serving(folder, audit_durability="commit") as client:
        assert verify(client)["reward"] == 1.0
        ready = client.get("/readyz")
        assert ready.json()["status"] == "degraded"
        assert "file is not a database" in json.dumps(ready.json()["reasons"])
        assert 'goldcheck_audit_write_failures_total{kind="corrupt"}' in client.get("/metrics").text
        for path in (LIST, f"{LIST}/x"):
            reply = client.get(path)
            assert reply.status_code == 503
            assert reply.json()["code"] == "log_unavailable"
        (folder / "goldcheck.db").unlink()
        while client.get("/readyz").json()["status"] == "degraded":
            pass
        assert verify(client)["reward"] == 1.0
        assert client.get(LIST).status_code == 200


def test_settings_reach_the_log(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The database's place and the capacity of the queue are those of the settings."""
    folder = tmp_path_factory.mktemp("settings")
    elsewhere = folder / "elsewhere.db"
    changed = {"database_url": f"sqlite:///{elsewhere}", "audit_queue_records": 7}
    with serving(folder, audit_budget=100_000, audit_durability="commit", **changed) as client:
        verify(client)
        assert "goldcheck_audit_queue_capacity 7.0" in client.get("/metrics").text
    assert elsewhere.exists()
    assert not (folder / "goldcheck.db").exists()
    assert Settings.model_fields["audit_budget"].default == 200
    assert Settings.model_fields["audit_durability"].default == "enqueue"


def test_flags_come_with_their_evidence(auditing: Client) -> None:
    """A stored verdict says where each of its flags points."""
    reply = verify(auditing, verifier="numeric", response="\\boxed{4} or \\boxed{5}", ground_truth="5")
    shown = auditing.get(f"{LIST}/{reply['id']}").json()
    assert shown["flag_evidence"] == [
        {"flag": "hedged_answer", "late": False, "evidence": [[10, 12]]},
        {"flag": "several_boxes", "late": False, "evidence": [[7, 8], [20, 21]]},
    ]


def test_long_labels_are_found_again(auditing: Client) -> None:
    """Labels too long for an index are counted, stored and found by their whole text, told from others."""
    long = "ü" * 1024
    reply = verify(auditing, meta={"data_source": long, "run": long})
    assert listed(auditing, data_source=long, run=long) == [reply["id"]]
    assert listed(auditing, data_source=long[:-1] + "u") == []
    [shown] = auditing.get(LIST, params={"run": long}).json()["items"]
    assert shown["inclusion_probability"] == 1.0
