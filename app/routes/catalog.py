"""`/v1/verifiers`: what each verifier promises, in words and as a table of cases."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from app.errors import Problem
from app.flags import flags_of
from app.json_reply import json_reply
from app.openapi import documented
from app.reply_contracts import CaseList, VerifierContract, VerifierList
from app.routes.plain import PlainRoute
from app.service import Service
from verifiers.base import Verifier

router: Final = APIRouter(route_class=PlainRoute)


@router.get("/v1/verifiers", **documented(VerifierList))
async def verifiers(request: Request) -> Response:
    """All verifiers, in short."""
    service: Service = request.app.state.service
    return json_reply({"verifiers": [_summary(service, verifier) for verifier in service.registry]})


@router.get("/v1/verifiers/{name}", **documented(VerifierContract, errors=["unknown_verifier"]))
async def verifier_by_name(name: str, request: Request) -> Response:
    """One verifier's whole contract."""
    service: Service = request.app.state.service
    verifier = _find(service, name)
    return json_reply(
        {
            **_summary(service, verifier),
            "ground_truth_schema": verifier.ground_truth_schema,
            "options_schema": verifier.Options.model_json_schema(),
            "reasons": verifier.reasons,
            "flags": flags_of(verifier),
            "contract": verifier.contract,
            "environment_values": verifier.environment(),
        }
    )


@router.get("/v1/verifiers/{name}/cases", **documented(CaseList, errors=["unknown_verifier"]))
async def cases(name: str, request: Request) -> Response:
    """The contract as a table of requests and what must come back."""
    verifier = _find(request.app.state.service, name)
    return Response(cases_of(verifier), media_type="application/json")


def cases_of(verifier: Verifier) -> bytes:
    """The cases that stand beside a verifier's code, as JSON; none where there is no such file."""
    package = type(verifier).__module__.rpartition(".")[0]
    try:
        return files(package).joinpath("cases.json").read_bytes()
    except (FileNotFoundError, ValueError):
        return b'{"cases": []}'


def _find(service: Service, name: str) -> Verifier:
    verifier = service.registry.get(name)
    if verifier is None:
        raise Problem("unknown_verifier", f"there are: {', '.join(service.registry.names)}")
    return verifier


def _summary(service: Service, verifier: Verifier) -> dict[str, Any]:
    return {**service.scorer.identity(verifier.name), "reward_range": verifier.reward_range}
