"""What stands around every request: an id, a log line, and one shape for faults of ours."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from doubles import ExactVerifier
from serving import Client, Live, serving

SECRET = "the text of a response"


class ForgetfulVerifier(ExactVerifier):
    """Describes itself once, when the service starts, and then fails."""

    name = "forgetful"

    def __init__(self) -> None:
        self._asked = False

    def environment(self) -> Mapping[str, str]:
        """Fail the second time."""
        if self._asked:
            raise RuntimeError(SECRET)
        self._asked = True
        return {}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """An application of which one page fails."""
    with serving(tmp_path_factory.mktemp("failing"), [ForgetfulVerifier()]) as client:
        yield client


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """What is written to the log from here on."""
    stream = io.StringIO()
    handlers = [one for one in logging.getLogger().handlers if type(one).__module__ == "app.logs"]
    monkeypatch.setattr(handlers[-1], "stream", stream)
    return stream


def lines(logged: io.StringIO) -> list[dict[str, Any]]:
    """The log so far."""
    return [json.loads(line) for line in logged.getvalue().splitlines()]


def test_a_fault_of_ours_is_a_problem_with_an_id(failing: Client, logged: io.StringIO) -> None:
    """500 has the shape of all errors, and its id leads to the traceback in the log."""
    reply = failing.get("/v1/verifiers/forgetful", headers={"x-request-id": "mine-1"})
    assert (reply.status_code, reply.json()["code"]) == (500, "internal_error")
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.headers["x-request-id"] == "mine-1"
    (line,) = [one for one in lines(logged) if one["event"] == "request failed"]
    assert line["request_id"] == "mine-1"
    assert line["path"] == "/v1/verifiers/forgetful"
    assert "in environment" in line["traceback"]
    assert SECRET not in logged.getvalue()


async def test_the_server_does_not_log_messages_either(live: Live, logged: io.StringIO) -> None:
    """On a real port, where the server has its own line for what a request raised."""
    verifier = ForgetfulVerifier()
    verifier.environment()
    live.service.registry = {"forgetful": verifier}  # type: ignore[assignment]
    live.service.scorer.identity = lambda _: {}  # type: ignore[method-assign]
    async with live.client() as client:
        reply = await client.get("/v1/verifiers/forgetful")
        assert (reply.status_code, reply.json()["code"]) == (500, "internal_error")
        assert (await client.get("/healthz")).status_code == 200
    assert {one["logger"] for one in lines(logged) if "traceback" in one} == {"app.errors", "uvicorn.error"}
    assert SECRET not in logged.getvalue()


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics", "/v1/limits", "/docs", "/v1/verifiers"])
async def test_head_is_get_without_a_body(live: Live, path: str) -> None:
    """Probes may ask with HEAD, on every path that takes GET: same status, same type, no body."""
    async with live.client() as client:
        get, head = await client.get(path), await client.head(path)
    assert head.status_code == get.status_code == 200
    assert head.headers["content-type"] == get.headers["content-type"]
    assert not head.content


async def test_head_where_there_is_no_get(live: Live) -> None:
    """HEAD is refused where GET is, and 405 names it where it would do."""
    async with live.client() as client:
        assert (await client.head("/v1/verify")).headers["allow"] == "POST"
        assert (await client.head("/nothing")).status_code == 404
        assert (await client.post("/healthz")).headers["allow"] == "GET, HEAD"
