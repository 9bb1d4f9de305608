"""`/docs`: the OpenAPI document to browse; `/assets`: the files that this page and the audit's need."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Request, Response

from app import assets
from app.errors import Problem
from app.routes.plain import PlainRoute

router: Final = APIRouter(route_class=PlainRoute, include_in_schema=False)

_HEADERS: Final = assets.page_headers(
    # Styles inside elements are how Swagger UI draws; scripts come from here only.
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_ASSET_HEADERS: Final = assets.page_headers("default-src 'none'")


@router.get("/docs")
async def docs(request: Request) -> Response:
    """The page."""
    return Response(assets.read("docs/index.html"), media_type="text/html", headers=_HEADERS)


@router.get("/assets/{path:path}")
async def asset(request: Request, path: str) -> Response:
    """One of the files that pages need. An address with a version stands for these bytes for ever."""
    media_type = assets.media_type(path)
    if media_type is None:
        raise Problem("not_found")
    age = "max-age=31536000, immutable" if "v" in request.query_params else "max-age=3600"
    headers = _ASSET_HEADERS | {"Cache-Control": age}
    return Response(assets.read(path), media_type=media_type, headers=headers)
