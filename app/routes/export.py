"""`/v1/audit/export`: the stored verdicts as a stream of lines."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from itertools import chain
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import StreamingResponse

from app.audit_contracts import ExportQuery, StoredVerdict
from app.errors import Problem
from app.openapi import documented
from app.replies import JSON, NDJSON
from app.service import Service
from audit.errors import LogUnavailableError
from audit.export import Exporter
from audit.types import VerdictFilter

router: Final = APIRouter(prefix="/v1/audit")


def _documented() -> dict[str, Any]:
    described = documented(StoredVerdict, lines=StoredVerdict, errors=["invalid_query", "log_unavailable"])
    del described["responses"][200]["content"][JSON]
    return described


@router.get("/export", **_documented())
async def export(request: Request, query: Annotated[ExportQuery, Query()]) -> StreamingResponse:
    """Stored verdicts, newest first, one a line; each as `/v1/audit/verdicts/{id}` gives it.

    A fault of the log in the middle ends the connection before the end of the stream.
    """
    service: Service = request.app.state.service
    exporter = Exporter(service.log_url)
    wanted = VerdictFilter(**query.model_dump(exclude={"rewards"}))
    if query.rewards and wanted.q is not None:
        raise Problem("invalid_query", "rewards are not searched for texts: leave out q")
    lines = _rewards(exporter, wanted) if query.rewards else _documents(exporter, wanted)
    try:
        first = await asyncio.to_thread(next, lines, b"")  # while an error can still be told
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    return StreamingResponse(chain([first], lines), media_type=NDJSON)


def _documents(exporter: Exporter, wanted: VerdictFilter) -> Iterator[bytes]:
    return (b"".join(document + b"\n" for document in page) for page in exporter.pages(wanted))


def _rewards(exporter: Exporter, wanted: VerdictFilter) -> Iterator[bytes]:
    return (json.dumps(group).encode() + b"\n" for group in exporter.rewards(wanted))
