"""`/v1/rollouts/validate`: is this what training can learn from."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request, Response

from app.body import JSON, media_type, read_body
from app.json_reply import json_reply
from app.npz import MEDIA_TYPE as NPZ
from app.openapi import documented
from app.rollout_checks import check_json, check_npz
from app.rollout_contracts import RolloutRequest, ValidationReply
from app.service import Service

router: Final = APIRouter()


@router.post(
    "/v1/rollouts/validate",
    **documented(ValidationReply, RolloutRequest, binary=NPZ, errors=["malformed_npz", "invalid_query"]),
)
async def validate(
    request: Request,
    padding: Annotated[
        Literal["nan", "any"],
        Query(
            description="what the padding of log-probabilities in a batch may hold: NaN (null) or anything"
        ),
    ] = "nan",
) -> Response:
    """Check a rollout record, or a padded batch as JSON or as the archive that `numpy.savez` writes."""
    service: Service = request.app.state.service
    most = service.settings.max_body_bytes
    held = service.admission.reserve()
    try:
        body = await read_body(request, most, held, accepted=(JSON, NPZ))
        # One at a time: each may need several times its body, and most of a core.
        async with service.validating:
            if media_type(request) == NPZ:
                reply = await asyncio.to_thread(check_npz, body, padding, most)
            else:
                reply = await asyncio.to_thread(check_json, body, padding)
    finally:
        held.release()
    return json_reply(reply)
