"""Arbitrary bytes where messages are expected: of children, of zygotes, between service and supervisor."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import channel, frames
from sandbox.connection import Connection, SupervisorLost
from sandbox.languages import python
from sandbox.run import ChildResult, RunResult
from sandbox.supervisor.reactor import Reactor
from sandbox.supervisor.zygotes import Ended, Zygote
from sandbox.types import AssertCase, Call, CallCase, Case, CaseResult, RunStatus, ScriptCase
from sandbox.zygote.messages import READY, Use, pack_end, unpack_end

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = {
    "state": st.sampled_from(["ready", "no_code", "compile_error", "passed", "failed", "x"]) | JSON,
    "index": st.integers(-1, 3) | JSON,
    "value": JSON,
    "error": JSON,
    "not_plain": JSON,
    "message": JSON,
    "nonce": JSON,
}


def framed(value: Any) -> bytes:
    """A message as a harness sends it."""
    body = python.json.dumps(value).encode()
    return len(body).to_bytes(4, "big") + body


MESSAGES = st.fixed_dictionaries({}, optional=FIELDS).map(framed) | JSON.map(framed)
CHANNELS = st.lists(MESSAGES | st.binary(max_size=30), max_size=5).map(b"".join)
CASES: st.SearchStrategy[Case] = st.sampled_from(
    [
        ScriptCase(b""),
        CallCase("f", (Call((1,)), Call((2,)))),
        AssertCase(("assert f(1)",)),
    ]
)
STATUSES = st.sampled_from([RunStatus.EXITED, RunStatus.SIGNALED, RunStatus.CPU_TIME_EXCEEDED])


@given(CASES, STATUSES, CHANNELS, CHANNELS, st.integers(0, 1) | st.none())
def test_whatever_children_write_is_a_result(
    case: Case, status: RunStatus, first: bytes, last: bytes, code: int | None
) -> None:
    """No bytes on the channels of a run raise, and no more calls are answered than were made."""
    children = tuple(
        ChildResult(exit_code=code, signal=None, stdout=b"", stderr=b"", channel=data)
        for data in ((first, last) if isinstance(case, AssertCase) else (first,))
    )
    result = python.from_run(0, case, RunResult(status, children, 0.1, 0.1, 0))
    assert result.status in RunStatus
    assert len(result.calls) <= (len(case.calls) if isinstance(case, CallCase) else 0)


@given(
    st.lists(st.none() | st.integers(-64, 255), min_size=1, max_size=2),
    st.floats(0, 1e6),
    st.integers(0, 1 << 60),
)
def test_reports_of_zygotes_come_back(ends: list[int | None], cpu_time_s: float, rss: int) -> None:
    """What a zygote reports is what is read."""
    use = Use(cpu_time_s, cpu_time_s / 2, rss)
    assert unpack_end(pack_end(ends, use)) == (ends, use)


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=5), st.booleans())
def test_zygote_that_sends_junk_is_lost_once(messages: list[bytes], running: bool) -> None:
    """Anything but a report on a run ends a zygote; it is told once, and nothing raises."""
    reactor, heard = Reactor(), []
    ours, theirs = channel.pair()
    zygote = Zygote(reactor, ours, None, hands_over=False, on_lost=lambda: heard.append("lost"))
    if running:
        zygote.begin(heard.append)
    with theirs:
        for message in messages:
            try:
                theirs.send(message)
            except OSError:
                break
            zygote.pid = 0  # junk must not name a process to be killed
            if theirs.fileno() >= 0 and ours.fileno() >= 0:
                zygote._hear()
    if ours.fileno() >= 0:
        zygote._hear()
        zygote.close()
    assert heard.count("lost") <= 1
    reports = [each for each in heard if each != "lost"]
    assert len(reports) <= int(running)
    assert all(isinstance(report, Ended) for report in reports)
    junk = [message for message in messages if message != READY]
    assert heard or not junk


@given(st.binary(max_size=200), st.lists(st.integers(1, 50), min_size=1))
def test_no_bytes_break_the_decoder_of_frames(data: bytes, cuts: list[int]) -> None:
    """Frames, or one error in its own words."""
    decoder = frames.Decoder()
    try:
        while data:
            for cut in cuts:
                for header, blobs in decoder.feed(data[:cut]):
                    assert isinstance(header, dict)
                    assert all(isinstance(blob, bytes) for blob in blobs)
                data = data[cut:]
    except frames.MalformedError:
        pass


HEADERS = JSON | st.fixed_dictionaries({"blobs": JSON | st.lists(st.integers(-2, 9), max_size=3)})


@given(HEADERS, st.binary(max_size=20))
def test_no_header_breaks_the_decoder_of_frames(header: Any, body: bytes) -> None:
    """A header of any shape is a frame whose parts add up, or malformed."""
    text = python.json.dumps(header).encode()
    try:
        [(_, blobs)] = frames.Decoder().feed(struct.pack("<IQ", len(text), len(body)) + text + body)
    except frames.MalformedError:
        return
    assert b"".join(blobs) == body


@settings(max_examples=20)
@given(st.binary(min_size=1, max_size=64).filter(lambda data: not data.startswith(b"\0\0")))
def test_junk_from_a_supervisor_loses_it_and_hangs_nobody(data: bytes) -> None:
    """Runs that wait for a supervisor which sends junk end as lost."""

    async def run() -> None:
        connection = Connection("/bin/true", "")
        connection._sock.close()
        connection._sock, theirs = socket.socketpair()
        starting = asyncio.create_task(connection.start({}))
        await asyncio.sleep(0)
        theirs.sendall(data)
        theirs.close()
        with pytest.raises(SupervisorLost):
            await asyncio.wait_for(starting, 5)
        await connection.close()

    asyncio.run(run())


JUNK = """
import os, random
chance = random.Random({seed})
def f(n):
    for fd in range(12):
        try: os.write(fd, chance.randbytes(chance.randrange(1, 200)))
        except OSError: pass
    return n
f(0)
"""


@pytest.mark.asyncio(loop_scope="session")
@pytest.mark.parametrize("seed", range(5))
async def test_junk_on_every_descriptor_costs_only_its_own_run(
    run: Callable[..., Awaitable[CaseResult]], seed: int
) -> None:
    """A program that writes random bytes wherever it can gets a verdict; the next one is not touched."""
    result = await run(JUNK.format(seed=seed))
    assert result.status in (RunStatus.EXITED, RunStatus.SIGNALED)
    number = random.Random(seed).randrange(1 << 30)
    good = await run("print(input())", b"%d\n" % number)
    assert (good.status, good.stdout) == (RunStatus.EXITED, b"%d\n" % number)
