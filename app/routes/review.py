"""`/v1/audit/queue`: what to label next; `/v1/audit/series`: counts over windows and steps."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from app.errors import Problem
from app.json_reply import json_reply
from app.openapi import documented
from app.review_contracts import QueueQuery, QueueReply, SeriesQuery, SeriesReply
from app.review_queue import read_queue
from app.service import Service
from audit.errors import LogUnavailableError
from audit.review import QueueItem
from audit.series import SeriesFilter
from audit.types import VerdictFilter

router: Final = APIRouter(prefix="/v1/audit")


@router.get("/queue", **documented(QueueReply, errors=["invalid_query", "log_unavailable"]))
async def queue(request: Request, query: Annotated[QueueQuery, Query()]) -> Response:
    """Samples to label, the one whose label narrows an interval most first; half of them unflagged."""
    service: Service = request.app.state.service
    wanted = VerdictFilter(**query.model_dump(exclude={"cursor", "limit", "for_labeler"}))
    try:
        found = await asyncio.to_thread(read_queue, service, wanted, query.for_labeler, query.limit)
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    items = [_told(item) for item in found.items]
    return json_reply({"items": items, "waiting": found.waiting, "labelled": found.labelled})


@router.get("/series", **documented(SeriesReply, errors=["invalid_query", "log_unavailable"]))
async def series(request: Request, query: Annotated[SeriesQuery, Query()]) -> Response:
    """What was judged, flagged and contradicted, over windows (exact) or steps (estimated)."""
    service: Service = request.app.state.service
    wanted = SeriesFilter(query.verifier, query.version, query.data_source, query.run)
    try:
        points = await asyncio.to_thread(service.series.points, query.by, wanted, query.step_width)
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    return json_reply({"by": query.by, "items": [asdict(point) for point in points]})


def _told(item: QueueItem) -> dict[str, object]:
    return {
        "id": item.id,
        "verifier": item.stratum.verifier,
        "version": item.stratum.version,
        "data_source": item.stratum.data_source or None,
        "stratum": item.stratum.name,
        "second_look": item.second_look,
        "run": item.run,
        "step": item.step,
    }
