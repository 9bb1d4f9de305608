"""`/v1/verify`, one response by name or body, and `/v1/verify/batch`."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request

from app.answering import Reader, Work, answer
from app.contracts import BatchRequest, NamedVerifyRequest, VerifyRequest
from app.errors import Problem
from app.intake import Job
from app.openapi import documented
from app.parsing import Document
from app.replies import Chunks, Delivery, batch_shape
from app.reply_contracts import BatchReply, IndexedReply, VerifyReply
from app.routes.plain import PlainRoute
from app.scoring import is_pooled
from app.service import Service

router: Final = APIRouter(route_class=PlainRoute)


@router.post("/v1/verify", **documented(VerifyReply, VerifyRequest, errors=["unknown_verifier"]))
async def verify(request: Request) -> Delivery:
    """Judge one response."""
    service: Service = request.app.state.service
    return await answer(request, service, _single_reader(service, None), "single")


@router.post(
    "/v1/verify/batch",
    **documented(BatchReply, BatchRequest, lines=IndexedReply, errors=["unknown_verifier"]),
)
async def verify_batch(request: Request) -> Delivery:
    """Judge many responses. With `Accept: application/x-ndjson`: one line per item as it is ready."""
    service: Service = request.app.state.service

    async def read(document: Document) -> Work:
        return _work(service, await service.intake.batch(document))

    return await answer(request, service, read, batch_shape(request))


@router.post(
    "/v1/verify/{verifier}", **documented(VerifyReply, NamedVerifyRequest, errors=["unknown_verifier"])
)
async def verify_by(verifier: str, request: Request) -> Delivery:
    """Judge one response by the verifier in the path."""
    service: Service = request.app.state.service
    if service.registry.get(verifier) is None:
        raise Problem("unknown_verifier", f"there are: {', '.join(service.registry.names)}")
    return await answer(request, service, _single_reader(service, verifier), "single")


def _single_reader(service: Service, verifier: str | None) -> Reader:
    async def read(document: Document) -> Work:
        return _work(service, [service.intake.single(document, verifier)])

    return read


def _work(service: Service, jobs: list[Job]) -> Work:
    def score(counted: bool) -> Chunks:
        return service.scorer.score(jobs, counted=counted)

    return Work(len(jobs), any(is_pooled(job) for job in jobs), score)
