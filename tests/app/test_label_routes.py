"""Labels over HTTP."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from serving import Client, encode, post, serving, verify

LIST = "/v1/audit/verdicts"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the application below keeps its data."""
    return tmp_path_factory.mktemp("labelling")


@pytest.fixture(scope="module")
def labelling(folder: Path) -> Iterator[Client]:
    """An application that stores every verdict before it answers."""
    with serving(folder, audit_budget=100_000, audit_durability="commit") as client:
        yield client


def label(client: Client, verdict_id: str, **fields: Any) -> httpx.Response:
    """Post a label; by ada that the answer is right unless `fields` say otherwise."""
    return post(client, {"answer": "correct", "labeler": "ada"} | fields, f"{LIST}/{verdict_id}/labels")


def schema(client: Client, name: str) -> Draft202012Validator:
    """A model of the OpenAPI document."""
    document = client.get("/openapi.json").json()
    return Draft202012Validator({**document, "$ref": f"#/components/schemas/{name}"})


def test_a_label_is_told_with_its_verdict(labelling: Client) -> None:
    """Every field comes back, in the reply and with the verdict, which is found as labelled."""
    verdict_id = verify(labelling)["id"]
    sent = {"answer": "incorrect", "labeler": "ada", "cause": "unit", "note": "cm\u0000", "drawn": False}
    reply = label(labelling, verdict_id, **sent)
    assert reply.status_code == 201
    stored = reply.json()
    schema(labelling, "StoredLabel").validate(stored)
    known = {"verdict_id": verdict_id, "note": "cm\ufffd", "withdraws": None}
    assert {name: stored[name] for name in sent | known} == sent | known
    shown = labelling.get(f"{LIST}/{verdict_id}").json()
    schema(labelling, "StoredVerdict").validate(shown)
    assert shown["labels"] == [stored]
    assert shown["labelled"]
    found = labelling.get(LIST, params={"labelled": True}).json()["items"]
    assert verdict_id in [item["id"] for item in found]


def test_a_label_is_taken_back(labelling: Client) -> None:
    """DELETE appends a row, and does the same when it is repeated; both rows are told."""
    verdict_id = verify(labelling)["id"]
    first = label(labelling, verdict_id).json()
    undo = labelling.request("DELETE", f"/v1/audit/labels/{first['id']}")
    assert undo.status_code == 200
    assert undo.json()["withdraws"] == first["id"]
    assert labelling.request("DELETE", f"/v1/audit/labels/{first['id']}").json() == undo.json()
    shown = labelling.get(f"{LIST}/{verdict_id}").json()
    assert shown["labels"] == [first, undo.json()]
    assert not shown["labelled"]
    again = labelling.request("DELETE", f"/v1/audit/labels/{undo.json()['id']}")
    assert (again.status_code, again.json()["code"]) == (404, "unknown_label")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"answer": "right"}, "/answer"),
        ({"answer": None}, "/answer"),
        ({"labeler": ""}, "/labeler"),
        ({"labeler": None}, "/labeler"),
        ({"labeler": "a" * 1025}, "/labeler"),
        ({"note": "n" * 20_000}, "/note"),
        ({"drawn": "yes"}, "/drawn"),
        ({"verdict": "fp"}, "/verdict"),
    ],
)
def test_bad_labels(labelling: Client, fields: dict[str, Any], pointer: str) -> None:
    """What does not fit is refused with a pointer, and nothing is stored."""
    verdict_id = verify(labelling)["id"]
    reply = label(labelling, verdict_id, **fields)
    assert reply.status_code == 422
    assert [error["pointer"] for error in reply.json()["errors"]] == [pointer]
    assert labelling.get(f"{LIST}/{verdict_id}").json()["labels"] == []


def test_unknown_verdict(labelling: Client) -> None:
    """A verdict that is not stored cannot be labelled."""
    reply = label(labelling, "0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11")
    assert (reply.status_code, reply.json()["code"]) == (404, "unknown_verdict")


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize("keys", ["", "secret"])
def test_foreign_pages_change_nothing(tmp_path: Path, headers: dict[str, str], keys: str) -> None:
    """A page of somebody else's cannot label or withdraw, with the browser's key neither."""
    named = headers | {"content-type": "application/json"} | ({"x-api-key": keys} if keys else {})
    with serving(tmp_path, audit_budget=10, audit_durability="commit", api_keys=keys) as client:
        for method, path in (("POST", f"{LIST}/x/labels"), ("DELETE", "/v1/audit/labels/x")):
            body = encode({"answer": "correct", "labeler": "eve"})
            reply = client.request(method, path, content=body, headers=named)
            assert reply.status_code == 403
            assert reply.json()["code"] in ("foreign_change", "foreign_origin")


def test_own_pages_may_label(labelling: Client) -> None:
    """The service's own page, as a browser sends for it."""
    verdict_id = verify(labelling)["id"]
    own = {"origin": "http://localhost", "sec-fetch-site": "same-origin", "content-type": "application/json"}
    body = encode({"answer": "unsure", "labeler": "ada"})
    assert labelling.post(f"{LIST}/{verdict_id}/labels", content=body, headers=own).status_code == 201


def test_a_locked_database(labelling: Client, folder: Path) -> None:
    """The labeler is told to send it again; verdicts go on; nothing is stored twice or lost."""
    verdict_id = verify(labelling)["id"]
    holder = sqlite3.connect(folder / "goldcheck.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        reply = label(labelling, verdict_id)
    finally:
        holder.close()
    assert (reply.status_code, reply.json()["code"]) == (503, "label_not_stored")
    assert "locked" in reply.json()["detail"]
    assert label(labelling, verdict_id).status_code == 201
    assert len(labelling.get(f"{LIST}/{verdict_id}").json()["labels"]) == 1
