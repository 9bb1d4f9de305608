"""`goldcheck serve`: addresses, keys, workers, and a decent end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from running import get, post, run, start

BODY = {"verifier": "numeric", "response": "\\boxed{3}", "ground_truth": "3"}


@contextlib.contextmanager
def serving(data_dir: Path, *arguments: str, **settings: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A service on a free port: the URL that it prints, and its process."""
    with start(data_dir, "serve", "--port", "0", *arguments, **settings) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.match(r"goldcheck listens on (http://\S+) \(documentation at \1/docs\)\n", line)
            assert found, line
            yield found[1], process
        finally:
            process.terminate()
            process.communicate(timeout=30)


def test_prints_where_it_listens_and_ends_well(tmp_path: Path) -> None:
    """The printed address answers, and SIGTERM ends the service with status 0."""
    with serving(tmp_path) as (url, process):
        assert post(f"{url}/v1/verify", json=BODY).json()["reward"] == 1.0
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_sigint_before_it_is_up(tmp_path: Path) -> None:
    """A service that is told to end while it starts does so, with status 0."""
    with serving(tmp_path) as (_, process):
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


def test_sigterm_lets_requests_end(tmp_path: Path) -> None:
    """A reply that has begun comes to its end after SIGTERM, down to its last line."""
    items = [BODY | {"response": f"{n} so \\boxed{{3}} " + "x" * 2_000} for n in range(8_000)]
    headers = {"accept": "application/x-ndjson"}
    with serving(tmp_path) as (url, process):
        request = {"items": items}
        with httpx.stream(
            "POST", f"{url}/v1/verify/batch", json=request, headers=headers, timeout=60
        ) as reply:
            lines = reply.iter_lines()
            first = next(lines)
            process.send_signal(signal.SIGTERM)
            rest = list(lines)
        assert process.wait(30) == 0
    assert json.loads(first)["reward"] == 1.0
    assert json.loads(rest[-1]) == {"end": True, "count": 8_000}
    assert len(rest) == 8_000


async def test_sigterm_under_load(tmp_path: Path) -> None:
    """Every request of busy callers is served, or refused with 503 or at the door; none is cut off."""
    with serving(tmp_path) as (url, process):
        all_served = asyncio.Barrier(17)

        async def call(pause_s: float) -> httpx.Response | httpx.ConnectError:
            async with httpx.AsyncClient(base_url=url, timeout=60, trust_env=False) as client:
                assert (await client.post("/v1/verify", json=BODY)).status_code == 200
                await all_served.wait()
                await asyncio.sleep(pause_s)
                while True:
                    try:
                        reply = await client.post("/v1/verify", json=BODY)
                    except httpx.ConnectError as error:
                        return error
                    if reply.status_code != 200:
                        return reply

        async with asyncio.TaskGroup() as group:
            callers = [group.create_task(call(n % 2 * 0.5)) for n in range(16)]
            await all_served.wait()
            process.send_signal(signal.SIGTERM)
        refused = [one for caller in callers if isinstance(one := caller.result(), httpx.Response)]
        assert len(refused) >= 8, "those that were idle when it came are answered"
        for reply in refused:
            assert (reply.status_code, reply.json()["code"]) == (503, "shutting_down")
            assert reply.headers["retry-after"]
            assert reply.headers["connection"] == "close"
        assert process.wait(30) == 0


@pytest.mark.parametrize(
    "request_",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
    ],
)
def test_what_is_not_http(service: str, request_: bytes) -> None:
    """Has the shape of all errors, too, and ends the connection."""
    address = httpx.URL(service)
    with socket.create_connection((address.host, address.port or 80), timeout=20) as connection:
        connection.sendall(request_)
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in head
    assert b"connection: close" in head
    assert json.loads(body)["code"] == "malformed_http"


def test_taken_port(tmp_path: Path) -> None:
    """A port that somebody listens on is one line and status 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run(tmp_path, "serve", "--port", str(port))
    assert done.status == 2
    assert done.err == f"goldcheck: port {port} on 127.0.0.1 is taken; choose another with --port\n"


@pytest.mark.parametrize("host", ["192.0.2.1", "2001:db8::1", "host.invalid"])
def test_foreign_address(tmp_path: Path, host: str) -> None:
    """An address that this machine does not have is one line and status 2."""
    done = run(tmp_path, "serve", "--host", host, "--port", "0", GOLDCHECK_ALLOW_ANONYMOUS="1")
    assert done.status == 2
    assert done.err.startswith(f"goldcheck: {host} is no address of this machine")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_open_address_needs_keys(tmp_path: Path, host: str) -> None:
    """Without keys the service listens on loopback only, unless told that this is meant."""
    done = run(tmp_path, "serve", "--host", host, "--port", "0")
    assert done.status == 2
    assert "set GOLDCHECK_API_KEYS" in done.err
    assert done.err.count("\n") == 1


def test_open_address_with_keys(tmp_path: Path) -> None:
    """With keys any address will do, and the keys are asked for."""
    with serving(tmp_path, "--host", "0.0.0.0", GOLDCHECK_API_KEYS="k1,k2") as (url, _):
        here = url.replace("0.0.0.0", "127.0.0.1")
        assert post(f"{here}/v1/verify", json=BODY).status_code == 401
        assert post(f"{here}/v1/verify", json=BODY, headers={"x-api-key": "k2"}).status_code == 200


def test_two_workers_are_one_service(
    tmp_path: Path, start_service: Callable[..., AbstractContextManager[str]]
) -> None:
    """Two workers share the verdict log, and each shows the metrics of both."""
    settings = {"GOLDCHECK_AUDIT_BUDGET": "1000", "GOLDCHECK_AUDIT_DURABILITY": "commit"}
    with start_service("--workers", "2", **settings) as url:
        ids = [post(f"{url}/v1/verify", json=BODY).json()["id"] for _ in range(60)]
        for _ in range(20):
            assert 'verdict="correct",verifier="numeric"} 60.0' in get(f"{url}/metrics").text
            listed = get(f"{url}/v1/audit/verdicts").json()["items"]
            assert {item["id"] for item in listed} == set(ids)
        assert len(list((tmp_path / "data" / "metrics").glob("counter_*.db"))) == 2
