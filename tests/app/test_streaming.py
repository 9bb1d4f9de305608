"""What only a real connection shows: bodies refused early, lines as they are ready, callers who leave."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serving import Live, encode, listening

MIB = 1 << 20


async def raw_exchange(live: Live, head: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A bare connection on which a request's head has been sent."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(live.url.rpartition(":")[2]))
    writer.write(head.replace("\n", "\r\n").encode() + b"\r\n")
    return reader, writer


def head(**headers: str) -> str:
    """The head of a POST to /v1/verify."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\n" for name, value in headers.items())
    return f"POST /v1/verify HTTP/1.1\nHost: x\nContent-Type: application/json\n{lines}"


async def test_an_announced_300_mb_body_is_refused_unread(live: Live) -> None:
    """413 comes before a single byte of the body is sent."""
    reader, writer = await raw_exchange(live, head(Content_Length=str(300 * MIB)))
    assert b" 413 " in await reader.readline()
    writer.close()


async def test_an_endless_body_is_refused_while_it_streams(tmp_path: Path) -> None:
    """A body without an announced length is answered as soon as it passes the limit."""
    async with listening(tmp_path, max_body_bytes=2 * MIB) as live:
        reader, writer = await raw_exchange(live, head(Transfer_Encoding="chunked"))
        answer = asyncio.ensure_future(reader.readline())
        sent = 0
        while not answer.done() and sent < 64 * MIB:
            writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
            await writer.drain()
            sent += 0x10000
            await asyncio.sleep(0)
        assert b" 413 " in await answer
        assert sent < 64 * MIB
        assert live.service.admission.bytes == 0
        writer.close()


async def test_a_client_that_sends_300_mb_gets_its_413(live: Live) -> None:
    """An ordinary client, which reads only after it has sent everything, is told too."""

    async def body() -> AsyncIterator[bytes]:
        for _ in range(300):
            yield b" " * MIB

    async with live.client() as client:
        reply = await client.post("/v1/verify", content=body(), headers={"content-type": "application/json"})
    assert reply.status_code == 413


async def test_a_gzip_bomb_is_refused_while_it_unpacks(live: Live) -> None:
    """A quarter of a gigabyte packed into a few hundred kilobytes ends at the limit."""
    bomb = gzip.compress(b" " * (257 * MIB), 1)
    async with live.client() as client:
        reply = await client.post("/v1/verify", content=bomb, headers={"content-encoding": "gzip"})
    assert (reply.status_code, reply.json()["code"]) == (413, "body_too_large")


async def test_lines_arrive_before_the_end(live: Live) -> None:
    """The first line is there while the other item is still being judged."""
    gate = live.pooled.hold("slow")
    items = [{"response": "slow", "ground_truth": "x"}, {"response": "fast", "ground_truth": "x"}]
    body = encode({"items": items, "defaults": {"verifier": "pooled"}})
    headers = {"accept": "application/x-ndjson"}
    async with (
        live.client() as client,
        client.stream("POST", "/v1/verify/batch", content=body, headers=headers) as r,
    ):
        lines = r.aiter_lines()
        assert json.loads(await anext(lines))["index"] == 1
        gate.set()
        assert json.loads(await anext(lines))["index"] == 0
        assert json.loads(await anext(lines)) == {"end": True, "count": 2}


def pooled_batch(*responses: str) -> bytes:
    """A batch for the pooled verifier."""
    items = [{"response": response, "ground_truth": "x"} for response in responses]
    return encode({"items": items, "defaults": {"verifier": "pooled"}})


async def post_batch(client: httpx.AsyncClient, body: bytes, accept: str = "*/*") -> httpx.Response:
    """Post a batch."""
    return await client.post("/v1/verify/batch", content=body, headers={"accept": accept})


async def until(condition: Any) -> None:
    """Wait until something holds; the test's own timeout is the limit."""
    while not condition():
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("accept", ["application/json", "application/x-ndjson"])
async def test_a_caller_who_leaves_drops_only_what_has_not_started(tmp_path: Path, accept: str) -> None:
    """What runs goes on, what waits is dropped, and everything held is given back."""
    async with listening(tmp_path, concurrency=1) as live:
        gate = live.pooled.hold("first")
        async with live.client() as client:
            request = asyncio.ensure_future(post_batch(client, pooled_batch("first", "second"), accept))
            await until(lambda: live.pooled.calls == ["first"])
            request.cancel()
            await asyncio.gather(request, return_exceptions=True)
        await until(lambda: live.service.admission.items == 0)
        gate.set()
        async with live.client() as client:
            await post_batch(client, pooled_batch("third"))
        assert live.pooled.calls == ["first", "third"]


async def test_what_somebody_else_waits_for_is_not_dropped(tmp_path: Path) -> None:
    """Of two who wait for the same task one may leave."""
    async with listening(tmp_path, concurrency=1) as live:
        gate = live.pooled.hold("first")
        async with live.client() as client:
            stays = asyncio.ensure_future(post_batch(client, pooled_batch("first", "same")))
            await until(lambda: live.pooled.calls == ["first"])
            leaves = asyncio.ensure_future(post_batch(client, pooled_batch("same")))
            await until(lambda: live.service.admission.items == 3)
            leaves.cancel()
            await until(lambda: live.service.admission.items == 2)
            gate.set()
            reply = await stays
        assert reply.status_code == 200
        assert [result["status"] for result in reply.json()["results"]] == ["scored", "scored"]
        assert live.pooled.calls == ["first", "same"]


async def test_a_large_batch_lets_others_through(live: Live) -> None:
    """Health is answered while thousands of items are read and judged."""
    items = [{"response": "\\boxed{1}" + "x" * 500, "ground_truth": "1"}] * 4096
    body = encode({"items": items, "defaults": {"verifier": "numeric"}})
    async with live.client() as client:
        batch = asyncio.ensure_future(client.post("/v1/verify/batch", content=body))
        await until(lambda: live.service.admission.items)
        between = 0
        while not batch.done():
            assert (await client.get("/healthz")).status_code == 200
            between += 1
        assert (await batch).status_code == 200
    assert between > 3


async def test_overload_is_refused_before_anything_is_accepted(tmp_path: Path) -> None:
    """Too many items or bytes held: 503 with Retry-After; an idle worker takes whatever fits a request."""
    async with listening(tmp_path, queue_items=3, queue_bytes=2000, retry_after_s=7) as live:
        gate = live.pooled.hold("slow")
        async with live.client() as client:
            running = asyncio.ensure_future(post_batch(client, pooled_batch("slow", "a")))
            await until(lambda: live.service.admission.items == 2)
            too_many = await post_batch(client, pooled_batch("b", "c"))
            too_large = await client.post("/v1/verify", content=encode({"response": "x" * 2000}))
            for refused in (too_many, too_large):
                assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
                assert refused.headers["retry-after"] == "7"
            assert (await post_batch(client, pooled_batch("b"))).status_code == 200
            gate.set()
            assert (await running).status_code == 200
            assert (live.service.admission.items, live.service.admission.bytes) == (0, 0)
            assert (await post_batch(client, pooled_batch(*"abcdefgh"))).status_code == 200
        assert "b" in live.pooled.calls
        assert "c" in live.pooled.calls


async def test_while_shutting_down_nothing_is_taken_in(live: Live) -> None:
    """After the signal new requests get 503, accepted ones are finished, readiness says so."""
    gate = live.pooled.hold("slow")
    async with live.client() as client:
        running = asyncio.ensure_future(post_batch(client, pooled_batch("slow")))
        await until(lambda: live.pooled.calls)
        live.service.refuse_more()
        refused = await client.post("/v1/verify", content=encode({"response": "x"}))
        assert (refused.status_code, refused.json()["code"]) == (503, "shutting_down")
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "not_ready")
        assert (await client.get("/healthz")).status_code == 200
        gate.set()
        assert (await running).json()["results"][0]["status"] == "scored"


async def test_a_body_that_never_ends_is_given_back(live: Live) -> None:
    """A caller who leaves in the middle of a body leaves nothing behind."""
    _, writer = await raw_exchange(live, head(Content_Length="1000000"))
    writer.write(b'{"response": "')
    await writer.drain()
    await until(lambda: live.service.admission.bytes)
    writer.close()
    await until(lambda: live.service.admission.bytes == 0)


async def test_request_ids_are_echoed_when_harmless(live: Live) -> None:
    """A caller's X-Request-ID comes back; one that could break a log line is replaced."""
    async with live.client() as client:
        assert (await client.get("/healthz", headers={"x-request-id": "abc-1"})).headers[
            "x-request-id"
        ] == "abc-1"
        replaced = await client.get("/healthz", headers={"x-request-id": "a b{}"})
        assert len(replaced.headers["x-request-id"]) == 36
        assert isinstance(replaced, httpx.Response)
