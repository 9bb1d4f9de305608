"""From the bytes of a request to the response that scores it: admission, repeats, delivery."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from fastapi import Request

from app.admission import Reservation
from app.body import parse_body, read_body
from app.idempotency import digest
from app.parsing import Document
from app.replies import Chunks, Delivery, Shape
from app.runs import Run
from app.service import Service


@dataclass(frozen=True, slots=True)
class Work:
    """What a request asks for."""

    items: int
    """Responses to be judged."""
    droppable: bool
    """Some of it need not be done when the caller leaves."""
    score: Callable[[bool], Chunks]
    """Do it; told whether it is to be counted."""


Reader = Callable[[Document], Awaitable[Work]]


async def answer(request: Request, service: Service, read: Reader, shape: Shape) -> Delivery:
    """Take the request in; its reply scores it, and gives back in the end what it holds of the worker."""
    held = service.admission.reserve()
    try:
        body = await read_body(request, service.settings.max_body_bytes, held)
        key = dict(request.scope["headers"]).get(b"idempotency-key")
        if key:
            name = digest(key), digest(request.url.path.encode(), body)
            run = await _find_or_begin(service, name, partial(_take_in, body, read, held), held)
            return Delivery(run.follow(), shape, droppable=False)
        work = await _take_in(body, read, held)
    except BaseException:
        held.release()
        raise
    return Delivery(work.score(True), shape, droppable=work.droppable, when_done=held.release)


async def _take_in(body: bytearray, read: Reader, held: Reservation) -> Work:
    work = await read(parse_body(body))
    held.take(items=work.items)
    return work


async def _find_or_begin(
    service: Service, name: tuple[bytes, bytes], take_in: Callable[[], Awaitable[Work]], held: Reservation
) -> Run:
    """The run that the same request began before, or its own, which then holds what the request held."""
    run = service.idempotency.find(*name)
    if run is None:
        work = await take_in()
        run = service.idempotency.find(*name)  # another may have begun it meanwhile
        if run is None:
            return service.idempotency.begin(*name, work.score, when_done=held.release)
    held.release()
    return run
