"""The candidate's process in an assert run: defines the program, then does what the test code asks of it."""

from __future__ import annotations

import builtins
import io
import json
import sys
from typing import Any

from sandbox.child import report, surroundings
from sandbox.child.link import Link
from sandbox.child.program import FILE_NAME, UnusableError, choose

MODULE_NAME = "solution"


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Run the job's program as a module and serve its objects over `peer_fd` until the test code is done."""
    try:
        program = choose(json.loads(job))
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
    link.take_output = printed.take
    builtins.input = lambda prompt="": link.request("input", (str(prompt),))
    module = surroundings.fresh_module(MODULE_NAME, FILE_NAME, program.source)
    surroundings.settle(FILE_NAME)
    surroundings.allow_own_frames()
    exec(program.code, module.__dict__)  # noqa: S102 - this is the job
    link.operations.names = lambda names: _chosen(module.__dict__, names)
    link.serve()


class _Printed(io.StringIO):
    """Standard output of the program: it comes out in the test process, which may have redirected it."""

    def take(self) -> str:
        """What was printed since the last time."""
        text = self.getvalue()
        if text:
            self.seek(0)
            self.truncate()
        return text


def _chosen(namespace: dict[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: namespace[name] for name in names if name in namespace and not name.startswith("__")}
