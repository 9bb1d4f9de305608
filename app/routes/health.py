"""`/healthz`, `/readyz`, `/metrics`, `/v1/limits`."""

from __future__ import annotations

import asyncio
from typing import Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from app.json_reply import json_reply
from app.metrics import CONTENT_TYPE
from app.openapi import documented
from app.reply_contracts import HealthReply, LimitsReply, ReadyReply
from app.routes.plain import PlainRoute
from app.service import Service
from verifiers.literals import MAX_INTEGER_DIGITS

router: Final = APIRouter(route_class=PlainRoute)


@router.get("/healthz", **documented(HealthReply))
async def healthz(request: Request) -> Response:
    """The process answers."""
    return json_reply({"status": "ok"})


@router.get("/readyz", **documented(ReadyReply, statuses=(200, 503)))
async def readyz(request: Request) -> Response:
    """All that is on offer works (200), or why not (503); `degraded`: verdicts go on, something is broken."""
    service: Service = request.app.state.service
    faults, warnings = service.faults(), service.warnings()
    status = "not_ready" if faults else "degraded" if warnings else "ready"
    return json_reply({"status": status, "reasons": faults + warnings}, 503 if faults else 200)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Prometheus' text format; of all workers together."""
    service: Service = request.app.state.service
    return Response(await asyncio.to_thread(service.metrics.render), media_type=CONTENT_TYPE)


@router.get("/v1/limits", **documented(LimitsReply))
async def limits(request: Request) -> Response:
    """How large requests may be, and how much may wait."""
    settings = request.app.state.service.settings
    names = (
        "max_items",
        "max_body_bytes",
        "max_response_bytes",
        "max_ground_truth_bytes",
        "max_ground_truth_depth",
        "queue_items",
        "queue_bytes",
        "idempotency_window_s",
    )
    return json_reply(
        {**{name: getattr(settings, name) for name in names}, "max_integer_digits": MAX_INTEGER_DIGITS}
    )
