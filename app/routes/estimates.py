"""`/v1/audit/estimates`, `/label-needs` and `/drift`: how often verdicts are wrong."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response

from app.drift_contracts import DriftQuery, DriftReply, NeedsQuery, NeedsReply
from app.errors import Problem
from app.estimate_contracts import EstimateQuery, EstimatesReply
from app.estimate_replies import told, told_look
from app.json_reply import json_reply
from app.openapi import documented
from app.service import Service
from audit import label_needs, timestamps
from audit.drift import ALPHA, looks, spans_of_time, spans_of_versions
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
            "incomplete_windows": [
                {"window_start": timestamps.from_s(start), "lacks": lacks}
                for start, lacks in service.estimates.incomplete(query.as_filter()).items()
            ],
            "agreement": asdict(service.review.agreement()),
        }

    return json_reply(await _in_thread(read))


@router.get("/drift", **documented(DriftReply, errors=["invalid_query", "log_unavailable"]))
async def drift(request: Request, query: Annotated[DriftQuery, Query()]) -> Response:
    """Error and null rates beside what they were before, with a bounded chance of any false alarm."""
    service: Service = request.app.state.service

    def read() -> dict[str, Any]:
        wanted, by_time = query.as_filter(), query.by == "window"
        spans = (
            spans_of_time(service.estimates, wanted, query.span_hours * 3600)
            if by_time
            else spans_of_versions(service.estimates, wanted)
        )
        found = looks(spans, pooled=by_time, tolerance=query.tolerance)
        return {"by": query.by, "alpha": ALPHA, "items": [told_look(look) for look in found]}

    return json_reply(await _in_thread(read))


@router.get("/label-needs", **documented(NeedsReply, errors=["invalid_query"]))
async def needs(query: Annotated[NeedsQuery, Query()]) -> Response:
    """How many labels it takes to know a rate so well, and to find so many errors."""
    effect = label_needs.design_effect(query.per_group, query.correlation)
    found = {
        "for_half_width": label_needs.for_half_width(query.rate, query.half_width, query.confidence),
        "to_find": label_needs.to_find(query.errors, query.rate, query.share, query.probability),
    }
    labels = {name: None if n is None else math.ceil(n * effect) for name, n in found.items()}
    return json_reply({**labels, "design_effect": effect})


async def _in_thread(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        return await asyncio.to_thread(read)
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
