"""Worker processes for `math`, driven from the event loop. Imports neither FLINT nor sympy.

Items wait in one queue; each worker takes a chunk of them per message and answers them one by one. The
parent's clock ends an item at its deadline by killing the worker: the item is tried once more, alone, and the
rest of the chunk goes back into the queue. A worker that dies costs its current item the same one retry.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verifiers.math.framing import HEADER_BYTES, frame, length
from verifiers.math.nursery_protocol import REPLY, REQUEST

CHUNK = 32
"""Items of one message at most: an upper bound on what one death sends back to the queue."""
START_TIMEOUT_S = 30.0
RETRY_START_S = 1.0
_ROOT = Path(__file__).resolve().parents[2]


class TimedOut(Exception):
    """The item met its deadline twice, the second time alone."""


class WorkerLost(Exception):
    """The worker died over the item twice, the second time alone."""


@dataclass(eq=False, slots=True)
class _Item:
    payload: Any
    future: asyncio.Future[dict[str, Any]]


@dataclass(eq=False, slots=True)
class _Worker:
    pid: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


@dataclass(eq=False, slots=True)
class Pool:
    """A fixed number of workers. `start` before the first `run`, `close` at the end.

    `_quiet` is set unless an item is being retried alone: then nothing new is taken from the queue.
    """

    size: int = 2
    deadline_s: float = 5.0
    _waiting: deque[_Item] = field(default_factory=deque)
    _wake: asyncio.Condition = field(default_factory=asyncio.Condition)
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    _nursery_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _control: socket.socket | None = None
    _process: asyncio.subprocess.Process | None = None
    _tasks: list[asyncio.Task[None]] = field(default_factory=list)
    _quiet: asyncio.Event = field(default_factory=asyncio.Event)
    _busy: int = 0
    restarts: int = 0
    """Workers replaced since the start."""

    async def start(self) -> None:
        """Start the nursery and the workers. Raises `OSError` or `TimeoutError` when they do not come up."""
        self._quiet.set()
        await self._start_nursery()
        workers = [await self._new_worker() for _ in range(self.size)]
        self._tasks = [asyncio.create_task(self._drive(worker)) for worker in workers]
        await asyncio.sleep(0)  # a task that is cancelled before it began would never hang up its worker

    async def close(self) -> None:
        """End the workers; what still waits is cancelled."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        for item in self._waiting:
            item.future.cancel()
        self._waiting.clear()
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            await self._process.wait()
            self._process = None

    @property
    def ready(self) -> bool:
        """Whether every driver of a worker is alive."""
        return bool(self._tasks) and not any(task.done() for task in self._tasks)

    async def run(self, payload: Any) -> dict[str, Any]:
        """The worker's reply to `payload`. Raises `TimedOut`, `WorkerLost`. Cancelling drops waiting work."""
        try:
            return await self._submit(payload)
        except (TimedOut, WorkerLost):
            return await self._retry(payload)

    async def _submit(self, payload: Any) -> dict[str, Any]:
        item = _Item(payload, asyncio.get_running_loop().create_future())
        self._waiting.append(item)
        async with self._wake:
            self._wake.notify()
        return await item.future

    async def _retry(self, payload: Any) -> dict[str, Any]:
        """Try again in a new worker while no other works."""
        async with self._alone:
            self._quiet.clear()
            async with self._wake:
                await self._wake.wait_for(lambda: self._busy == 0)
            try:
                worker = await self._new_worker()
            except BaseException:
                self._quiet.set()
                raise
            try:
                item = _Item(payload, asyncio.get_running_loop().create_future())
                await self._chunk(worker, [item])
                return await item.future
            finally:
                await self._discard(worker)
                self._quiet.set()
                async with self._wake:
                    self._wake.notify_all()

    async def _drive(self, worker: _Worker) -> None:
        """Feed one worker for ever, replacing it when it dies."""
        try:
            while True:
                chunk = await self._take()
                alive = await self._chunk(worker, chunk)
                async with self._wake:
                    self._busy -= 1
                    self._wake.notify_all()
                if not alive:
                    await self._discard(worker)
                    self.restarts += 1
                    worker = await self._replacement()
        finally:
            await _hang_up(worker)

    async def _replacement(self) -> _Worker:
        """A new worker; while none can be had, what waits fails instead of hanging."""
        while True:
            try:
                return await self._new_worker()
            except (OSError, TimeoutError) as fault:
                while self._waiting:
                    item = self._waiting.popleft()
                    if not item.future.done():
                        item.future.set_exception(WorkerLost(str(fault)))
                await asyncio.sleep(RETRY_START_S)

    async def _take(self) -> list[_Item]:
        async with self._wake:
            await self._wake.wait_for(lambda: bool(self._waiting) and self._quiet.is_set())
            self._busy += 1
            share = min(CHUNK, -(-len(self._waiting) // self.size))
            chunk: list[_Item] = []
            while self._waiting and len(chunk) < share:
                item = self._waiting.popleft()
                if not item.future.done():
                    chunk.append(item)
            return chunk

    async def _chunk(self, worker: _Worker, chunk: list[_Item]) -> bool:
        """Run the items of one message; whether the worker is still fit. Unanswered ones go back to the
        queue."""
        left = deque(chunk)
        try:
            if left:
                worker.writer.write(frame(json.dumps([item.payload for item in left]).encode()))
                await worker.writer.drain()
            while left:
                async with asyncio.timeout(self.deadline_s):
                    reply = await _receive(worker.reader)
                item = left.popleft()
                if not item.future.done():
                    item.future.set_result(json.loads(reply))
        except TimeoutError:
            self._fail(left, TimedOut("the deadline passed"))
        except (asyncio.IncompleteReadError, ConnectionError):
            self._fail(left, WorkerLost("the worker died"))
        else:
            return True
        return False

    def _fail(self, left: deque[_Item], fault: Exception) -> None:
        item = left.popleft()
        if not item.future.done():
            item.future.set_exception(fault)
        self._waiting.extendleft(reversed(left))

    async def _start_nursery(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.setblocking(False)
        # Packages are found where this process finds them, however it was started; nothing else is handed on.
        paths = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
        environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": paths}
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "verifiers.math.nursery", str(theirs.fileno()),
                pass_fds=(theirs.fileno(),), env=environment, cwd=_ROOT, stdin=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
        self._control = ours
        await self._reply()

    async def _reply(self) -> int:
        assert self._control is not None
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(START_TIMEOUT_S):
            data = b""
            while len(data) < REPLY.size:
                part = await loop.sock_recv(self._control, REPLY.size - len(data))
                if not part:
                    raise ConnectionResetError("the parent of the workers is gone")
                data += part
        return int(REPLY.unpack(data)[0])

    async def _new_worker(self) -> _Worker:
        async with self._nursery_lock:
            try:
                return await self._fork()
            except (ConnectionError, BrokenPipeError):
                await self._end_nursery()
                await self._start_nursery()
                return await self._fork()

    async def _fork(self) -> _Worker:
        assert self._control is not None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                socket.send_fds(self._control, [REQUEST.pack(b"f", 0)], [theirs.fileno()])
                pid = await self._reply()
        except BaseException:
            ours.close()
            raise
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        return _Worker(pid, reader, writer)

    async def _discard(self, worker: _Worker) -> None:
        await _hang_up(worker)
        async with self._nursery_lock:
            if self._control is not None:
                request = REQUEST.pack(b"k", worker.pid)
                try:
                    await asyncio.get_running_loop().sock_sendall(self._control, request)
                except ConnectionError:
                    return

    async def _end_nursery(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            await self._process.wait()


async def _hang_up(worker: _Worker) -> None:
    worker.writer.close()
    with contextlib.suppress(ConnectionError):
        await worker.writer.wait_closed()


async def _receive(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly(length(await reader.readexactly(HEADER_BYTES)))
