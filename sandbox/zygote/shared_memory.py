"""multiprocessing's semaphores and shared memory where /dev/shm is not ours: the same things in the work
folder.

glibc's `sem_open` and `shm_open` know only /dev/shm, which Landlock keeps shut unless it is a private
mount. Both are no more than a file that is mapped and shared, and any folder will do for that.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.machinery
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Sequence
from types import ModuleType
from typing import Any

_RECURSIVE_MUTEX = 0
_PAGE_BYTES = os.sysconf("SC_PAGESIZE")
_SEMAPHORE_BYTES = 32  # sizeof(sem_t) on 64-bit Linux


class _TimeSpec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


_libc = ctypes.CDLL(None, use_errno=True)


def _file(name: str) -> str:
    """Where the object called `name` lies; names begin with a slash and hold no other."""
    return f"{os.environ['TMPDIR']}/.shm-{name.lstrip('/')}"


class SemLock:
    """As `_multiprocessing.SemLock`; see Modules/_multiprocessing/semaphore.c in CPython."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        fd = os.open(_file(name), flags, 0o600)
        os.ftruncate(fd, _PAGE_BYTES)
        self._open(fd, kind, maxvalue, None if unlink else name)
        _libc.sem_init(self._semaphore, 1, value)
        if unlink:
            sem_unlink(name)

    @classmethod
    def _rebuild(cls, handle: int, kind: int, maxvalue: int, name: str) -> SemLock:
        del handle  # of another process
        self = cls.__new__(cls)
        self._open(os.open(_file(name), os.O_RDWR | os.O_CLOEXEC), kind, maxvalue, name)
        return self

    def _open(self, fd: int, kind: int, maxvalue: int, name: str | None) -> None:
        self._memory = importlib.import_module("mmap").mmap(fd, _PAGE_BYTES)
        os.close(fd)
        self._semaphore = ctypes.byref((ctypes.c_char * _SEMAPHORE_BYTES).from_buffer(self._memory))
        self.kind, self.maxvalue, self.name, self.handle = kind, maxvalue, name, id(self._memory)
        self._held = 0
        self._holder = 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Take it; False when that would block, or did for `timeout` seconds."""
        if self.kind == _RECURSIVE_MUTEX and self._is_mine():
            self._held += 1
            return True
        if not self._wait(block, timeout):
            return False
        self._held += 1
        self._holder = threading.get_ident()
        return True

    def release(self) -> None:
        """Give it back."""
        if self.kind == _RECURSIVE_MUTEX:
            if not self._is_mine():
                raise AssertionError("attempt to release recursive lock not owned by thread")
            if self._held > 1:
                self._held -= 1
                return
        elif self._get_value() >= self.maxvalue:
            raise ValueError("semaphore or lock released too many times")
        _libc.sem_post(self._semaphore)
        self._held -= 1

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def _wait(self, block: bool, timeout: float | None) -> bool:
        until = None
        if block and timeout is not None:
            seconds, part = divmod(time.time() + max(0.0, timeout), 1)
            until = _TimeSpec(int(seconds), int(part * 1e9))
        while True:
            if not block:
                failed = _libc.sem_trywait(self._semaphore)
            elif until is None:
                failed = _libc.sem_wait(self._semaphore)
            else:
                failed = _libc.sem_timedwait(self._semaphore, ctypes.byref(until))
            if not failed:
                return True
            if ctypes.get_errno() != errno.EINTR:
                return False

    def _count(self) -> int:
        return self._held

    def _is_mine(self) -> bool:
        return self._held > 0 and self._holder == threading.get_ident()

    def _get_value(self) -> int:
        value = ctypes.c_int()
        _libc.sem_getvalue(self._semaphore, ctypes.byref(value))
        return value.value

    def _is_zero(self) -> bool:
        return self._get_value() == 0

    def _after_fork(self) -> None:
        self._held = 0


def sem_unlink(name: str) -> None:
    """Remove a semaphore's name."""
    os.unlink(_file(name))


def _shm_open(path: str, flags: int, mode: int = 0o777) -> int:
    return os.open(_file(path), flags | os.O_CLOEXEC, mode)


def _shm_unlink(path: str) -> None:
    os.unlink(_file(path))


class _WithoutSharedFolder(importlib.machinery.SourceFileLoader):
    """Loads multiprocessing.heap, whose arenas would otherwise go to /dev/shm."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        module.Arena._dir_candidates = []  # noqa: SLF001


class _HeapFinder:
    """Finds multiprocessing.heap when, and if, a program imports it."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        if name != "multiprocessing.heap":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _WithoutSharedFolder(spec.loader.name, spec.loader.path)
        return spec


def keep_in_work_folder() -> None:
    """Make multiprocessing use the work folder in this process and those it forks."""
    semaphores: Any = importlib.import_module("_multiprocessing")
    semaphores.SemLock, semaphores.sem_unlink = SemLock, sem_unlink
    memory: Any = importlib.import_module("_posixshmem")
    memory.shm_open, memory.shm_unlink = _shm_open, _shm_unlink
    sys.meta_path.insert(0, _HeapFinder)
