"""`/audit`: the review queue, one verdict at a time; `/audit/r/{id}`: a verdict's permanent address."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from app.errors import Problem
from app.label_contracts import read_label
from app.pages.dashboard import dashboard_values
from app.pages.forms import labeler_in, labeler_of, read_form, remember_labeler
from app.pages.query import read_query
from app.pages.rendering import render
from app.pages.review import Review, review_values, sample_values
from app.routes.plain import PlainRoute
from app.service import Service
from audit.errors import LabelNotStoredError, LogUnavailableError, UnknownLabelError, UnknownVerdictError
from audit.labels import ANSWERS

GROUPINGS: Final = ("version", "data_source", "verifier", "none")
"""What the dashboard's table of rates may be by; the first unless another is asked for."""

router: Final = APIRouter(route_class=PlainRoute, include_in_schema=False)


@router.get("/audit")
async def review_page(request: Request) -> Response:
    """The queue, or what filters find, and the first sample of it or that which `at` names."""
    review = _review(request)
    if _wants_sample(request) and review.query.at:
        return render(request, "sample.html", **await _in_thread(sample_values, review, review.query.at))
    return render(request, "review.html", **await _in_thread(review_values, review))


@router.get("/audit/dashboard")
async def dashboard(request: Request) -> Response:
    """Error rates, what changed, what is suspicious, what is to be labelled."""
    service: Service = request.app.state.service
    query, complaints = read_query(request.query_params.items())
    by = request.query_params.get("by", "")
    values = await _in_thread(dashboard_values, service, query, by if by in GROUPINGS else GROUPINGS[0])
    return render(request, "dashboard.html", message="; ".join(complaints), groupings=GROUPINGS, **values)


@router.get("/audit/r/{id}")
async def verdict_page(request: Request, id: str) -> Response:  # noqa: A002 - the contract's name
    """One verdict."""
    review = _review(request, permanent=True)
    values = await _in_thread(sample_values, review, id)
    if values["sample"] is None:
        return render(request, "missing.html", 404, page="review", id=id, labeler=review.labeler)
    return render(request, "verdict_page.html", **values)


@router.post("/audit/r/{id}/label")
async def label(request: Request, id: str) -> Response:  # noqa: A002
    """Store a label; the sample that comes next, or the same one now that its verdict may be seen."""
    fields = await read_form(request)
    review = _review(request, permanent="stay" in fields)
    name = labeler_in(fields) or review.labeler
    if not name or fields.get("answer") not in ANSWERS:
        raise Problem("invalid_request", "a label needs a labeler's name and an answer")
    sent = {part: fields[part] for part in ("answer", "cause", "note") if fields.get(part)}
    new = read_label({**sent, "labeler": name, "drawn": fields.get("drawn") == "1"})
    await _in_thread(review.service.labels.add, id, new)
    review.service.metrics.count_label(new.answer)
    review = review.of(name)
    at = id if review.permanent else fields.get("next", "")
    response = await _step(request, review, at, labelled=(id, new.answer))
    remember_labeler(response, name)
    return response


@router.post("/audit/labels/{id}/withdraw")
async def withdraw(request: Request, id: str) -> Response:  # noqa: A002
    """Take a label back; its sample, to be judged anew."""
    fields = await read_form(request)
    review = _review(request, permanent="stay" in fields)
    taken_back = await _in_thread(review.service.labels.withdraw, id)
    return await _step(request, review, taken_back.verdict_id, labelled=(taken_back.verdict_id, ""))


@router.post("/audit/labeler")
async def name_labeler(request: Request) -> Response:
    """Remember under which name this browser labels, and go back."""
    fields = await read_form(request)
    name = labeler_in(fields)
    if not name:
        raise Problem("invalid_request", "a name is needed")
    back = urlsplit(fields.get("back", ""))
    path = back.path if back.path.startswith("/audit") and not back.netloc else "/audit"
    address = request.scope.get("root_path", "") + path + (f"?{back.query}" if back.query else "")
    response = RedirectResponse(address, 303)
    remember_labeler(response, name)
    return response


async def _step(request: Request, review: Review, at: str, labelled: tuple[str, str]) -> Response:
    """What is shown after a change: a part of the page for its script, the way to a page without it."""
    if not _wants_sample(request):
        return RedirectResponse(review.address_of(at), 303)
    if not at:  # the list is at its end: a new one is drawn
        return Response(headers={"HX-Redirect": review.address_of("")})
    values = await _in_thread(sample_values, review, at)
    response = render(request, "sample.html", **values)
    response.headers["X-Labelled"] = " ".join(labelled)
    return response


def _review(request: Request, *, permanent: bool = False) -> Review:
    service: Service = request.app.state.service
    query, complaints = read_query(request.query_params.items())
    root = request.scope.get("root_path", "")
    whole = request.query_params.get("whole") == "1"
    return Review(service, query, labeler_of(request), root, permanent, whole, tuple(complaints))


def _wants_sample(request: Request) -> bool:
    """Whether the page's own script asks for the sample alone."""
    return request.headers.get("hx-request-type") == "partial"


async def _in_thread(act: Any, *arguments: Any) -> Any:
    """Do what blocks on the database. Raises Problem where the database is in trouble or has no such row."""
    try:
        return await asyncio.to_thread(act, *arguments)
    except LogUnavailableError as error:
        raise Problem("log_unavailable", str(error)) from None
    except LabelNotStoredError as error:
        raise Problem("label_not_stored", str(error)) from None
    except UnknownVerdictError:
        raise Problem("unknown_verdict") from None
    except UnknownLabelError:
        raise Problem("unknown_label") from None
