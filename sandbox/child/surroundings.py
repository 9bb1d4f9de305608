"""What a Python program finds around it when it starts: streams, argv, modules, recursion limit."""

from __future__ import annotations

import gc
import importlib
import io
import linecache
import os
import sys
from contextlib import suppress
from types import ModuleType
from typing import Any

from sandbox.bare import signal

_STREAMS = (
    (0, "stdin", "surrogateescape"),
    (1, "stdout", "surrogateescape"),
    (2, "stderr", "backslashreplace"),
)

_importing: Any = importlib.import_module("_frozen_importlib_external")
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


def path_of(file_name: str) -> str:
    """Where a program of that name lies, as far as it can tell: in the work folder."""
    return f"{os.getcwd()}/{file_name}"  # noqa: PTH109 - pathlib is not loaded in a zygote


def fresh_module(name: str, file_name: str, source: str) -> ModuleType:
    """A new, registered module as `python file_name` would make it; its lines are known to tracebacks."""
    module = ModuleType(name)
    path = path_of(file_name)
    module.__file__ = path
    loader = _importing.SourceFileLoader(name, path)
    module.__dict__.update(
        __loader__=loader, __builtins__=sys.modules["builtins"], __annotations__={}, __cached__=None
    )
    sys.modules[name] = module
    linecache.cache.clear()
    remember_lines(path, source)
    if any(word in source for word in _LOOKS_AT_FILE):
        write_new(path, source)
    return module


def remember_lines(path: str, source: str) -> None:
    """What warnings and tracebacks will quote."""
    lines = source.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    linecache.cache[path] = (len(source), None, lines, path)


def write_new(path: str, text: str) -> bool:
    """Write a file that is not there; False if it is, or cannot be written."""
    with (
        suppress(OSError, UnicodeEncodeError),
        open(path, "x", encoding="utf-8", newline="") as file,  # noqa: PTH123 - pathlib is not loaded here
    ):
        file.write(text)
        return True
    return False


_LOOKS_AT_FILE = ("__file__", "__loader__", "argv", "runpy", "spawn", "forkserver", "import main", "main.py")
"""What a program says that reads or starts its own file. Others find an empty folder (RULES R7)."""


def settle(file_name: str, *, imports_from_work: bool = True) -> None:
    """Everything else a script may look at.

    imports_from_work: whether modules in the work folder are found, as beside a script. Never where test code
    decides: the candidate writes to that folder too.
    """
    sys.argv = [file_name]
    sys.orig_argv = [sys.executable, file_name]
    if imports_from_work:
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    signal.signal(signal.SIGINT, signal.default_int_handler)
    forget_harness()
    gc.enable()
