"""Run the program as a script: what `python main.py` does, in a process that is already there."""

from __future__ import annotations

import os

from sandbox.child import bare_stack, report, surroundings, uncaught
from sandbox.child.program import FILE_NAME, Program, UnusableError, choose


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Run the job's program on descriptors 0 to 2; nothing is open besides when its first line runs."""
    del peer_fd
    try:
        request = report.read(job)
        program = choose(request)
    except UnusableError as error:
        report.send(channel_fd, {"state": error.state, "message": error.message})
        return
    report.send_ready(channel_fd, program.compiled(request.get("keep", 0)))
    os.close(channel_fd)
    del job, request
    run(program)


def run(program: Program) -> None:
    """Execute as `__main__`; SystemExit passes through, to become the exit status."""
    surroundings.open_streams()
    module = surroundings.fresh_module("__main__", FILE_NAME, program.source)
    surroundings.settle(FILE_NAME)
    error: BaseException | None = None
    try:
        bare_stack.call(exec, program.code, module.__dict__)
    except SystemExit:
        raise
    except BaseException as raised:
        error = raised
    if error is not None:
        uncaught.show(error)
        raise (error if isinstance(error, KeyboardInterrupt) else SystemExit(1)) from None
