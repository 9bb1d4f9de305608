"""The C library calls that Python has no binding for. Imported before any fence is up."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sandbox.bare import signal

Call = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function with its arguments, for later."""

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_RAISE = 2
PR_CAP_AMBIENT_CLEAR_ALL = 4

_CAPABILITY_VERSION = 0x20080522
_SIGNAL_SET_BYTES = 128

prctl = _libc.prctl
syscall = _libc.syscall
syscall.restype = ctypes.c_long


def check(value: int, what: str) -> int:
    """Return `value`, or raise `OSError` naming the call when it is negative."""
    if value < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return value


def set_process(option: int, value: int) -> None:
    """`prctl(option, value)`."""
    check(prctl(option, value, 0, 0, 0), f"prctl {option}")


def unshare(flags: int) -> None:
    """Leave the named namespaces for new ones."""
    check(_libc.unshare(flags), "unshare")


def set_capabilities(permitted: int, inheritable: int) -> None:
    """Masks of capabilities; all that are permitted are in effect."""
    low, high = 0xFFFFFFFF, 32
    header = struct.pack("Ii", _CAPABILITY_VERSION, 0)
    words = [mask >> shift & low for shift in (0, high) for mask in (permitted, permitted, inheritable)]
    check(_libc.capset(header, struct.pack("6I", *words)), "capset")


def signal_fd(number: int) -> int:
    """A descriptor that is readable when signal `number`, which has to be blocked, has come."""
    return check(_libc.signalfd(-1, _signal_set(number), os.O_CLOEXEC | os.O_NONBLOCK), "signalfd")


def unblocking(number: int) -> Call:
    """A call, and its arguments, that lets signal `number` come again."""
    return _libc.sigprocmask, (signal.SIG_UNBLOCK, _signal_set(number), None)


def _signal_set(number: int) -> bytes:
    return (1 << number - 1).to_bytes(_SIGNAL_SET_BYTES, sys.byteorder)


def mount(source: str, target: str, kind: str | None, flags: int, data: str = "") -> None:
    """`mount(2)`; see there."""
    encoded: list[Any] = [os.fsencode(source), os.fsencode(target), kind.encode() if kind else None]
    check(_libc.mount(*encoded, ctypes.c_ulong(flags), data.encode()), f"mount {target}")


def give_back_memory() -> None:
    """Return what `free` has kept to the kernel."""
    with suppress(AttributeError):  # not glibc
        _libc.malloc_trim(0)


def set_default_thread_stack(size: int) -> None:
    """Threads get stacks of `size` bytes whatever RLIMIT_STACK was when the process began."""
    attributes = ctypes.create_string_buffer(64)  # sizeof(pthread_attr_t): 56 on x86_64, 64 on aarch64
    try:
        change = _libc.pthread_setattr_default_np
    except AttributeError:
        return  # not glibc: thread stacks do not follow RLIMIT_STACK there
    _libc.pthread_attr_init(attributes)
    _libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(size))
    change(attributes)
