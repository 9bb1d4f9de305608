"""The application for tests: in process for single calls, on a real port where streaming matters."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from doubles import ExactVerifier, PooledExactVerifier
from fastapi import FastAPI

from app.main import create_app
from app.service import Service
from app.settings import Settings
from verifiers.base import Verifier
from verifiers.numeric import NumericVerifier


@dataclass
class Live:
    """An application on a real port, with the doubles in reach."""

    url: str
    app: FastAPI
    pooled: PooledExactVerifier

    @property
    def service(self) -> Service:
        """What the application is made of."""
        service: Service = self.app.state.service
        return service

    def client(self, **options: Any) -> httpx.AsyncClient:
        """A client of it."""
        return httpx.AsyncClient(base_url=self.url, trust_env=False, timeout=20, **options)


class Client:
    """Calls an application without a network, from code that is not async."""

    def __init__(self, app: FastAPI, loop: asyncio.AbstractEventLoop) -> None:
        self.app = app
        self._loop = loop
        self._transport = httpx.ASGITransport(app, raise_app_exceptions=False)

    @property
    def service(self) -> Service:
        """What the application is made of."""
        service: Service = self.app.state.service
        return service

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Call, and wait for the whole response."""

        async def call() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url="http://localhost") as client:
                return await client.request(method, path, **options)

        return asyncio.run_coroutine_threadsafe(call(), self._loop).result(30)

    def get(self, path: str, **options: Any) -> httpx.Response:
        """Call with GET."""
        return self.request("GET", path, **options)

    def post(self, path: str, **options: Any) -> httpx.Response:
        """Call with POST."""
        return self.request("POST", path, **options)


@contextlib.contextmanager
def serving(folder: Path, verifiers: Sequence[Verifier] | None = None, **settings: Any) -> Iterator[Client]:
    """An application, by default with a numeric verifier and the doubles, on a loop in a thread."""
    app = create_app(Settings(data_dir=folder, **settings), verifiers or _verifiers())
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    lifespan = app.router.lifespan_context(app)
    asyncio.run_coroutine_threadsafe(lifespan.__aenter__(), loop).result(30)
    try:
        yield Client(app, loop)
    finally:
        asyncio.run_coroutine_threadsafe(lifespan.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _verifiers() -> list[Verifier]:
    return [NumericVerifier(), ExactVerifier(), PooledExactVerifier()]


@contextlib.asynccontextmanager
async def listening(folder: Path, **settings: Any) -> AsyncIterator[Live]:
    """The same on a real port, in the loop of the test."""
    pooled = PooledExactVerifier()
    app = create_app(Settings(data_dir=folder, **settings), [NumericVerifier(), ExactVerifier(), pooled])
    server = uvicorn.Server(
        uvicorn.Config(
            app, port=0, loop="none", http="httptools", log_config=None, timeout_graceful_shutdown=2
        )
    )
    task = asyncio.create_task(server.serve())
    while not server.started:
        assert not task.done(), task
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Live(f"http://127.0.0.1:{port}", app, pooled)
    finally:
        server.should_exit = True
        await task


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One application for all tests that only post and read."""
    with serving(tmp_path_factory.mktemp("app")) as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.01)
        yield client


@pytest.fixture
async def live(tmp_path: Path) -> AsyncIterator[Live]:
    """An application of one's own on a real port."""
    async with listening(tmp_path) as live:
        async with live.client() as client:
            while (await client.get("/readyz")).status_code != 200:
                await asyncio.sleep(0.01)
        yield live


def encode(value: object) -> bytes:
    """JSON as Python writes it, which escapes what is not ASCII, lone surrogates included."""
    return json.dumps(value).encode()


def post(client: Client, body: object, path: str = "/v1/verify", **headers: str) -> httpx.Response:
    """Post a JSON value; header names are written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(path, content=encode(body), headers={"content-type": "application/json"} | named)


def verify(client: Client, **fields: Any) -> dict[str, Any]:
    """The reply to one request, by the exact verifier unless another is named."""
    reply = post(client, {"verifier": "exact", "response": "a", "ground_truth": "a"} | fields)
    assert reply.status_code == 200, reply.text
    body: dict[str, Any] = reply.json()
    return body


def batch(client: Client, items: list[dict[str, Any]], **rest: Any) -> list[dict[str, Any]]:
    """The replies to a batch."""
    reply = post(client, {"items": items, **rest}, "/v1/verify/batch")
    assert reply.status_code == 200, reply.text
    results: list[dict[str, Any]] = reply.json()["results"]
    return results
