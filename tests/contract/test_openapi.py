"""The OpenAPI document is committed, complete, and true of what goes in and out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from serving import Client, batch, post, verify
from test_verify import EXAMPLE

from app.errors import CODES
from app.main import create_app
from app.settings import Settings

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """The document as it is generated now."""
    return create_app(Settings()).openapi()


def schema_of(document: dict[str, Any], name: str) -> jsonschema.Draft202012Validator:
    """A validator for one of the document's models."""
    root = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    return jsonschema.Draft202012Validator(root)


def test_the_committed_document_is_the_generated_one(document: dict[str, Any]) -> None:
    """A change of the contract shows in review: `goldcheck openapi > docs/openapi.json`."""
    assert json.loads(COMMITTED.read_text(encoding="utf-8")) == document


def test_every_route_is_in_the_document(document: dict[str, Any]) -> None:
    """Except the page that shows it."""
    assert set(document["paths"]) >= {
        "/v1/verify",
        "/v1/verify/batch",
        "/v1/verify/{verifier}",
        "/v1/groups",
        "/v1/groups/batch",
        "/v1/groups/metrics",
        "/v1/rollouts/validate",
        "/v1/verifiers",
        "/v1/verifiers/{name}",
        "/v1/verifiers/{name}/cases",
        "/v1/sandbox",
        "/v1/limits",
        "/v1/audit/verdicts",
        "/v1/audit/verdicts/{id}",
        "/healthz",
        "/readyz",
        "/metrics",
    }


def test_every_reference_leads_somewhere(document: dict[str, Any]) -> None:
    """No model is named that is not described."""
    named = set(re.findall(r"#/components/schemas/(\w+)", json.dumps(document)))
    assert named <= set(document["components"]["schemas"])


def test_every_field_has_an_example(document: dict[str, Any]) -> None:
    """Readers see what goes where; references to other models have theirs there."""
    bare = [
        f"{name}.{field}"
        for name, model in document["components"]["schemas"].items()
        for field, schema in model.get("properties", {}).items()
        if "examples" not in schema and "const" not in schema and "$ref" not in json.dumps(schema)
    ]
    assert bare == []


def test_every_error_is_a_problem_with_its_codes(document: dict[str, Any]) -> None:
    """Each error response names its codes and has the one shape."""
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if status.startswith("2") or path == "/readyz":
                    continue
                assert list(response["content"]) == ["application/problem+json"], (path, status)
                codes = re.findall(r"`(\w+)`", response["description"])
                assert codes
                assert {CODES[code][0] for code in codes} == {int(status)}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"response": "b"},
        {"ground_truth": None},
        {"verifier": "pooled"},
        {"verifier": "numeric", "response": "\\boxed{1/3}", "ground_truth": 0.25},
        {"response": "\0"},
        {"stop": {"reason": "abort", "engine": "vllm"}},
        {"stop": {"reason": {"type": "length", "length": 9}, "engine": "sglang", "num_tokens": 9}},
        {"shaping": {"overlong": {"max_length": 9, "cache_length": 3}}, "stop": {"num_tokens": 8}},
    ],
)
def test_replies_fit_their_model(client: Client, document: dict[str, Any], fields: dict[str, Any]) -> None:
    """Scored and unscorable alike, alone, in batches and as lines."""
    schema_of(document, "VerifyReply").validate(verify(client, **fields))
    item = {"verifier": "exact", "response": "a", "ground_truth": "a"} | fields
    schema_of(document, "BatchReply").validate({"results": batch(client, [item] * 2)})
    reply = post(client, {"items": [item]}, "/v1/verify/batch", accept="application/x-ndjson")
    schema_of(document, "IndexedReply").validate(json.loads(reply.text.splitlines()[0]))


def test_the_contracts_example_fits_the_model_of_requests(document: dict[str, Any]) -> None:
    """What the contract shows is what the document allows."""
    schema_of(document, "VerifyRequest").validate(EXAMPLE)
    schema_of(document, "BatchRequest").validate({"items": [EXAMPLE], "ground_truths": {"k": 1}})


def test_groups_and_rollouts_fit_their_models(client: Client, document: dict[str, Any]) -> None:
    """Requests as the contract shows them, and the replies, valid and not."""
    members = [
        {"response": "\\boxed{42}", "stop": {"reason": "length", "num_tokens": 1024}, "rollout_id": "g1-0"},
        {"response": "x", "stop": {"reason": "abort"}},
    ]
    terms = {"method": "grpo", "baseline": "scored", "pass_at_k": [1, 4], "eps": 1e-8}
    group = {
        "ground_truth": "42",
        "prompt": "…",
        "responses": members,
        "group": terms,
        "shaping": {},
        "meta": {},
    }
    schema_of(document, "GroupRequest").validate(group | {"verifier": "numeric"})
    batch = {"groups": [group], "defaults": {"verifier": "numeric"}}
    schema_of(document, "GroupBatchRequest").validate(batch)
    alone = post(client, group | {"verifier": "numeric"}, "/v1/groups").json()
    schema_of(document, "GroupReply").validate(alone)
    whole = post(client, batch, "/v1/groups/batch").json()
    schema_of(document, "GroupBatchReply").validate(whole)
    lines = post(client, batch, "/v1/groups/batch", accept="application/x-ndjson").text.splitlines()
    schema_of(document, "IndexedGroupReply").validate(json.loads(lines[0]))
    examples = document["components"]["schemas"]["RolloutRequest"]["properties"]
    for body in ({kind: examples[kind]["examples"][0]} for kind in ("record", "batch")):
        schema_of(document, "RolloutRequest").validate(body)
        reply = post(client, body, "/v1/rollouts/validate").json()
        assert reply["valid"] is True
        schema_of(document, "ValidationReply").validate(reply)
    schema_of(document, "ValidationReply").validate(
        post(client, {"batch": {}}, "/v1/rollouts/validate").json()
    )


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v1/verifiers", "VerifierList"),
        ("/v1/verifiers/numeric", "VerifierContract"),
        ("/v1/verifiers/exact", "VerifierContract"),
        ("/v1/verifiers/numeric/cases", "CaseList"),
        ("/v1/sandbox", "SandboxReply"),
        ("/v1/limits", "LimitsReply"),
        ("/healthz", "HealthReply"),
        ("/readyz", "ReadyReply"),
        ("/v1/audit/verdicts", "VerdictPage"),
        ("/v1/groups/metrics?by=step", "GroupMetricsReply"),
    ],
)
def test_other_replies_fit_their_models(
    client: Client, document: dict[str, Any], path: str, model: str
) -> None:
    """Everything that answers with JSON."""
    reply = client.get(path)
    assert reply.status_code == 200
    schema_of(document, model).validate(reply.json())


def test_problems_fit_their_model(client: Client, document: dict[str, Any]) -> None:
    """With and without places."""
    for reply in (post(client, {}), client.get("/nothing"), client.post("/v1/verify", content=b"{")):
        schema_of(document, "ProblemReply").validate(reply.json())


def test_the_document_is_served(client: Client, document: dict[str, Any]) -> None:
    """At /openapi.json."""
    assert client.get("/openapi.json").json() == document
