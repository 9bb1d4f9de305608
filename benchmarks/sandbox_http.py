"""Code verdicts over HTTP: throughput, then latency of requests that arrive by themselves at half of it."""

from __future__ import annotations

import asyncio
import json
import random
import selectors
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.sandbox_work import ADD, quantiles
from benchmarks.service import goldcheck

AT_ONCE = 8
WARM, REQUESTS = 50, 600


_HEAD = b"\r\n".join(
    [
        b"POST /v1/verify HTTP/1.1",
        b"Host: x",
        b"Content-Type: application/json",
        b"Content-Length: %d",
        b"",
        b"",
    ]
)


class Client:
    """Kept-alive connections of the least cost, for a server on the same cores."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, body: bytes) -> bytes:
        """Send one request; its reply."""
        if not self._idle:
            self._idle.append(await asyncio.open_connection("127.0.0.1", self._port))
        reader, writer = self._idle.pop()
        writer.write(_HEAD % len(body) + body)
        fields = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(fields.partition(b"content-length:")[2].split(b"\r\n")[0])
        reply = await reader.readexactly(length)
        self._idle.append((reader, writer))
        return reply


def bodies() -> Iterator[bytes]:
    """Requests with one test each, no two alike."""
    number = 0
    while True:
        number += 1
        request = {
            "verifier": "code",
            "response": f"```python\n{ADD}# {number}\n```",
            "ground_truth": {
                "type": "stdin_stdout",
                "cases": [{"stdin": f"{number} 1\n", "stdout": f"{number + 1}\n"}],
            },
        }
        yield json.dumps(request).encode()


async def _one(client: Client, body: bytes, taken: list[float], since: float | None = None) -> None:
    begin = time.perf_counter() if since is None else since
    reply = json.loads(await client.post(body))
    taken.append(time.perf_counter() - begin)
    assert reply["reward"] == 1.0, reply


async def _closed_loop(client: Client, source: Iterator[bytes], count: int) -> float:
    """Requests per second with some always under way."""
    taken: list[float] = []

    async def keep_asking() -> None:
        while len(taken) < count:
            await _one(client, next(source), taken)

    begin = time.perf_counter()
    await asyncio.gather(*(keep_asking() for _ in range(AT_ONCE)))
    return len(taken) / (time.perf_counter() - begin)


async def _open_loop(client: Client, source: Iterator[bytes], rate: float, count: int) -> list[float]:
    """Latencies, counted from when each request was due."""
    chance, taken, tasks = random.Random(1), [], []
    due = time.perf_counter()
    for _ in range(count):
        due += chance.expovariate(rate)
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        tasks.append(asyncio.create_task(_one(client, next(source), taken, due)))
    await asyncio.gather(*tasks)
    return taken


async def _measure(port: int) -> dict[str, Any]:
    client, source = Client(port), bodies()
    await _closed_loop(client, source, WARM)
    throughput = await _closed_loop(client, source, REQUESTS)
    latencies = await _open_loop(client, source, throughput / 2, REQUESTS)
    return {"verdicts_per_s": round(throughput, 1), "at_half": quantiles(latencies)}


def _exact_loop() -> asyncio.AbstractEventLoop:
    """The usual one sleeps whole milliseconds, by which requests would be late."""
    return asyncio.SelectorEventLoop(selectors.SelectSelector())


def measure() -> dict[str, Any]:
    """One test over HTTP, service and client on the same cores."""
    with goldcheck(GOLDCHECK_CACHE_BYTES="0") as server, asyncio.Runner(loop_factory=_exact_loop) as runner:
        return runner.run(_measure(server.connection.port))
