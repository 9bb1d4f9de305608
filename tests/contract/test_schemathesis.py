"""Schemathesis over the OpenAPI document: what fits and what does not, against a running service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import CHECKS, load_all_checks

load_all_checks()

# Whether a verifier exists, or overlong has its num_tokens, no schema can say; keys are not set here.
NOT_APPLICABLE = {"positive_data_acceptance", "ignored_auth"}


@schemathesis.serializer("application/x-npz")
def as_bytes(_: Any, value: Any) -> bytes:
    """Bodies that are not JSON: whatever comes, as bytes."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")


DOCUMENT = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text(encoding="utf-8"))
schema = schemathesis.openapi.from_dict(DOCUMENT)


@schema.parametrize()
@settings(max_examples=6, suppress_health_check=list(HealthCheck))
def test_the_service_does_what_its_document_says(case: Any, service: str) -> None:
    """No operation answers outside its statuses, media types and models, and none fails."""
    checks = [check for check in CHECKS.get_all() if check.__name__ not in NOT_APPLICABLE]
    case.call_and_validate(base_url=service, checks=checks, timeout=30)
