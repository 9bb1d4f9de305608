"""`/healthz`, `/readyz`, `/metrics`, `/v1/limits`, `/v1/sandbox`."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from app.json_reply import json_reply
from app.metrics import CONTENT_TYPE
from app.parsing import MAX_INTEGER_DIGITS
from app.service import Service

router: Final = APIRouter()


@router.get("/healthz")
async def healthz() -> Response:
    """The process answers."""
    return json_reply({"status": "ok"})


@router.get("/readyz")
async def readyz(request: Request) -> Response:
    """All that is on offer works (200), or why not (503); `degraded`: verdicts go on, something is broken."""
    service: Service = request.app.state.service
    faults, warnings = service.faults(), service.warnings()
    status = "not_ready" if faults else "degraded" if warnings else "ready"
    return json_reply({"status": status, "reasons": faults + warnings}, 503 if faults else 200)


@router.get("/metrics")
async def metrics(request: Request) -> Response:
    """Prometheus' text format; of all workers together."""
    service: Service = request.app.state.service
    return Response(await asyncio.to_thread(service.metrics.render), media_type=CONTENT_TYPE)


@router.get("/v1/limits")
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


@router.get("/v1/sandbox")
async def sandbox(request: Request) -> Response:
    """How programs are isolated on this host, and what they see."""
    service: Service = request.app.state.service
    report: dict[str, Any] = {} if service.sandbox is None else dataclasses.asdict(service.sandbox.report())
    return json_reply(report)
