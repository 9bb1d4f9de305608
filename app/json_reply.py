"""Plain values -> JSON responses."""

from __future__ import annotations

import pydantic_core
from fastapi import Response


def json_reply(value: object, status: int = 200) -> Response:
    """A JSON response; there is never a NaN in it."""
    return Response(
        pydantic_core.to_json(value, inf_nan_mode="null"), status_code=status, media_type="application/json"
    )
