"""What a Python program finds around it when it starts: streams, argv, modules, recursion limit."""

from __future__ import annotations

import gc
import io
import linecache
import os
import sys
from types import ModuleType

RECURSION_LIMIT = 1000
_STREAMS = (
    (0, "stdin", "surrogateescape"),
    (1, "stdout", "surrogateescape"),
    (2, "stderr", "backslashreplace"),
)


_made: list[bool] = []
"""Not empty once a zygote has made the streams of its children."""


def prepare_streams() -> None:
    """Make the streams of all children here and now, on pipes, which is what they will find there."""
    kept = [os.dup(fd) for fd, _, _ in _STREAMS]
    reader, writer = os.pipe()
    for fd, _, _ in _STREAMS:
        os.dup2(writer if fd else reader, fd)
    open_streams()
    for (fd, _, _), old in zip(_STREAMS, kept, strict=True):
        os.dup2(old, fd)
        os.close(old)
    os.close(reader)
    os.close(writer)
    _made.append(True)


def open_streams() -> None:
    """Put fresh standard streams on descriptors 0 to 2, as the interpreter does at start."""
    if _made:
        return
    for fd, name, errors in _STREAMS:
        stream = _stream(fd, f"<{name}>", errors)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(fd: int, name: str, errors: str) -> io.TextIOWrapper:
    mode = "r" if fd == 0 else "w"
    buffer = open(fd, mode + "b", closefd=False)  # noqa: SIM115 - the program's own from here on
    buffer.raw.name = name  # type: ignore[attr-defined]
    stream = io.TextIOWrapper(buffer, "utf-8", errors, "\n", line_buffering=fd == 2)
    setattr(stream, "mode", mode)  # noqa: B010 - typed as read-only, and set so by the interpreter itself
    return stream


def forget_harness() -> None:
    """Take our own modules out of `sys.modules`, unless that is done; running functions keep them alive."""
    if "sandbox" not in sys.modules:
        return
    for name in [name for name in sys.modules if name == "sandbox" or name.startswith("sandbox.")]:
        del sys.modules[name]


def fresh_module(name: str, file_name: str, source: str) -> ModuleType:
    """A new, registered module as `python file_name` would make it; its lines are known to tracebacks."""
    module = ModuleType(name)
    module.__file__ = f"{os.getcwd()}/{file_name}"  # noqa: PTH109 - pathlib is not loaded in a zygote
    module.__dict__.update(__builtins__=sys.modules["builtins"], __annotations__={}, __cached__=None)
    sys.modules[name] = module
    linecache.cache[file_name] = (len(source), None, source.splitlines(keepends=True), file_name)
    return module


def settle(file_name: str, *, imports_from_work: bool = True) -> None:
    """Everything else a script may look at.

    imports_from_work: whether modules in the work folder are found, as beside a script. Never where test code
    decides: the candidate writes to that folder too.
    """
    sys.argv = [file_name]
    if imports_from_work:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    forget_harness()
    gc.enable()


def allow_own_frames() -> None:
    """Let the program recurse as deep as it could without the frames below it; called just before `exec`."""
    depth = int(sys.version_info < (3, 12))  # `exec` itself, while calls into C counted
    frame = sys._getframe(1)  # noqa: SLF001 - the only way to see the stack
    while frame is not None:
        depth += 1
        frame = frame.f_back  # type: ignore[assignment]
    sys.setrecursionlimit(RECURSION_LIMIT + depth)
