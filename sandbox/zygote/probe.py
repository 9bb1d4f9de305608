"""The self-test, run like any program: tries what must be refused, and says on the channel what was."""

from __future__ import annotations

import ctypes
import json
import os
import resource
from collections.abc import Callable
from typing import Any

from sandbox.bare import signal, socket

_PTRACE_ATTACH = 16
_FEW_TASKS = 3
"""Zygotes of the same user count, too."""


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """job: JSON, `{"forbidden": path}` or `{}`; writes `{attempt: refused}` to the channel."""
    del peer_fd
    targets = json.loads(job)
    attempts: dict[str, Callable[[], Any]] = {
        "network": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        "signals": lambda: os.kill(os.getppid(), 0),
        "tracing": _trace_parent,
    }
    if "forbidden" in targets:
        attempts["files"] = lambda: open(targets["forbidden"], "rb").close()
        attempts["listing"] = lambda: os.listdir("/proc")
        attempts["tasks"] = _start_tasks
    answers = {name: _refused(attempt) for name, attempt in attempts.items()}
    answers["work"] = _can_write()
    os.write(channel_fd, json.dumps(answers).encode())


def _refused(attempt: Callable[[], Any]) -> bool:
    try:
        attempt()
    except OSError:
        return True
    return False


def _trace_parent() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.ptrace(_PTRACE_ATTACH, os.getppid(), None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def _start_tasks() -> None:
    """More than a bound that is set here; they end with the run."""
    resource.setrlimit(resource.RLIMIT_NPROC, (_FEW_TASKS, _FEW_TASKS))
    for _ in range(2 * _FEW_TASKS):
        if os.fork() == 0:
            signal.pause()


def _can_write() -> bool:
    try:
        with open("probe", "wb") as file:
            file.write(b"x")
        os.unlink("probe")
    except OSError:
        return False
    return True
