"""What one run leaves, seen or unseen, is gone before the next one on its seat begins."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from hosts import script, started

from sandbox.engine import Sandbox
from sandbox.layers import process, procfs
from sandbox.types import CaseResult, Limits, RunStatus

LIMITS = Limits(cpu_time_s=5, memory_bytes=64 << 20, processes=2)
GREEDY = replace(LIMITS, memory_bytes=16 << 20, processes=64)
"""With so many small processes the kernel kills the zygote, the largest of all."""
LARGE = replace(LIMITS, memory_bytes=300 << 20)
MANY = """
import os, time
for i in range(60):
    if os.fork() == 0:
        x = bytearray(b'x') * (300 << 10)
        time.sleep(3); os._exit(0)
time.sleep(3)
"""
MANY_THAT_WRITE = """
import os, time
for i in range(60):
    try:
        if os.fork() == 0:
            n = 0; x = bytearray(b'x') * (50 << 10)
            while 1:
                n += 1
                try:
                    open(f'/tmp/left{os.getpid()}_{n % 3}', 'w').close()
                    open(f'left{os.getpid()}', 'w').close()
                except OSError: pass
    except OSError: pass
time.sleep(3)
"""
MANY_FORKS = """
import os
while 1:
    try: os.fork()
    except OSError: pass
    x = bytearray(b'x') * (1 << 20)
"""
IN_FLIGHT = """
import fcntl, os, socket
a, b = socket.socketpair()
held = os.open('/tmp/held', os.O_RDWR | os.O_CREAT)
for _ in range({0}): os.write(held, b'y' * (1 << 20))
folder = os.open('/tmp', os.O_RDONLY); fcntl.flock(folder, fcntl.LOCK_EX)
socket.send_fds(a, [b'x'], [held, folder, a.fileno(), b.fileno()])
os.unlink('/tmp/held'); os._exit(0)
"""
"""Descriptors that are on their way to nobody keep a file, its memory and a lock until the kernel looks."""


@pytest_asyncio.fixture
async def seat(tmp_path: Path) -> AsyncIterator[Sandbox]:
    """A sandbox of one slot, whose supervisor lives through the test."""
    async with started(tmp_path, slots=1) as sandbox:
        supervisor = sandbox.supervisor_pid
        yield sandbox
        assert sandbox.supervisor_pid == supervisor


async def run(sandbox: Sandbox, source: str, limits: Limits = LIMITS) -> CaseResult:
    """One run."""
    [result] = [result async for result in sandbox.run(script(source, limits=limits))]
    return result


async def test_files_of_a_lost_zygote_are_not_found(seat: Sandbox) -> None:
    """Whatever still writes when its zygote is gone is ended before the folder is emptied."""
    for _ in range(4):
        lost = await run(seat, MANY_THAT_WRITE, GREEDY)
        assert lost.status in (RunStatus.MEMORY_EXCEEDED, RunStatus.WALL_TIME_EXCEEDED)
        result = await run(seat, "import os\nprint(os.listdir('.'), len(os.listdir(os.environ['TMPDIR'])))")
        assert result.stdout == b"[] 0\n"


@pytest.mark.parametrize("source", [MANY, MANY_FORKS])
async def test_lack_of_memory_is_not_the_next_runs(seat: Sandbox, source: str) -> None:
    """Processes that the kernel kills late are still those of the run that took too much."""
    for _ in range(8):
        await run(seat, source, GREEDY)
        result = await run(seat, "print(2)")
        assert (result.status, result.stdout) == (RunStatus.EXITED, b"2\n")


async def test_a_zygote_that_gets_ready_late_forks_nothing_into_another_run(seat: Sandbox) -> None:
    """Of two kinds only the one whose turn it is has a child in the work folder."""
    for _ in range(3):
        await run(seat, MANY, GREEDY)
        for source in ("import numpy, time\ntime.sleep(0.1)\nprint(2)", "print(2)"):
            result = await run(seat, source)
            assert (result.status, result.stdout) == (RunStatus.EXITED, b"2\n")


NEXT = {
    "a smaller bound": (200, LARGE, "print(1)", replace(LIMITS, memory_bytes=32 << 20)),
    "most of its memory": (58, LIMITS, "x = bytearray(b'x') * (40 << 20)\nprint(1)", LIMITS),
    "most of its disk": (
        200,
        LARGE,
        "with open('large', 'wb') as f:\n for _ in range(200): f.write(b'y' * (1 << 20))\nprint(1)",
        LARGE,
    ),
    "a lock": (
        1,
        LIMITS,
        "import os, fcntl as f\nf.flock(os.open('/tmp', os.O_RDONLY), f.LOCK_EX | f.LOCK_NB)\nprint(1)",
        LIMITS,
    ),
}


@pytest.mark.parametrize("name", NEXT)
async def test_what_was_in_flight_is_gone(seat: Sandbox, name: str) -> None:
    """The next run has all its memory, all its disk and every lock."""
    megabytes, limits, source, next_limits = NEXT[name]
    if (await run(seat, "open('/tmp/x', 'w')")).exit_code != 0:
        pytest.skip("/tmp is not a program's here")
    for _ in range(3):
        await run(seat, IN_FLIGHT.format(megabytes), limits)
        result = await run(seat, source, next_limits)
        assert (result.status, result.stdout, result.stderr) == (RunStatus.EXITED, b"1\n", b"")


@pytest.mark.parametrize("delay_s", [0.0, 0.003, 0.01, 0.03, 0.06])
@pytest.mark.parametrize("source", ["import numpy, time\ntime.sleep(1e5)", "import numpy\nwhile 1: pass"])
async def test_a_run_that_is_given_up_before_it_begins(seat: Sandbox, source: str, delay_s: float) -> None:
    """It never begins, or is ended as it does; the seat goes on to the next."""
    given_up = asyncio.create_task(run(seat, source))
    await asyncio.sleep(delay_s)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    result = await asyncio.wait_for(run(seat, "print(1)"), 60)
    assert (result.status, result.stdout) == (RunStatus.EXITED, b"1\n")


def test_whoever_else_there_is_of_a_user() -> None:
    """Its processes are seen, hidden or not, until they are gone; one's own does not count."""
    if os.geteuid() != 0:
        pytest.skip("needs another user")
    uid = 60999
    pid = os.fork()
    if pid == 0:
        process.become(uid)
        process.hide()
        signal.pause()
    while not procfs.others_of_user(uid):
        os.sched_yield()
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not procfs.others_of_user(uid)


LOOKING = """
import os
for n in range(150_000):
    try: os.stat(f'/usr/lib/{os.getpid()}_{n}')
    except OSError: pass
"""


async def test_names_that_were_looked_for_are_nobodys_memory(seat: Sandbox) -> None:
    """The kernel keeps them, charged to the seat, until it needs the room: the next run has all of it."""
    for memory_bytes in (16 << 20, 64 << 20):
        assert (await run(seat, LOOKING, LARGE)).status is RunStatus.EXITED
        for _ in range(2):
            limits = replace(LIMITS, memory_bytes=memory_bytes)
            result = await run(seat, "x = bytearray(b'x') * (8 << 20)\nprint(1)", limits)
            assert (result.status, result.stdout) == (RunStatus.EXITED, b"1\n")


async def test_times_of_folders_say_nothing(seat: Sandbox) -> None:
    """A time set on a folder that stays is not read by the next run."""
    await run(seat, "import os\nos.utime('/tmp', (123456789, 987654321))")
    result = await run(seat, "import os\ns = os.stat('/tmp')\nprint(int(s.st_atime), int(s.st_mtime))")
    assert not {b"123456789", b"987654321"} & set(result.stdout.split())


async def test_one_task_each_across_kinds_and_new_zygotes(seat: Sandbox) -> None:
    """The smallest bound on tasks lets a program of either kind run, also where zygotes are replaced."""
    limits = replace(LIMITS, processes=1)
    for number in range(1100):
        result = await run(seat, "import numpy\nprint(2)" if number % 2 else "print(2)", limits)
        assert (result.status, result.stdout) == (RunStatus.EXITED, b"2\n"), number
