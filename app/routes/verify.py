"""`/v1/verify`, one response by name or body, and `/v1/verify/batch`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from fastapi import APIRouter, Request, Response

from app.admission import Reservation
from app.body import parse_body, read_body
from app.contracts import BatchRequest, NamedVerifyRequest, VerifyRequest
from app.errors import Problem
from app.idempotency import digest
from app.intake import Job
from app.openapi import documented
from app.parsing import Document
from app.replies import Chunks, Delivery, Shape, batch_shape
from app.reply_contracts import BatchReply, IndexedReply, VerifyReply
from app.runs import Run
from app.scoring import is_pooled
from app.service import Service

router: Final = APIRouter()

Reader = Callable[[Document], Awaitable[list[Job]]]


@router.post("/v1/verify", **documented(VerifyReply, VerifyRequest, errors=["unknown_verifier"]))
async def verify(request: Request) -> Response:
    """Judge one response."""
    service: Service = request.app.state.service
    return await _answer(request, service, _single_reader(service, None), "single")


@router.post(
    "/v1/verify/batch",
    **documented(BatchReply, BatchRequest, lines=IndexedReply, errors=["unknown_verifier"]),
)
async def verify_batch(request: Request) -> Response:
    """Judge many responses. With `Accept: application/x-ndjson`: one line per item as it is ready."""
    service: Service = request.app.state.service
    return await _answer(request, service, service.intake.batch, batch_shape(request))


@router.post(
    "/v1/verify/{verifier}", **documented(VerifyReply, NamedVerifyRequest, errors=["unknown_verifier"])
)
async def verify_by(verifier: str, request: Request) -> Response:
    """Judge one response by the verifier in the path."""
    service: Service = request.app.state.service
    if service.registry.get(verifier) is None:
        raise Problem("unknown_verifier", f"there are: {', '.join(service.registry.names)}")
    return await _answer(request, service, _single_reader(service, verifier), "single")


def _single_reader(service: Service, verifier: str | None) -> Reader:
    async def read(document: Document) -> list[Job]:
        return [service.intake.single(document, verifier)]

    return read


async def _answer(request: Request, service: Service, read: Reader, shape: Shape) -> Response:
    """Take the request in; its reply scores it, and gives back in the end what it holds of the worker."""
    held = service.admission.reserve()
    try:
        body = await read_body(request, service.settings.max_body_bytes, held)
        key = request.headers.get("idempotency-key", "").encode()
        if key:
            name = digest(key), digest(request.url.path.encode(), body)
            run = await _find_or_begin(service, name, partial(_take_in, body, read, held), held)
            return Delivery(run.follow(), shape, droppable=False)
        jobs = await _take_in(body, read, held)
    except BaseException:
        held.release()
        raise
    droppable = any(is_pooled(job) for job in jobs)
    return Delivery(service.scorer.score(jobs), shape, droppable=droppable, when_done=held.release)


async def _take_in(body: bytearray, read: Reader, held: Reservation) -> list[Job]:
    jobs = await read(parse_body(body))
    held.take(items=len(jobs))
    return jobs


async def _find_or_begin(
    service: Service,
    name: tuple[bytes, bytes],
    take_in: Callable[[], Awaitable[list[Job]]],
    held: Reservation,
) -> Run:
    """The run that the same request began before, or its own, which then holds what the request held."""
    run = service.idempotency.find(*name)
    if run is None:
        jobs = await take_in()
        run = service.idempotency.find(*name)  # another may have begun it meanwhile
        if run is None:
            return service.idempotency.begin(*name, partial(_score, service, jobs), when_done=held.release)
    held.release()
    return run


def _score(service: Service, jobs: list[Job], counted: bool) -> Chunks:
    return service.scorer.score(jobs, counted=counted)
