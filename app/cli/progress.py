"""The progress bar of commands that read a file line by line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@contextlib.contextmanager
def reading(file: Path, done: str) -> Iterator[tuple[Progress, TaskID]]:
    """A bar over the bytes of `file`, on a terminal only; `done` names what its field `lines` counts."""
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True)
    with bars.Progress(
        bars.TextColumn(f"{{task.fields[lines]}} {done}"),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        yield progress, progress.add_task("", total=file.stat().st_size or None, lines=0)


@contextlib.contextmanager
def counting(total: int, done: str) -> Iterator[tuple[Progress, TaskID]]:
    """A bar over `total` things, on a terminal only; `done` says what has become of them."""
    from rich import progress as bars
    from rich.console import Console

    console = Console(stderr=True)
    with bars.Progress(
        bars.MofNCompleteColumn(),
        bars.TextColumn(done),
        bars.BarColumn(),
        bars.TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as progress:
        yield progress, progress.add_task("", total=total)
