"""Templates -> HTML. Everything is escaped; nothing that a response says becomes markup or script."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from app import assets

CLIP: Final = 20_000
"""Characters of one text in a table or box; the API has the whole."""

HEADERS: Final = assets.page_headers(
    # Styles stand in attributes only because KaTeX and uPlot place what they draw with them.
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
    "img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
) | {"Cache-Control": "no-store"}

_environment: Final = Environment(
    loader=PackageLoader("app.pages"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page, or a part of one."""
    root = request.scope.get("root_path", "")
    text = _environment.get_template(template).render(
        root=root, asset=lambda path: root + assets.address(path), **values
    )
    # Lone surrogates have no UTF-8; what was judged had none.
    return HTMLResponse(text.encode("utf-8", "replace"), status, headers=HEADERS)


def clip(text: str) -> str:
    """The beginning of a text that is too long to be shown, and how much more there is."""
    return text if len(text) <= CLIP else f"{text[:CLIP]}\n… {len(text) - CLIP:,} characters more"


def time(milliseconds: int) -> str:
    """A time, in UTC, for people."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")


def percent(share: float | None) -> str:
    """A share, with the digits that tell it from nothing."""
    if share is None:
        return "–"
    digits = 0 if share in {0.0, 1.0} or share >= 0.1 else 1 if share >= 0.01 else 2
    return f"{100 * share:.{digits}f} %"


def count(number: float) -> str:
    """A number of things."""
    return f"{round(number):,}".replace(",", "\u2009")


_environment.filters |= {"clip": clip, "time": time, "percent": percent, "count": count}
