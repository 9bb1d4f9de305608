"""Error rates over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from serving import Client, batch, post, serving

PATH = "/v1/audit/estimates"


@pytest.fixture(scope="module")
def labelled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application with 60 accepts, 40 rejects and 5 unscorable verdicts; 50 labels, 7 of them errors."""
    folder = tmp_path_factory.mktemp("estimates")
    with serving(folder, audit_budget=100_000, audit_durability="commit") as client:
        meta = {"data_source": "gsm8k", "run": "r1", "step": 150}
        items = [
            {"ground_truth": "a", "response": "a", "meta": meta | {"group_id": str(n)}} for n in range(60)
        ]
        items += [{"ground_truth": "a", "response": "b", "meta": {"group_id": f"r{n}"}} for n in range(40)]
        items += [{"ground_truth": None, "response": "b"}] * 5
        replies = batch(client, items, defaults={"verifier": "exact"})
        for n, answer in [(n, "incorrect" if n < 6 else "correct") for n in range(30)] + [
            (60 + n, "correct" if n == 0 else "incorrect") for n in range(20)
        ]:
            path = f"/v1/audit/verdicts/{replies[n]['id']}/labels"
            assert post(client, {"answer": answer, "labeler": "ada"}, path).status_code == 201
        yield client


def told(client: Client, path: str = PATH, **query: Any) -> dict[str, Any]:
    """The reply to a query."""
    reply = client.get(path, params=query)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


def validate(client: Client, name: str, body: dict[str, Any]) -> None:
    """Hold a body against its model in the OpenAPI document."""
    document = client.get("/openapi.json").json()
    Draft202012Validator({**document, "$ref": f"#/components/schemas/{name}"}).validate(body)


@pytest.mark.parametrize("by", ["none", "verifier", "version", "data_source", "stratum", "window", "step"])
def test_every_grouping_fits_its_model(labelled: Client, by: str) -> None:
    """Whatever groups are asked for, the reply is as documented and loses no verdict."""
    body = told(labelled, by=by)
    validate(labelled, "EstimatesReply", body)
    assert body["by"] == by
    assert sum(item["scored"] for item in body["items"]) == pytest.approx(100)


def test_rates_are_told(labelled: Client) -> None:
    """Counts, rates, their bounds, and what they are made of."""
    [item] = told(labelled)["items"]
    assert (item["verifier"], item["version"], item["sizes"]) == ("exact", None, "exact")
    assert item["unscorable"] == {"invalid_ground_truth": 5}
    assert item["null_rate"] == pytest.approx(5 / 105)
    fdr = item["rates"]["fdr"]
    assert fdr["estimate"] == pytest.approx(0.2)
    assert fdr["lower"] < 0.2 < fdr["upper"]
    assert item["rates"]["for"]["estimate"] == pytest.approx(0.05)
    assert item["rates"]["fpr"]["estimate"] == pytest.approx(12 / 50)
    assert item["rates"]["accepted"] == {"estimate": 0.6, "lower": 0.6, "upper": 0.6, "reason": None}
    assert (item["accepts"]["labels"], item["accepts"]["errors"], item["accepts"]["covers"]) == (30, 6, 1.0)
    strata = {part["stratum"]: part for part in item["strata"]}
    assert strata["accept/plain"]["verdicts"] == 60
    assert strata["accept/plain"]["upper_one_sided"] is None


def test_too_little_is_refused(labelled: Client) -> None:
    """One side without labels: its rates are null, with a reason; bounds are there."""
    [item] = told(labelled, stratum="accept/plain", by="none")["items"]
    assert item["rates"]["fpr"] == {"estimate": None, "lower": 0.0, "upper": 1.0, "reason": "one_side_only"}
    assert item["rates"]["fdr"]["reason"] is None
    assert told(labelled, verifier="no such")["items"] == []


def test_parts_of_windows(labelled: Client) -> None:
    """Steps are grouped by hundreds unless asked otherwise, and sizes are said to be estimated."""
    items = told(labelled, by="step", run="r1")["items"]
    assert [(item["step_min"], item["step_max"], item["sizes"]) for item in items] == [
        (100, 199, "estimated")
    ]


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"by": "colour"}, "/query/by"),
        ({"since": "yesterday"}, "/query/since"),
        ({"since": "2026-01-01T00:00:00"}, "/query/since"),
        ({"since": "1767225600"}, "/query/since"),
        ({"until": "0.5"}, "/query/until"),
        ({"confidence": 1.0}, "/query/confidence"),
        ({"step_width": 0}, "/query/step_width"),
        ({"colour": "red"}, "/query/colour"),
    ],
)
def test_bad_queries(labelled: Client, query: dict[str, Any], pointer: str) -> None:
    """What does not fit is named."""
    reply = labelled.get(PATH, params=query)
    assert reply.status_code == 422
    assert [error["pointer"] for error in reply.json()["errors"]] == [pointer]


@pytest.mark.parametrize("by", ["window", "version"])
def test_drift(labelled: Client, by: str) -> None:
    """One window and one version: nothing to compare with, and that is no error."""
    body = told(labelled, "/v1/audit/drift", verifier="exact", by=by)
    validate(labelled, "DriftReply", body)
    assert body["items"] == []
    assert labelled.get("/v1/audit/drift").json()["errors"][0]["pointer"] == "/query/verifier"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"rate": 0.01, "half_width": 0.005}, {"for_half_width": 1606}),
        ({"rate": 0.05, "half_width": 0.02, "per_group": 8}, {"for_half_width": 1783, "design_effect": 3.8}),
        ({"errors": 1, "rate": 0.01}, {"to_find": 299}),
        ({"errors": 3, "rate": 0.02, "share": 0.2, "probability": 0.9}, {"to_find": 1329}),
        ({"rate": 1e-9, "share": 1e-6}, {"to_find": None}),
    ],
)
def test_label_needs(labelled: Client, query: dict[str, float], expected: dict[str, float | None]) -> None:
    """Numbers of labels for a width and for finding errors."""
    body = told(labelled, "/v1/audit/label-needs", **query)
    validate(labelled, "NeedsReply", body)
    assert body | expected == pytest.approx(body)
