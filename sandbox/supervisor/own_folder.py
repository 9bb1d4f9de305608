"""The folder of a worker on disk, where no memory file system can be mounted."""

from __future__ import annotations

import os
from typing import Any

from sandbox.supervisor import copies, folder, placement
from sandbox.supervisor.locks import lock


def own_folder(run_dir: str, uid: int | None, keep: list[Any]) -> str:
    """A folder for this supervisor alone, which `uid` can enter; its lock is added to `keep`."""
    tried = []
    for place in (run_dir, *copies.OPEN_PLACES) if uid is not None else (run_dir,):
        try:
            path = _worker_folder(place, uid, keep)
        except OSError as error:
            tried.append(str(error))
            continue
        if uid is None or placement.can_enter(path, uid):
            return path
        tried.append(f"user {uid} cannot enter {path}")
    raise placement.Unplaceable("; ".join(tried))


def sweep(run_dir: str) -> None:
    """Remove what workers that are gone have left, wherever they may have had their folders."""
    for place in (run_dir, *copies.trusted_places()) if os.geteuid() == 0 else (run_dir,):
        workers = f"{place}/workers"
        for stale in os.listdir(workers) if os.path.isdir(workers) else ():
            if stale.isdigit() and (left := lock(f"{workers}/{stale}.lock")) is not None:
                _discard(f"{workers}/{stale}")
                os.unlink(f"{workers}/{stale}.lock")
                os.close(left)


def _worker_folder(place: str, uid: int | None, keep: list[Any]) -> str:
    """A numbered folder in `place`."""
    workers = f"{place}/workers"
    if uid is not None and place in copies.OPEN_PLACES:
        copies.make_open(place)
    os.makedirs(workers, exist_ok=True)
    number = 0
    while (held := lock(f"{workers}/{number}.lock")) is None:
        number += 1
    keep.append(held)
    path = f"{workers}/{number}"
    _discard(path)
    os.makedirs(path, mode=0o700 if uid is None else 0o755)
    return path


def _discard(path: str) -> None:
    if os.path.isdir(path):
        folder.empty(path)
        os.rmdir(path)
