"""The OpenAPI document: made from the routes, the contracts and the table of error codes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from app import (
    audit_contracts,
    contracts,
    drift_contracts,
    estimate_contracts,
    group_contracts,
    label_contracts,
    reply_contracts,
    review_contracts,
    rollout_contracts,
)
from app.auth import OPEN_PATHS
from app.errors import CODES, MEDIA_TYPE
from app.replies import JSON, NDJSON

_REF: Final = "#/components/schemas/{model}"

_REQUESTS: Final = (
    contracts.VerifyRequest,
    contracts.NamedVerifyRequest,
    contracts.BatchRequest,
    group_contracts.GroupRequest,
    group_contracts.GroupBatchRequest,
    rollout_contracts.RolloutRequest,
    label_contracts.LabelRequest,
)
_REPLIES: Final = (
    reply_contracts.VerifyReply,
    reply_contracts.BatchReply,
    reply_contracts.IndexedReply,
    reply_contracts.ProblemReply,
    reply_contracts.VerifierList,
    reply_contracts.VerifierContract,
    reply_contracts.CaseList,
    reply_contracts.HealthReply,
    reply_contracts.ReadyReply,
    reply_contracts.LimitsReply,
    reply_contracts.SandboxReply,
    audit_contracts.VerdictPage,
    audit_contracts.StoredVerdict,
    label_contracts.StoredLabel,
    estimate_contracts.EstimatesReply,
    drift_contracts.DriftReply,
    drift_contracts.NeedsReply,
    review_contracts.QueueReply,
    review_contracts.SeriesReply,
    group_contracts.GroupReply,
    group_contracts.GroupBatchReply,
    group_contracts.IndexedGroupReply,
    group_contracts.GroupMetricsReply,
    rollout_contracts.ValidationReply,
)

_DESCRIPTION: Final = """
Rewards for language models that train on answers which can be checked. Three outcomes, never mixed:
*correct* or *incorrect* (`status: scored`), *could not be judged* (`status: unscorable`, `reward: null`),
and *bad call* (4xx).
""".strip()

_SECURITY_SCHEMES: Final = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "api_key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "basic": {"type": "http", "scheme": "basic", "description": "the password is the key, any user name"},
}

_BODY_CODES: Final = (
    *(code for code, (status, _) in CODES.items() if status in (400, 413, 415) and code != "malformed_npz"),
    "invalid_request",
    "idempotency_mismatch",
    "overloaded",
    "shutting_down",
)


def documented(  # noqa: PLR0913 - one argument for each thing to document
    reply: type,
    request: type | None = None,
    *,
    binary: str | None = None,
    lines: type | None = None,
    errors: Iterable[str] = (),
    statuses: Iterable[int] = (200,),
) -> dict[str, Any]:
    """Arguments for a route's decorator: models of what comes in and goes out, codes of its errors.

    binary: another media type that the route takes. lines: the model of one NDJSON line, where the route can
    stream. statuses: those that carry the reply.
    """
    content = {JSON: {"schema": _ref(reply)}}
    if lines is not None:
        content[NDJSON] = {"schema": _ref(lines)}
    codes = [*errors, *(_BODY_CODES if request is not None else ())]
    described: dict[str, Any] = {
        "response_model": None,
        "responses": {
            **{status: {"description": _first_line(reply), "content": content} for status in statuses},
            **_error_responses(codes),
        },
    }
    if request is not None:
        bodies: dict[str, Any] = {JSON: {"schema": _ref(request)}}
        if binary is not None:
            bodies[binary] = {"schema": {"type": "string", "format": "binary"}}
        described["openapi_extra"] = {"requestBody": {"required": True, "content": bodies}}
    return described


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document of `app`."""
    document = get_openapi(
        title=app.title, version=app.version, description=_DESCRIPTION, routes=app.routes, summary=app.summary
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas.update(_schemas())
    for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own errors never go out
        schemas.pop(name, None)
    document["components"]["securitySchemes"] = _SECURITY_SCHEMES
    no_scopes: list[str] = []
    anyone = [{}, *({name: no_scopes} for name in _SECURITY_SCHEMES)]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            _finish(operation, is_open=path in OPEN_PATHS)
            if path not in OPEN_PATHS:
                operation["security"] = anyone
    return document


def _finish(operation: dict[str, Any], *, is_open: bool) -> None:
    responses = operation["responses"]
    default = responses.get("422", {}).get("content", {}).get(JSON, {}).get("schema", {})
    if default.get("$ref", "").endswith("HTTPValidationError"):
        responses["422"] = _error_responses(["invalid_query"])[422]
    if not is_open:
        for status, response in _error_responses(
            ["unauthorized", "anonymous_refused", "foreign_origin"]
        ).items():
            responses[str(status)] = response
    operation["responses"] = dict(sorted(responses.items()))


def _error_responses(codes: Iterable[str]) -> dict[int | str, dict[str, Any]]:
    """One entry per status, naming its codes."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(CODES[code][0], []).append(code)
    content = {MEDIA_TYPE: {"schema": _ref(reply_contracts.ProblemReply)}}
    return {
        status: {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in found),
            "content": content,
        }
        for status, found in by_status.items()
    }


def _schemas() -> dict[str, Any]:
    adapters: list[tuple[str, Any, TypeAdapter[Any]]] = [
        (model.__name__, mode, TypeAdapter(model))
        for mode, models in (("validation", _REQUESTS), ("serialization", _REPLIES))
        for model in models
    ]
    _, definitions = TypeAdapter.json_schemas(adapters, ref_template=_REF)
    found: dict[str, Any] = definitions["$defs"]
    return found


def _ref(model: type) -> dict[str, str]:
    return {"$ref": _REF.format(model=model.__name__)}


def _first_line(model: type) -> str:
    return (model.__doc__ or "").strip().partition("\n")[0]
