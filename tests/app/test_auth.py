"""Keys, open paths, and no anonymous service where others can reach it."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Client, listening, serving

from app.auth import is_exposed, refusal_to_bind, refuse_foreign_change
from app.errors import Problem
from app.settings import Settings


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application that knows two keys."""
    with serving(tmp_path_factory.mktemp("locked"), api_keys="first-key, sécond") as client:
        yield client


def basic(user: str, password: str) -> dict[str, str]:
    """The header of Basic authentication."""
    credentials = base64.b64encode(f"{user}:{password}".encode()).decode()
    return {"authorization": f"Basic {credentials}"}


GOOD: list[dict[str, str]] = [
    {"authorization": "Bearer first-key"},
    {"authorization": "bearer  first-key "},
    {"x-api-key": "first-key"},
    basic("any", "first-key"),
    basic("", "sécond"),
    basic("any:thing", "x") | {"x-api-key": "first-key"},
]

BAD: list[dict[str, str]] = [
    {},
    {"authorization": "Bearer"},
    {"authorization": "Bearer "},
    {"authorization": "Bearer first"},
    {"authorization": "Bearer first-key,"},
    {"authorization": "first-key"},
    {"authorization": "Digest first-key"},
    {"x-api-key": ""},
    {"x-api-key": "FIRST-KEY"},
    basic("first-key", ""),
    {"authorization": "Basic not-base64!"},
    {"authorization": "Basic Zmlyc3Qta2V5"},
]

PATHS = ["/v1/verifiers", "/v1/limits", "/v1/sandbox", "/metrics", "/openapi.json", "/docs", "/nothing"]


@pytest.mark.parametrize("headers", GOOD)
def test_a_key_opens(locked: Client, headers: dict[str, str]) -> None:
    """Bearer, X-API-Key, or the password of Basic."""
    assert locked.get("/v1/verifiers", headers=headers).status_code == 200


@pytest.mark.parametrize("headers", BAD)
def test_without_a_key_nothing_is_served(locked: Client, headers: dict[str, str]) -> None:
    """401 with the challenge that makes browsers ask, on every path, known or not."""
    for path in PATHS:
        reply = locked.get(path, headers=headers)
        assert reply.status_code == 401
        assert reply.json()["code"] == "unauthorized"
        assert "Basic" in reply.headers["www-authenticate"]
        assert "Bearer" in reply.headers["www-authenticate"]
        assert reply.headers["x-request-id"]


def test_health_stays_open(locked: Client) -> None:
    """Probes have no keys."""
    assert locked.get("/healthz").status_code == 200
    assert locked.get("/readyz").json()["status"] in ("ready", "degraded", "not_ready")


@pytest.mark.parametrize(
    ("host", "exposed"),
    [
        ("127.0.0.1", False),
        ("127.8.9.10", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
        ("10.0.0.3", True),
        ("fe80::1%eth0", True),
        ("example.org", True),
        ("", True),
    ],
)
def test_addresses_that_others_can_reach(host: str, exposed: bool) -> None:
    """Only loopback is ours alone."""
    assert is_exposed(host) is exposed
    assert (refusal_to_bind(host, Settings()) is not None) is exposed
    assert refusal_to_bind(host, Settings(allow_anonymous=True)) is None
    assert refusal_to_bind(host, Settings(api_keys="k")) is None


def call_from(app: Any, server: tuple[str, int | None]) -> Any:
    """Call an application over a connection whose local address is `server`."""

    async def addressed(scope: Any, receive: Any, send: Any) -> None:
        await app(scope | {"server": server}, receive, send)

    return httpx.AsyncClient(transport=httpx.ASGITransport(addressed), base_url="http://x")


@pytest.mark.parametrize(
    ("server", "status"),
    [(("127.0.0.1", 80), 200), (("::1", 80), 200), (("/run/socket", None), 200), (("10.0.0.3", 80), 403)],
)
async def test_anonymous_service_is_refused_in_the_open(
    tmp_path: Path, server: tuple[str, int | None], status: int
) -> None:
    """Also under a server that did not ask: by the address at which a connection arrived."""
    async with listening(tmp_path) as live, call_from(live.app, server) as client:
        reply = await client.get("/v1/limits")
        assert reply.status_code == status
        if status == 403:
            assert reply.json()["code"] == "anonymous_refused"
        assert (await client.get("/healthz")).status_code == 200


async def test_anonymous_service_in_the_open_can_be_asked_for(tmp_path: Path) -> None:
    """GOLDCHECK_ALLOW_ANONYMOUS=1 says that only trusted programs can reach it."""
    async with (
        listening(tmp_path, allow_anonymous=True) as live,
        call_from(live.app, ("10.0.0.3", 80)) as client,
    ):
        assert (await client.get("/v1/limits")).status_code == 200


def test_keys_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are read from the environment and never printed with the settings."""
    monkeypatch.setenv("GOLDCHECK_API_KEYS", " first-key ,,second-key ")
    settings = Settings()
    assert [key.get_secret_value() for key in settings.api_keys] == ["first-key", "second-key"]
    assert "first-key" not in repr(settings) + str(settings.model_dump_json())


LOOPBACK = ("127.0.0.1", 8000)


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "127.0.0.1:8000"},
        {"host": "127.1:8000"},
        {"host": "localhost"},
        {"host": "LOCALHOST.:8000"},
        {"host": "gold.localhost:8000"},
        {"host": "[::1]:8000"},
        {"host": "[::ffff:127.0.0.1]:8000"},
        {"host": "goldcheck:8000"},
        {"host": ""},
        {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"},
        {"host": "localhost:8000", "origin": "https://LocalHost:8000"},
        {"host": "[::1]:8000", "origin": "http://[::1]:8000"},
    ],
)
async def test_programs_and_our_own_pages_are_served(tmp_path: Path, headers: dict[str, str]) -> None:
    """Without keys, on loopback: by any name of this machine, and from our own pages."""
    async with listening(tmp_path) as live, call_from(live.app, LOOPBACK) as client:
        assert (await client.get("/v1/limits", headers=headers)).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "127.0.0.1:8000", "origin": "http://evil.example"},
        {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:3000"},
        {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1"},
        {"host": "localhost:8000", "origin": "http://127.0.0.1:8000"},
        {"host": "127.0.0.1:8000", "origin": "null"},
        {"host": "127.0.0.1:8000", "origin": ""},
        {"host": "evil.example:8000"},
        {"host": "evil.example.:8000"},
        {"host": "evil.example:8000", "origin": "http://evil.example:8000"},
        {"host": "localhost.evil.example"},
        {"host": "127.0.0.1.evil.example"},
    ],
)
async def test_foreign_pages_are_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    """Cross-site posts, with and without a media type, and names that were made to lead to loopback."""
    async with listening(tmp_path) as live, call_from(live.app, LOOPBACK) as client:
        for reply in (
            await client.get("/v1/audit/verdicts", headers=headers),
            await client.post("/v1/verify", headers=headers, content=b'{"verifier":"exact","response":"a"}'),
        ):
            assert (reply.status_code, reply.json()["code"]) == (403, "foreign_origin")
        assert (await client.get("/healthz", headers=headers)).status_code == 200


async def test_with_keys_the_key_decides(tmp_path: Path) -> None:
    """Behind a proxy with a name of its own, or where anybody may call, pages are the operator's matter."""
    headers = {"host": "gold.example", "origin": "https://other.example", "x-api-key": "k"}
    for settings in ({"api_keys": "k"}, {"allow_anonymous": True}):
        async with listening(tmp_path, **settings) as live, call_from(live.app, LOOPBACK) as client:
            assert (await client.get("/v1/limits", headers=headers)).status_code == 200


OWN = "localhost:8000"


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),  # a program
        ({"origin": f"http://{OWN}"}, True),
        ({"origin": f"https://{OWN.upper()}"}, True),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://localhost:8001"}, False),
        ({"origin": "null"}, False),
        ({"origin": ""}, False),
        ({"sec-fetch-site": "same-origin", "origin": f"http://{OWN}"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "same-origin", "origin": "http://evil.example"}, False),
    ],
)
def test_foreign_pages_change_nothing(headers: dict[str, str], allowed: bool) -> None:
    """Whatever key their visitor's browser sends along."""
    given = [(b"host", OWN.encode()), *((name.encode(), value.encode()) for name, value in headers.items())]
    if allowed:
        refuse_foreign_change(given)
    else:
        with pytest.raises(Problem) as refused:
            refuse_foreign_change(given)
        assert (refused.value.code, refused.value.status) == ("foreign_change", 403)
