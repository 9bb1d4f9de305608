"""`goldcheck lint`: read a data set's ground truths before a run is trained on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from app.cli.errors import CommandError
from app.cli.progress import reading


def lint(
    file: Annotated[Path, typer.Argument(help="A data set: on each line a JSON object with a ground truth.")],
    field: Annotated[
        str | None, typer.Option(help="Name of the ground truth; otherwise the usual names are tried.")
    ] = None,
) -> None:
    """Name ground truths that are unreadable, ambiguous, or too small for numeric tolerance, by line.

    Exit status: 0 every response can be judged, 1 some ground truths are unusable, 2 wrong use.
    """
    from verifiers.math.lint import lint_lines

    kinds: Counter[str] = Counter()
    fatal = lines = 0
    try:
        source = file.open("rb")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    with source, reading(file, "read") as (progress, task):
        for finding in lint_lines(_texts(source), field):
            if finding is None:
                lines += 1
                progress.update(task, completed=source.tell(), lines=lines)
                continue
            kinds[finding.kind] += 1
            fatal += finding.fatal
            weight = "error" if finding.fatal else "warning"
            message = f"{file}:{finding.line}: {weight}: {finding.kind}: {finding.message}"
            progress.console.print(message, markup=False, highlight=False, soft_wrap=True)
    summary = ", ".join(f"{n:,} {kind}" for kind, n in kinds.most_common()) or "nothing to say"
    typer.echo(f"{lines:,} lines: {summary}")
    if fatal:
        raise CommandError(f"{fatal:,} ground truths are unusable: no response to them can be judged", 1)


def _texts(source: BinaryIO) -> Iterator[str]:
    while line := source.readline():
        yield line.decode("utf-8", "replace")
