"""Second opinions on texts, from a process of their own: a request never waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Final, Literal, NamedTuple

Route = Literal["math", "sympy"]

DEADLINE_S: Final = 60.0
"""Wall clock of one job: a backstop, since an idle-priority process may wait long for a core."""

_ROOT: Final = Path(__file__).resolve().parents[2]


class Said(NamedTuple):
    """What a route says of a response. correct: None when it cannot tell."""

    correct: bool | None
    reason: str


class TextWorker:
    """Starts the process when asked something, and again when a job has ended it. `close` at the end."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self.restarts = 0
        """Processes that a job has ended."""

    async def ask(self, route: Route, response: str, ground_truth: str | list[str], options: str) -> Said:
        """What `route` says; a job that takes too much of anything says nothing. options: JSON."""
        job = json.dumps([route, response, ground_truth, options]).encode() + b"\n"
        try:
            async with asyncio.timeout(DEADLINE_S):
                correct, reason = json.loads(await self._exchange(job))
        except (OSError, ValueError, TimeoutError):
            self.restarts += 1
            await self.close()
            return Said(None, "took more time or memory than it may")
        except asyncio.CancelledError:
            await self.close()
            raise
        return Said(correct, str(reason))

    async def close(self) -> None:
        """End the process; the next question starts another."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.communicate()

    async def _exchange(self, job: bytes) -> bytes:
        if self._process is None:
            self._process = await self._start()
        streams = self._process.stdin, self._process.stdout
        assert streams[0] is not None  # noqa: S101 - both are pipes
        assert streams[1] is not None  # noqa: S101
        streams[0].write(job)
        await streams[0].drain()
        return await streams[1].readline()

    @staticmethod
    async def _start() -> asyncio.subprocess.Process:
        # Packages are found where this process finds them; nothing else of the environment is handed on.
        paths = os.pathsep.join([str(_ROOT), *filter(None, sys.path)])
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "app.auditor.text_worker", stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE, env={"PYTHONHASHSEED": "0", "PYTHONPATH": paths}, cwd=_ROOT,
        )  # fmt: skip
