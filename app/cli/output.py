"""A file that a command writes: whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from app.cli.errors import CommandError


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A file beside `path` to write into; it takes the place of `path` when all went well, else it goes."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield draft
        draft.replace(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from None
    finally:
        draft.unlink(missing_ok=True)
