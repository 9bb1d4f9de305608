"""The C++ standard library compiled ahead, as g++ reads it: a program compiles five times as fast with it."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import shutil
from contextlib import suppress
from pathlib import Path

from sandbox.languages.cpp import FLAGS

_HEADER = "bits/stdc++.h"
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
_log = logging.getLogger("goldcheck.sandbox")


class Headers:
    """Compiles it once for all workers and later starts, in the background, when the first program wants it.

    What is compiled is a line of ours, so this needs no sandbox. Until it is done, and where it cannot be
    done, programs compile without it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self.shown = ""
        """Where programs find the folder; empty if they cannot."""

    def folder(self) -> str:
        """Folder of headers for the compiler that is here; made if it is not there."""
        folder = self._root.resolve() / f"g++-{_identity()}"
        with suppress(OSError):  # the supervisor, which needs the run folder too, says what is wrong with it
            (folder / "bits").mkdir(parents=True, exist_ok=True)
        return str(folder)

    def wanted(self) -> None:
        """A C++ program is going to be compiled."""
        if self._task is None and self.shown:
            self._task = asyncio.create_task(self._compile(Path(self.folder())))

    async def close(self) -> None:
        """Stop compiling."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def _compile(self, folder: Path) -> None:
        compiled = folder / f"{_HEADER}.gch"
        with (folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # another worker is at it
            if compiled.exists():
                return
            source, unfinished = folder / "all.h", folder / "unfinished"
            source.write_text(f"#include <{_HEADER}>\n")
            command = (
                "nice",
                "-n",
                "19",
                "g++",
                *FLAGS,
                "-x",
                "c++-header",
                "-o",
                str(unfinished),
                str(source),
            )
            self._process = await asyncio.create_subprocess_exec(
                *command, env=_ENVIRONMENT, stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
            )
            _, told = await self._process.communicate()
            if self._process.returncode == 0:
                unfinished.chmod(0o644)
                unfinished.rename(compiled)
            else:
                _log.warning(
                    "the C++ library is not compiled ahead: %s", told.decode("utf-8", "replace")[-500:]
                )


def _identity() -> str:
    """Of the compiler: a header compiled by another one is of no use."""
    path = shutil.which("g++", path=_ENVIRONMENT["PATH"])
    if path is None:
        return "none"
    found = Path(path).stat()
    return f"{found.st_size:x}-{int(found.st_mtime):x}"
