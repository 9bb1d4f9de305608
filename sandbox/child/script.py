"""Run the program as a script: what `python main.py` does, in a process that is already there."""

from __future__ import annotations

import json
import os
import sys
from traceback import print_exception

from sandbox.child import report, surroundings
from sandbox.child.program import FILE_NAME, Program, UnusableError, choose


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Run the job's program on descriptors 0 to 2; nothing is open besides when its first line runs."""
    del peer_fd
    try:
        program = choose(json.loads(job))
    except UnusableError as error:
        report.send(channel_fd, {"state": error.state, "message": error.message})
        return
    report.send(channel_fd, {"state": "ready"})
    os.close(channel_fd)
    del job
    run(program)


def run(program: Program) -> None:
    """Execute as `__main__`; SystemExit passes through, to become the exit status."""
    surroundings.open_streams()
    module = surroundings.fresh_module("__main__", FILE_NAME, program.source)
    surroundings.settle(FILE_NAME)
    surroundings.allow_own_frames()
    try:
        exec(program.code, module.__dict__)  # noqa: S102 - this is the job
    except SystemExit:
        raise
    except BaseException as error:
        show_uncaught(error)
        raise SystemExit(1) from None


def show_uncaught(error: BaseException, frames: int = 1) -> None:
    """Show an exception through the program's own `sys.excepthook`, without `frames` frames of ours."""
    traceback = error.__traceback__
    for _ in range(frames):
        traceback = traceback.tb_next if traceback is not None else None
    error = error.with_traceback(traceback)
    try:
        if sys.excepthook is sys.__excepthook__:
            print_exception(error)
        else:
            sys.excepthook(type(error), error, traceback)
    except SystemExit:
        raise
    except BaseException as hook_error:
        sys.__excepthook__(type(hook_error), hook_error, hook_error.__traceback__)
        sys.__excepthook__(type(error), error, traceback)
