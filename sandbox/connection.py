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


class Connection:
    """Starts a supervisor and talks to it. After `lost` is set it is of no more use."""

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
        self._writer: asyncio.StreamWriter | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Of the supervisor."""
        return self._process.pid

    async def start(self, config: Mapping[str, Any]) -> frames.Header:
        """Hand over the configuration; returns what the supervisor says about the host."""
        reader, self._writer = await asyncio.open_unix_connection(sock=self._sock, limit=_READ_BYTES)
        answer = self._expect(0)
        self._reading = asyncio.create_task(self._read(reader))
        self._writer.write(frames.encode({"op": "start", **config}))
        return (await answer)[0]

    async def run(self, header: Mapping[str, Any], blobs: Sequence[bytes]) -> frames.Frame:
        """One run; when this is cancelled the run is killed. Raises `SupervisorLost`."""
        if self.lost or self._writer is None:
            raise SupervisorLost("the supervisor is gone")
        number = next(self._numbers)
        answer = self._expect(number)
        self._writer.write(frames.encode({"op": "run", "id": number, **header}, blobs))
        try:
            await self._writer.drain()
            return await answer
        except ConnectionError as error:
            raise SupervisorLost(str(error)) from error
        except asyncio.CancelledError:
            if not self.lost:
                self._writer.write(frames.encode({"op": "cancel", "id": number}))
            raise
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """End the supervisor and everything it runs."""
        if self._writer is not None:
            self._writer.close()
        else:
            self._sock.close()
        if self._reading is not None:
            self._reading.cancel()
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

    async def _read(self, reader: asyncio.StreamReader) -> None:
        decoder = frames.Decoder()
        try:
            while data := await reader.read(_READ_BYTES):
                for header, blobs in decoder.feed(data):
                    answer = self._waiting.get(header.get("id", 0))
                    if answer is not None and not answer.done():
                        answer.set_result((header, blobs))
        except (ConnectionError, frames.MalformedError):
            pass
        self._lose()

    def _lose(self) -> None:
        self.lost = True
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(SupervisorLost("the supervisor ended"))
        self._waiting.clear()
