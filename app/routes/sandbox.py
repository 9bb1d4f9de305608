"""`/v1/sandbox`: how programs are isolated on this host, and what they see."""

from __future__ import annotations

import dataclasses
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from app.json_reply import json_reply
from app.openapi import documented
from app.reply_contracts import SandboxReply
from app.routes.plain import PlainRoute
from app.service import Service
from sandbox.types import Limits, SandboxReport

router: Final = APIRouter(route_class=PlainRoute)

_MIB: Final = 1 << 20

_NO_SANDBOX: Final = SandboxReport(
    level="none",
    available=False,
    reason="no verifier of this service runs programs",
    guarantees={},
    languages={},
    packages={},
    environment={},
    default_limits=Limits(),
    maximum_limits=Limits(),
    slots=0,
)


@router.get("/v1/sandbox", **documented(SandboxReply))
async def sandbox(request: Request) -> Response:
    """Level in force, the guarantees behind it, languages, packages, limits."""
    service: Service = request.app.state.service
    report = _NO_SANDBOX if service.sandbox is None else service.sandbox.report()
    body = dataclasses.asdict(report)
    body["minimum_level"] = service.settings.min_isolation
    body["default_limits"] = _in_words_of_the_options(report.default_limits)
    body["maximum_limits"] = _in_words_of_the_options(report.maximum_limits)
    return json_reply(body)


def _in_words_of_the_options(limits: Limits) -> dict[str, Any]:
    return {
        "time_s": limits.cpu_time_s,
        "wall_time_s": limits.wall_limit_s,
        "memory_mb": limits.memory_bytes / _MIB,
        "output_mb": limits.output_bytes / _MIB,
        "processes": limits.processes,
        "total_time_s": limits.total_time_s,
    }
