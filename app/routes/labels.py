"""`/v1/audit/verdicts/{id}/labels` and `/v1/audit/labels/{id}`: what people say about answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from fastapi import APIRouter, Request, Response

from app.audit_contracts import RowId
from app.auth import refuse_foreign_change
from app.body import parse_body, read_body
from app.errors import Problem
from app.items import clean
from app.json_reply import json_reply
from app.label_contracts import LabelRequest, StoredLabel, read_label
from app.openapi import documented
from app.service import Service
from audit.errors import LabelNotStoredError, UnknownLabelError, UnknownVerdictError
from audit.labels import Label, NewLabel

router: Final = APIRouter(prefix="/v1/audit")

_MAX_BODY_BYTES: Final = 1 << 20
_CREATED: Final = 201


@router.post(
    "/verdicts/{id}/labels",
    **documented(
        StoredLabel,
        LabelRequest,
        errors=["foreign_change", "unknown_verdict", "label_not_stored"],
        statuses=(_CREATED,),
    ),
)
async def add_label(request: Request, id: RowId) -> Response:  # noqa: A002 - the contract's name
    """Say whether the answer of a stored verdict is right. It is on disk when the reply comes."""
    refuse_foreign_change(request.scope["headers"])
    service: Service = request.app.state.service
    new = await _read(request, service)
    reply = await _stored(lambda: service.labels.add(id, new), _CREATED)
    service.metrics.count_label(new.answer)
    return reply


@router.delete(
    "/labels/{id}",
    **documented(StoredLabel, errors=["foreign_change", "unknown_label", "label_not_stored"]),
)
async def withdraw_label(request: Request, id: RowId) -> Response:  # noqa: A002 - as above
    """Take a label back. Nothing is deleted: the reply is the row that says so."""
    refuse_foreign_change(request.scope["headers"])
    service: Service = request.app.state.service
    return await _stored(lambda: service.labels.withdraw(id), 200)


async def _read(request: Request, service: Service) -> NewLabel:
    held = service.admission.reserve()
    try:
        document = parse_body(await read_body(request, _MAX_BODY_BYTES, held))
    finally:
        held.release()
    clean(document, document.value)
    return read_label(document.value)


async def _stored(act: Callable[[], Label], status: int) -> Response:
    try:
        label = await asyncio.to_thread(act)
    except UnknownVerdictError:
        raise Problem(
            "unknown_verdict", "only a sample of the verdicts is stored; see GOLDCHECK_AUDIT_BUDGET"
        ) from None
    except UnknownLabelError:
        raise Problem("unknown_label") from None
    except LabelNotStoredError as error:
        raise Problem("label_not_stored", str(error)) from None
    return json_reply(label.as_json(), status)
