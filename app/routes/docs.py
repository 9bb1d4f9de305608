"""`/docs`: the OpenAPI document to browse. All its files are in the package: it works without internet."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, Request, Response

from app.errors import Problem
from app.routes.plain import PlainRoute

router: Final = APIRouter(route_class=PlainRoute, include_in_schema=False)

_ASSETS: Final = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "start.js": "text/javascript",
    "favicon-32x32.png": "image/png",
}

_HEADERS: Final = {
    # Styles inside elements are how Swagger UI draws; scripts come from here only.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The page."""
    return Response(_read("index.html"), media_type="text/html", headers=_HEADERS)


@router.get("/docs/assets/{name}")
async def asset(request: Request, name: str) -> Response:
    """One of the files that the page needs."""
    if name not in _ASSETS:
        raise Problem("not_found")
    caching = {"Cache-Control": "max-age=3600"}
    return Response(_read(name), media_type=_ASSETS[name], headers=_HEADERS | caching)


@cache
def _read(name: str) -> bytes:
    return files("app").joinpath("static", "docs", name).read_bytes()
