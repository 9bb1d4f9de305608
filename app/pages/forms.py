"""What pages send: small forms, from our own pages only; and the cookie with the labeler's name."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from fastapi import Request, Response

from app.auth import refuse_foreign_change
from app.errors import Problem
from audit.keys import column_text

MAX_FORM_BYTES: Final = 64 << 10
MAX_NAME: Final = 200
_COOKIE: Final = "goldcheck_labeler"
_YEAR_S: Final = 365 * 24 * 3600


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form, storable; of several with one name the first. Raises Problem."""
    refuse_foreign_change(request.scope["headers"])
    if request.headers.get("content-type", "").partition(";")[0] != "application/x-www-form-urlencoded":
        raise Problem("unsupported_media_type", "the body must be a form")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise Problem("body_too_large", f"a form has at most {MAX_FORM_BYTES} bytes")
    fields: dict[str, str] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), errors="replace"):
        fields.setdefault(name, column_text(value))
    return fields


def labeler_of(request: Request) -> str:
    """The name under which this browser labels; empty: none yet."""
    return _clean(unquote(request.cookies.get(_COOKIE, ""), errors="replace"))


def remember_labeler(response: Response, name: str) -> None:
    """Let the browser send the name from now on."""
    response.set_cookie(
        _COOKIE, quote(_clean(name)), max_age=_YEAR_S, path="/audit", httponly=True, samesite="lax"
    )


def _clean(name: str) -> str:
    return " ".join(column_text(name).split())[:MAX_NAME]


def labeler_in(fields: dict[str, str]) -> str:
    """The name that a form gives; empty: none."""
    return _clean(fields.get("labeler", ""))
