"""Folders that programs write in: made fresh, measured, and removed whatever was done to them."""

from __future__ import annotations

import errno
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

_OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_QUICK_ENTRIES = 200
"""What is removed in place; a fuller folder is handed to a process of its own (`removal.py`)."""


def make(path: str, uid: int | None) -> None:
    """Create an empty folder that belongs to `uid` and that nobody else may enter."""
    os.mkdir(path, 0o700)  # this package handles paths as strings and descriptors
    if uid is not None:
        os.chown(path, uid, uid)


def entries(path: str, most: int) -> int:
    """How many entries lie in `path`, counted up to `most`; unreadable folders count as one."""
    count = 0
    pending = [path]
    while pending and count < most:
        try:
            with os.scandir(pending.pop()) as listing:
                for entry in listing:
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
                    if count >= most:
                        break
        except OSError:
            count += 1
    return count


def size(path: str, most_entries: int) -> tuple[int, int]:
    """Bytes of disk used beneath `path` and number of entries, both as far as `most_entries` reach."""
    total = count = 0
    pending = [path]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as listing:
            for entry in listing:
                count += 1
                if count > most_entries:
                    return total, count
                with suppress(OSError):
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        pending.append(entry.path)
    return total, count


def is_quick(path: str) -> bool:
    """Whether `empty` would be done in a moment."""
    return entries(path, _QUICK_ENTRIES) < _QUICK_ENTRIES


def empty(path: str) -> None:
    """Remove everything in `path`, which itself stays.

    Never follows a link, never descends: folders found inside are first moved up, so that depth, path lengths
    and open descriptors stay bounded. To be called when no process of the run is left.
    """
    top = os.open(path, _OPEN_FOLDER)
    numbers = itertools.count()
    try:
        while folders := _remove_files(top):
            for folder in folders:
                _flatten(top, folder, numbers)
    finally:
        os.close(top)


def _remove_files(folder: int) -> list[str]:
    """Remove all but folders; returns those."""
    folders = []
    for name in os.listdir(folder):
        if stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode):
            folders.append(name)
        else:
            os.unlink(name, dir_fd=folder)
    return folders


def _flatten(top: int, name: str, numbers: Iterator[int]) -> None:
    """Move the folders in `name` up to `top`, remove its files and itself."""
    os.chmod(name, 0o700, dir_fd=top)  # it may be closed even to its owner
    folder = os.open(name, _OPEN_FOLDER, dir_fd=top)
    try:
        for inner in _remove_files(folder):
            os.chmod(inner, 0o700, dir_fd=folder)  # moving a folder writes to it
            _move_up(folder, inner, top, numbers)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _move_up(folder: int, name: str, top: int, numbers: Iterator[int]) -> None:
    while True:
        try:
            os.rename(name, f".rest-{next(numbers)}", src_dir_fd=folder, dst_dir_fd=top)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
        else:
            return
