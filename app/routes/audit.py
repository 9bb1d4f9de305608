"""`/v1/audit/verdicts`: the stored verdicts, by page and whole."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from app.audit_contracts import RowId, StoredVerdict, VerdictPage, VerdictQuery
from app.errors import Fault, Problem
from app.json_reply import json_reply
from app.openapi import documented
from app.service import Service
from audit.errors import BadCursorError, LogUnavailableError
from audit.types import VerdictFilter

router: Final = APIRouter(prefix="/v1/audit")


@router.get("/verdicts", **documented(VerdictPage, errors=["invalid_query", "log_unavailable"]))
async def list_verdicts(request: Request, query: Annotated[VerdictQuery, Query()]) -> Response:
    """Stored verdicts, newest first: a sample of each stratum, what is labelled, and accepted canaries."""
    service: Service = request.app.state.service
    wanted = VerdictFilter(**query.model_dump(exclude={"cursor", "limit"}))
    try:
        page = await asyncio.to_thread(service.log.search, wanted, query.cursor, query.limit)
    except BadCursorError as error:
        raise Problem("invalid_query", str(error), [Fault("/query/cursor", str(error))]) from None
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    return json_reply({"items": page.items, "next": page.next})


@router.get("/verdicts/{id}", **documented(StoredVerdict, errors=["unknown_verdict", "log_unavailable"]))
async def get_verdict(request: Request, id: RowId) -> Response:  # noqa: A002 - the contract's name
    """One stored verdict with prompt, ground truth, response and reply, exactly as judged."""
    service: Service = request.app.state.service
    try:
        found = await asyncio.to_thread(service.log.get, id)
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    if found is None:
        raise Problem(
            "unknown_verdict", "only a sample of the verdicts is stored; see GOLDCHECK_AUDIT_BUDGET"
        )
    return Response(found, media_type="application/json")
