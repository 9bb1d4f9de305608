"""The files that browsers need, all of them in this package: the pages work without internet."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Final

_MEDIA_TYPES: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""Other files, licences and checksums, are not served."""


def page_headers(policy: str) -> dict[str, str]:
    """Headers of a page or asset under this Content-Security-Policy."""
    return {
        "Content-Security-Policy": policy,
        "X-Content-Type-Options": "nosniff",
        # Not "no-referrer": with it browsers call the origin of the page's own requests "null".
        "Referrer-Policy": "same-origin",
    }


def media_type(path: str) -> str | None:
    """The media type of the asset at `path` below app/static; None if none is served there."""
    return _MEDIA_TYPES.get(path[path.rfind(".") :]) if path in _paths() else None


@cache
def read(path: str) -> bytes:
    """The bytes of a file below app/static."""
    return files("app").joinpath("static", *path.split("/")).read_bytes()


@cache
def address(path: str) -> str:
    """Where the asset is served, below the service's root: a changed file has another address."""
    return f"/assets/{path}?v={blake2b(read(path), digest_size=6).hexdigest()}"


@cache
def _paths() -> frozenset[str]:
    found = []
    stack = [("", files("app").joinpath("static"))]
    while stack:
        prefix, folder = stack.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                stack.append((f"{prefix}{entry.name}/", entry))
            else:
                found.append(prefix + entry.name)
    return frozenset(found)
