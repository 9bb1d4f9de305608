"""The data folder: made when it is not there. Without it nothing is kept, but verdicts are given."""

from __future__ import annotations

from pathlib import Path

import structlog


def make_data_dir(folder: Path) -> None:
    """Make `folder` if it is not there; the log says why where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror
        structlog.get_logger().warning("the data folder cannot be made", folder=str(folder), reason=reason)


def no_folder_in(path: Path) -> Path | None:
    """What on the way to `path` is there and no folder: the setting is wrong then, not the disk."""
    there = next((part for part in (path, *path.parents) if part.exists()), None)
    return None if there is None or there.is_dir() else there
