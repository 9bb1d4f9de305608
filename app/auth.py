"""Who may call: keys compared in constant time; no anonymous service on addresses that others can reach."""

from __future__ import annotations

import base64
import binascii
import hmac
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import ip_address
from typing import Any, Final

from app.errors import Problem
from app.settings import Settings

OPEN_PATHS: Final = frozenset({"/healthz", "/readyz"})

_PORT: Final = re.compile(rb":[0-9]*$")

_CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="goldcheck", Basic realm="goldcheck", charset="UTF-8"'}


def refusal_to_bind(host: str, settings: Settings) -> str | None:
    """Why the service must not listen on `host` with these settings, in one line; None if it may."""
    if settings.api_keys or settings.allow_anonymous or not is_exposed(host):
        return None
    return (
        f"{host} can be reached from outside: set GOLDCHECK_API_KEYS, or GOLDCHECK_ALLOW_ANONYMOUS=1"
        " if only trusted programs can reach it"
    )


def is_exposed(host: str) -> bool:
    """Whether a host that a socket listens on or was reached by may be open to other machines."""
    if host == "localhost":
        return False
    try:
        return not ip_address(host.partition("%")[0]).is_loopback
    except ValueError:  # a name, which may stand for any address
        return True


class Doorkeeper:
    """Checks each HTTP request's key."""

    def __init__(self, settings: Settings) -> None:
        self._keys = [key.get_secret_value().encode() for key in settings.api_keys]
        self._anyone = settings.allow_anonymous

    def check(self, scope: Mapping[str, Any]) -> None:
        """Raise Problem: 401 without a valid key where keys are set; 403 where none are, from elsewhere.

        From elsewhere: over an address that is not loopback, or from a web page that is not the service's.
        """
        if scope["path"] in OPEN_PATHS:
            return
        if self._keys:
            if not self._is_known(scope["headers"]):
                raise Problem("unauthorized", headers=_CHALLENGE)
        elif not self._anyone:
            if _reached_from_outside(scope.get("server")):
                raise Problem("anonymous_refused", "set GOLDCHECK_API_KEYS or GOLDCHECK_ALLOW_ANONYMOUS=1")
            _refuse_foreign_pages(scope["headers"])

    def _is_known(self, headers: list[tuple[bytes, bytes]]) -> bool:
        known = False
        for offered in _offered_keys(headers):
            for key in self._keys:  # always all of them: the time taken tells nothing
                known |= hmac.compare_digest(offered, key)
        return known


def refuse_foreign_change(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise Problem 403 where a web page that is not the service's asks for a change of what is stored.

    The browser may send the key along (Basic), so a key does not show that its owner meant it.
    """
    found = dict(headers)
    site, origin = found.get(b"sec-fetch-site", b"none"), found.get(b"origin")
    host = found.get(b"host", b"")
    if site not in {b"same-origin", b"none"} or (origin is not None and not _is_own(origin, host)):
        raise Problem("foreign_change", "only programs and this service's own pages may change anything")


def _is_own(origin: bytes, host: bytes) -> bool:
    return bool(host) and origin.partition(b"://")[2].lower() == host.lower()


def _reached_from_outside(server: tuple[str, int | None] | None) -> bool:
    """`server`: the local address of the connection; a unix socket or a test transport has no IP address."""
    return server is not None and _is_outside_address(server[0])


@lru_cache(maxsize=64)
def _is_outside_address(host: str) -> bool:
    try:
        return not ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _refuse_foreign_pages(headers: list[tuple[bytes, bytes]]) -> None:
    """A browser asks for any open page: by the address, or by a name of the page's own that leads here."""
    host = origin = None
    for name, value in headers:
        if name == b"host":
            host = value
        elif name == b"origin":
            origin = value
    if host is not None and _is_foreign_name(host):
        raise Problem("foreign_origin", "the Host is a name that anybody may give to this address; set keys")
    if origin is not None and not _is_own(origin, host or b""):
        raise Problem(
            "foreign_origin", "the Origin is not this service; set keys to be called by other pages"
        )


@lru_cache(maxsize=64)
def _is_foreign_name(host: bytes) -> bool:
    """Whether a Host header holds a full domain name: no address, no bare name, nothing below localhost."""
    name = _PORT.sub(b"", host).decode("latin-1").rstrip(".").lower()
    first, _, last = name.rpartition(".")
    return bool(first) and not name.startswith("[") and not last.isdigit() and last != "localhost"


def _offered_keys(headers: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Keys of a request: `Authorization: Bearer`, `X-API-Key`, the password of Basic."""
    offered = []
    for name, value in headers:
        if name == b"x-api-key":
            offered.append(value.strip())
        elif name == b"authorization":
            scheme, _, credentials = value.strip().partition(b" ")
            if scheme.lower() == b"bearer":
                offered.append(credentials.strip())
            elif scheme.lower() == b"basic":
                offered.append(_password(credentials.strip()))
    return offered


def _password(credentials: bytes) -> bytes:
    try:
        decoded = base64.b64decode(credentials, validate=True)
    except binascii.Error:
        return b""
    return decoded.partition(b":")[2]
