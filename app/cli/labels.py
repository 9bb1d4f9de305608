"""`goldcheck labels`: labels that were made elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli.database import database_url
from app.cli.errors import CommandError
from app.cli.progress import reading

labels = typer.Typer(help="Labels of stored verdicts.", no_args_is_help=True)


@labels.callback()
def _group() -> None:
    pass  # with a callback, one command alone is still called by its name


@labels.command("import")
def import_labels(
    file: Annotated[Path, typer.Argument(help="Exported verdicts with labels, or a label a line.")],
) -> None:
    """Store the labels of a file that are not there yet; the same file again changes nothing.

    A line is an exported verdict, or `{"verdict_id", "answer", "labeler", "cause"?, "note"?, "drawn"?}`. A
    label without `drawn: true` is a regression test and counts in no rate. Exit status: 0 all were stored or
    known, 1 some lines were bad or their verdicts are not stored here, 2 wrong use.
    """
    from app.ids import IdMaker
    from audit.connections import Database
    from audit.errors import AuditError
    from audit.label_import import BadLabelLineError, Importer
    from audit.labels import LabelBook

    url = database_url()
    importer = Importer(LabelBook(url, IdMaker()), Database(url))
    bad = 0
    try:
        source = file.open("rb")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    with source, reading(file, "lines read") as (progress, task):
        for number, line in enumerate(source, 1):
            try:
                if not line.isspace():
                    importer.add_line(line)
            except BadLabelLineError as error:
                bad += 1
                message = f"{file}, line {number}: {error}"
                progress.console.print(message, markup=False, highlight=False, soft_wrap=True)
            except AuditError as error:
                raise CommandError(f"line {number}: {error}; the same command goes on from here") from None
            progress.update(task, completed=source.tell() if source.seekable() else None, lines=number)
    results = importer.results
    unknown = results.get("unknown_verdict", 0)
    typer.echo(
        f"{results.get('added', 0):,} labels stored, {results.get('known', 0):,} known, "
        f"{unknown:,} of verdicts that are not stored here, {bad:,} bad lines"
    )
    if bad or unknown:
        raise CommandError("not all labels were stored", 1)
