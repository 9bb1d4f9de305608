"""Calls with no Python frame below them, as the interpreter makes them for a script.

A program that looks down the stack (`inspect.stack()`, `warnings.warn(stacklevel=..)`, depth of recursion)
would find the frames of this harness there. Only C code can be called without a frame, so for the time of
the call the thread's state is told that no frame is running. Where the layout of that state is not known,
nothing is done (docs/decisions/0022-a-script-in-a-running-interpreter.md).
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple


class _Layout(NamedTuple):
    """Offsets in a `PyThreadState`.

    frame: of the pointer to the running frame, or of one to a record that has it at `inner`. calls_count:
    whether a call of a C function is a level of recursion too.
    """

    remaining: int
    limit: int
    frame: int
    inner: int | None
    calls_count: bool


_LAYOUTS = {
    (3, 11): _Layout(32, 36, 56, 8, calls_count=True),
    (3, 12): _Layout(28, 32, 56, 0, calls_count=False),
    (3, 13): _Layout(44, 48, 72, None, calls_count=False),
}
_FRAME_IN_OBJECT = 24
"""Where a frame object has the pointer to its frame."""


class _State:
    """The state of the main thread, which stays where it is at a fork."""

    def __init__(self, layout: _Layout) -> None:
        get = ctypes.pythonapi.PyThreadState_Get
        get.restype = ctypes.c_void_p
        address: int = get()
        self.limit = ctypes.c_int.from_address(address + layout.limit)
        self.remaining = ctypes.c_int.from_address(address + layout.remaining)
        self.running = ctypes.c_void_p.from_address(address + layout.frame)
        self.inner = layout.inner
        self.bottom = int(layout.calls_count)

    def is_understood(self) -> bool:
        """Whether everything is where it should be."""
        if self.limit.value != sys.getrecursionlimit():
            return False
        running = self.running
        if self.inner is not None:
            running = ctypes.c_void_p.from_address((running.value or 0) + self.inner)
        frame = sys._getframe()  # noqa: SLF001 - the only way to see the stack
        return running.value == ctypes.c_void_p.from_address(id(frame) + _FRAME_IN_OBJECT).value


def call(function: Callable[..., Any], *args: Any) -> Any:
    """`function(*args)`, with no frame below."""
    state = _state
    if state is None:
        return function(*args)
    called = functools.partial(function, *args)  # C calls it: Python would link its frame to this one
    running = state.running
    if state.inner is not None:
        running = ctypes.c_void_p.from_address((running.value or 0) + state.inner)
    here = running.value
    # From here on only C code may run, for Python code would put its own frame in place again.
    state.remaining.value = state.limit.value + state.bottom
    running.value = None
    try:
        return called()
    finally:
        running.value = here


def _known_state() -> _State | None:
    layout = _LAYOUTS.get(sys.version_info[:2])
    is_usual = sys.implementation.name == "cpython" and not getattr(sys, "abiflags", "")
    if layout is None or not is_usual or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    state = _State(layout)
    return state if state.is_understood() else None


_state = _known_state()
