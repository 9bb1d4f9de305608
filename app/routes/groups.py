"""`/v1/groups` and `/v1/groups/batch`: responses to one prompt, compared; `/v1/groups/metrics`: counts."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response

from app.answering import Work, answer
from app.errors import Fault, Problem
from app.group_contracts import (
    GroupBatchReply,
    GroupBatchRequest,
    GroupMetricsQuery,
    GroupMetricsReply,
    GroupReply,
    GroupRequest,
    IndexedGroupReply,
)
from app.groups import Group
from app.json_reply import json_reply
from app.openapi import documented
from app.parsing import Document
from app.replies import Chunks, Delivery, batch_shape
from app.routes.plain import PlainRoute
from app.scoring import is_pooled
from app.service import Service
from audit.errors import BadCursorError, LogUnavailableError
from audit.groups import GroupFilter

router: Final = APIRouter()
_plain: Final = APIRouter(route_class=PlainRoute)


@_plain.post("/v1/groups", **documented(GroupReply, GroupRequest, errors=["unknown_verifier"]))
async def group(request: Request) -> Delivery:
    """Judge the responses to one prompt, and compare them."""
    service: Service = request.app.state.service

    async def read(document: Document) -> Work:
        return _work(service, await service.group_intake.single(document))

    return await answer(request, service, read, "single")


@_plain.post(
    "/v1/groups/batch",
    **documented(GroupBatchReply, GroupBatchRequest, lines=IndexedGroupReply, errors=["unknown_verifier"]),
)
async def group_batch(request: Request) -> Delivery:
    """Judge many groups. With `Accept: application/x-ndjson`: one line per group as it is ready."""
    service: Service = request.app.state.service

    async def read(document: Document) -> Work:
        return _work(service, await service.group_intake.batch(document))

    shape = batch_shape(request)
    return await answer(request, service, read, "groups" if shape == "batch" else shape)


@router.get(
    "/v1/groups/metrics", **documented(GroupMetricsReply, errors=["invalid_query", "log_unavailable"])
)
async def group_metrics(request: Request, query: Annotated[GroupMetricsQuery, Query()]) -> Response:
    """What became of the groups: how many taught nothing and why, tokens, pass rates before rejection."""
    service: Service = request.app.state.service
    wanted = GroupFilter(query.run or None, query.data_source or None, query.split or None)
    try:
        found = await asyncio.to_thread(
            service.log.group_metrics, wanted, query.by, query.cursor, query.limit
        )
    except BadCursorError as error:
        raise Problem("invalid_query", str(error), [Fault("/query/cursor", str(error))]) from None
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    return json_reply(found)


def _work(service: Service, groups: list[Group]) -> Work:
    def score(counted: bool) -> Chunks:
        return service.group_scorer.score(groups, counted=counted)

    jobs = [job for group in groups for job in group.jobs]
    return Work(len(jobs), any(is_pooled(job) for job in jobs), score)


router.routes.extend(_plain.routes)
