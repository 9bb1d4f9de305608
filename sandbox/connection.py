"""One supervisor process as seen from the service: frames out, futures back."""

from __future__ import annotations

import asyncio
import itertools
import socket
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox import frames
from sandbox.config import FLAGS

_BOOT = (
    "import sys; sys.path.append(sys.argv[2]); "
    "from sandbox.supervisor.main import main; main(int(sys.argv[1]))"
)
_READ_BYTES = 256 << 10
_END_S = 10.0


class SupervisorLost(Exception):  # noqa: N818 - a state, not a mistake
    """The supervisor is gone, or did not start. The text says what is known."""


class Connection(asyncio.BufferedProtocol):
    """Starts a supervisor and talks to it. After `lost` is set it is of no more use.

    A protocol of its own: streams would take another turn of the loop, and new memory, for each answer.
    """

    def __init__(self, executable: str, package_root: str) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            arguments = [str(theirs.fileno()), package_root]
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter
                [executable, *FLAGS, "-c", _BOOT, *arguments],
                env={},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        self.lost = False
        self._sock = ours
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[frames.Frame]] = {}
        self._transport: asyncio.Transport | None = None
        self._decoder = frames.Decoder()
        self._buffer = bytearray(_READ_BYTES)
        self._flowing = asyncio.Event()
        self._flowing.set()

    @property
    def pid(self) -> int:
        """Of the supervisor."""
        return self._process.pid

    async def start(self, config: Mapping[str, Any]) -> frames.Header:
        """Hand over the configuration; returns what the supervisor says about the host."""
        loop = asyncio.get_running_loop()
        answer = self._expect(0)
        self._transport, _ = await loop.create_unix_connection(lambda: self, sock=self._sock)
        self._transport.write(frames.encode({"op": "start", **config}))
        return (await answer)[0]

    async def run(self, header: Mapping[str, Any], blobs: Sequence[bytes]) -> frames.Frame:
        """One run; when this is cancelled the run is killed. Raises `SupervisorLost`."""
        if self.lost or self._transport is None:
            raise SupervisorLost("the supervisor is gone")
        number = next(self._numbers)
        answer = self._expect(number)
        self._transport.write(frames.encode({"op": "run", "id": number, **header}, blobs))
        try:
            await self._flowing.wait()
            return await answer
        except asyncio.CancelledError:
            if not self.lost:
                self._transport.write(frames.encode({"op": "cancel", "id": number}))
            raise
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the supervisor and everything it runs."""
        if self._transport is not None:
            self._transport.close()
        else:
            self._sock.close()
        self._lose()
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(None, self._process.wait, _END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            await loop.run_in_executor(None, self._process.wait)

    def _expect(self, number: int) -> asyncio.Future[frames.Frame]:
        answer: asyncio.Future[frames.Frame] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        return answer

    def get_buffer(self, sizehint: int) -> bytearray:
        """Where what comes next is put."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """So much has come."""
        try:
            for header, blobs in self._decoder.feed(memoryview(self._buffer)[:nbytes]):
                answer = self._waiting.get(header.get("id", 0))
                if answer is not None and not answer.done():
                    answer.set_result((header, blobs))
        except frames.MalformedError:
            self.connection_lost(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """The supervisor is gone, or nothing more of it can be read."""
        if self._transport is not None:
            self._transport.close()
        self._lose()

    def pause_writing(self) -> None:
        """The supervisor has fallen behind."""
        self._flowing.clear()

    def resume_writing(self) -> None:
        """It has caught up."""
        self._flowing.set()

    def _lose(self) -> None:
        self.lost = True
        self._flowing.set()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(SupervisorLost("the supervisor ended"))
        self._waiting.clear()
