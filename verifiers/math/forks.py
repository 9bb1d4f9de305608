"""The service's side of the nursery: starts it, asks it for workers and for their end."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path

from verifiers.math.nursery_protocol import REPLY, REQUEST

START_TIMEOUT_S = 30.0
_ROOT = Path(__file__).resolve().parents[2]


class Forks:
    """The process that forks workers; one that is gone is replaced at the next need."""

    def __init__(self) -> None:
        self.process: asyncio.subprocess.Process | None = None
        self._control: socket.socket | None = None
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Start the process. Raises `OSError` or `TimeoutError` when it does not come up."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        ours.setblocking(False)
        # Packages are found where this process finds them, however it was started; nothing else is handed on.
        paths = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
        environment = {"PYTHONHASHSEED": "0", "PYTHONPATH": paths}
        with theirs:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "verifiers.math.nursery", str(theirs.fileno()),
                pass_fds=(theirs.fileno(),), env=environment, cwd=_ROOT, stdin=asyncio.subprocess.DEVNULL,
            )  # fmt: skip
        self._control = ours
        await self._reply()

    async def close(self) -> None:
        """End the process and with it all workers."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self.process is not None:
            await self.process.wait()
            self.process = None

    async def fork(self) -> tuple[int, socket.socket]:
        """A new worker: its pid and the socket to it. Raises `OSError` or `TimeoutError`."""
        async with self._lock:
            try:
                return await self._fork()
            except ConnectionError:
                await self.close()
                await self.start()
                return await self._fork()

    async def kill(self, pid: int) -> None:
        """Kill a worker; nothing when the process that forked it is gone."""
        async with self._lock:
            if self._control is not None:
                try:
                    await asyncio.get_running_loop().sock_sendall(self._control, REQUEST.pack(b"k", pid))
                except ConnectionError:
                    return

    async def _fork(self) -> tuple[int, socket.socket]:
        if self._control is None:
            raise ConnectionResetError("the parent of the workers is gone")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                socket.send_fds(self._control, [REQUEST.pack(b"f", 0)], [theirs.fileno()])
                return await self._reply(), ours
        except BaseException:
            ours.close()
            raise

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
