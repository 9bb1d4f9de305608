"""Shows an exception that ended a program, as the interpreter itself does."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sandbox.child import bare_stack, surroundings

OURS = 2
"""Frames of a traceback before the program's own: ours, and that of `bare_stack.call`."""


def show(error: BaseException, frames: int = OURS) -> None:
    """Show it through the program's `sys.excepthook`, without the first `frames` frames.

    To be called when the exception is no longer being handled, or it is the context of what a hook raises.
    Raises SystemExit where a hook does.
    """
    error = _without_frames(error, frames)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    hook = getattr(sys, "excepthook", None)
    if hook is None:
        _say("sys.excepthook is missing\n")
        _display(error)
        return
    if hook is sys.__excepthook__:
        _display(error)
        return
    fault = None
    try:
        bare_stack.call(hook, type(error), error, error.__traceback__)
    except SystemExit:
        raise
    except BaseException as raised:
        fault = _without_frames(raised, OURS)
    if fault is not None:
        _say("Error in sys.excepthook:\n")
        _display(fault)
        _say("\nOriginal exception was:\n")
        _display(error)


def _display(error: BaseException) -> None:
    with _lines_on_disk():
        sys.__excepthook__(type(error), error, error.__traceback__)


@contextmanager
def _lines_on_disk() -> Iterator[None]:
    """The interpreter's printer reads lines of source from files, where they are not: see `fresh_module`."""
    kept = [entry for entry in linecache.cache.values() if len(entry) > 1 and entry[1] is None]
    texts = {path: "".join(lines) for _, _, lines, path in kept}
    written = [path for path, text in texts.items() if surroundings.write_new(path, text)]
    try:
        yield
    finally:
        for path in written:
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - pathlib is not loaded in a zygote


def _without_frames(error: BaseException, frames: int) -> BaseException:
    traceback = error.__traceback__
    for _ in range(frames):
        traceback = traceback.tb_next if traceback is not None else None
    return error.with_traceback(traceback)


def _say(text: str) -> None:
    with suppress(BaseException):
        sys.stderr.write(text)
