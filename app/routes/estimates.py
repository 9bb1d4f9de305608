"""`/v1/audit/estimates`, `/label-needs` and `/drift`: how often verdicts are wrong."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from app.errors import Problem
from app.estimate_contracts import EstimateQuery, EstimatesReply
from app.estimate_replies import told
from app.json_reply import json_reply
from app.openapi import documented
from app.service import Service
from audit.errors import LogUnavailableError

router: Final = APIRouter(prefix="/v1/audit")


@router.get("/estimates", **documented(EstimatesReply, errors=["invalid_query", "log_unavailable"]))
async def estimates(request: Request, query: Annotated[EstimateQuery, Query()]) -> Response:
    """Error rates from the labels, with bounds; refused, with a reason, where there are too few."""
    service: Service = request.app.state.service

    def read() -> dict[str, Any]:
        groups = service.estimates.estimates(query.by, query.as_filter(), query.step_width, query.confidence)
        return {
            "by": query.by,
            "confidence": query.confidence,
            "items": [told(group, query.step_width, query.confidence) for group in groups],
            "agreement": asdict(service.review.agreement()),
        }

    try:
        return json_reply(await asyncio.to_thread(read))
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
