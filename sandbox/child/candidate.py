"""The candidate's process in an assert run: defines the program, then does what the test code asks of it."""

from __future__ import annotations

import builtins
import io
import json
import sys
import warnings
from contextlib import suppress
from types import ModuleType
from typing import Any

from sandbox.child import bare_stack, followed, known, report, surroundings
from sandbox.child.link import Link
from sandbox.child.program import FILE_NAME, UnusableError, choose

MODULE_NAME = "solution"


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Run the job's program as a module and serve its objects over `peer_fd` until the test code is done."""
    try:
        request = json.loads(job)
        program = choose(request)
    except UnusableError as error:
        report.send(channel_fd, {"state": error.state, "message": error.message})
        return
    report.send(channel_fd, {"state": "ready"})
    if peer_fd is None:
        raise ValueError("no peer")
    link = Link(peer_fd, decides=False)
    surroundings.open_streams()
    printed = _Printed()
    sys.stdout = printed
    sys.stdin = _Given(link)
    link.take_output = printed.take
    builtins.input = lambda prompt="": link.request("input", (str(prompt),))
    warnings.warn = lambda text, category=UserWarning, *_, **__: link.request("warn", (text, category))  # type: ignore[assignment]
    module = surroundings.fresh_module(MODULE_NAME, FILE_NAME, program.source)
    surroundings.settle(FILE_NAME)
    bare_stack.call(exec, program.code, module.__dict__)
    link.operations.names = lambda names: chosen(module.__dict__, names, request["entry_point"])
    link.operations.follow = lambda what: followed.follow(link, what)
    link.serve()


class _Given(io.TextIOBase):
    """Standard input of the program: what the test process has, which may have replaced it."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.buffer = _GivenBytes(link)

    encoding = "utf-8"

    def readable(self) -> bool:
        """It is."""
        return True

    def fileno(self) -> int:
        """The descriptor, for what is read past this stream."""
        return 0

    def read(self, size: int | None = -1, /) -> str:
        """As of any text stream."""
        return str(self._link.request("read", ("read", -1 if size is None else size)))

    def readline(self, size: int = -1, /) -> str:  # type: ignore[override]
        """As of any text stream."""
        return str(self._link.request("read", ("readline", size)))


class _GivenBytes(io.BufferedIOBase):
    """The same in bytes."""

    def __init__(self, link: Link) -> None:
        self._link = link

    def readable(self) -> bool:
        """It is."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """As of any stream."""
        return bytes(self._link.request("read", ("buffer.read", -1 if size is None else size)))

    def readline(self, size: int | None = -1, /) -> bytes:
        """As of any stream."""
        return bytes(self._link.request("read", ("buffer.readline", -1 if size is None else size)))


class _Printed(io.TextIOWrapper):
    """Standard output of the program: it comes out in the test process, which may have redirected it."""

    def __init__(self) -> None:
        self._bytes = io.BytesIO()
        super().__init__(self._bytes, "utf-8", "surrogateescape", "\n")

    def fileno(self) -> int:
        """The descriptor, for what is written past this stream."""
        return 1

    def take(self) -> str:
        """What was printed since the last time, also through a stream that the program laid over this one."""
        for stream in (sys.stdout, self):
            with suppress(Exception):
                stream.flush()
        printed = self._bytes.getvalue()
        if printed:
            self._bytes.seek(0)
            self._bytes.truncate()
        return printed.decode("utf-8", "replace")


def chosen(namespace: dict[str, Any], names: list[str], entry_point: str | None) -> dict[str, Any]:
    """What the program defines of these names; an entry point may be a method of `Solution`."""
    chosen = {name: namespace[name] for name in names if name in namespace and _can_be_told(namespace[name])}
    solution = namespace.get("Solution")
    if entry_point is not None and entry_point not in chosen and isinstance(solution, type):
        method = getattr(solution(), entry_point, None)
        if method is not None:
            chosen[entry_point] = method
    return chosen


def _can_be_told(value: Any) -> bool:
    return not isinstance(value, ModuleType) or known.name_of(value, trusted=False) is not None
