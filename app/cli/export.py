"""`goldcheck export`: what the verdict log has stored, as JSONL or Parquet."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.cli import conditions
from app.cli.database import database_url
from app.cli.errors import CommandError
from app.cli.output import written_whole
from app.cli.progress import counting

if TYPE_CHECKING:
    from audit.export import Exporter
    from audit.types import VerdictFilter

GROUP_ROWS = 2_000
"""Rows of one row group of a Parquet file."""


def export(  # noqa: PLR0913, PLR0917 - one for each condition
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: .jsonl or .parquet.")],
    rewards: Annotated[
        bool, typer.Option("--rewards", help='Instead: lines {"prompt_id", "rewards"}, by prompt and step.')
    ] = False,
    verifier: conditions.Verifier = None,
    data_source: conditions.DataSource = None,
    run: conditions.Run = None,
    stratum: conditions.Stratum = None,
    flag: conditions.Flag = None,
    second: conditions.Second = None,
    correct: conditions.Correct = None,
    labelled: conditions.Labelled = None,
) -> None:
    """Write stored verdicts with prompts, ground truths, responses, labels and inclusion probabilities.

    Reads the database of GOLDCHECK_DATA_DIR while the service runs. The file is there once it is whole.
    """
    from audit.errors import LogUnavailableError
    from audit.export import Exporter
    from audit.types import VerdictFilter

    wanted = VerdictFilter(
        verifier=verifier, data_source=data_source, run=run, stratum=stratum, flag=flag, second=second,
        correct=correct, labelled=labelled,
    )  # fmt: skip
    exporter = Exporter(database_url())
    try:
        with written_whole(output) as draft:
            if rewards:
                lines = (json.dumps(group).encode() + b"\n" for group in exporter.rewards(wanted))
                written = _write_lines(draft, lines)
            elif output.suffix == ".parquet":
                written = _write_parquet(draft, _documents(exporter, wanted))
            else:
                written = _write_lines(draft, (document + b"\n" for document in _documents(exporter, wanted)))
    except LogUnavailableError as error:
        raise CommandError(f"the verdict log cannot be read: {error}") from None
    typer.echo(f"{written:,} {'groups' if rewards else 'verdicts'} in {output}")


def _documents(exporter: Exporter, wanted: VerdictFilter) -> Iterator[bytes]:
    with counting(exporter.count(wanted), "exported") as (progress, task):
        for page in exporter.pages(wanted):
            yield from page
            progress.update(task, advance=len(page))


def _write_lines(path: Path, lines: Iterable[bytes]) -> int:
    written = 0
    with path.open("wb") as file:
        for line in lines:
            file.write(line)
            written += 1
    return written


def _write_parquet(path: Path, documents: Iterator[bytes]) -> int:
    from audit.export import COLUMNS, table_row

    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError:
        raise CommandError("Parquet needs pyarrow: pip install 'goldcheck[parquet]'") from None
    types = {
        str: arrow.string(),
        int: arrow.int64(),
        float: arrow.float64(),
        bool: arrow.bool_(),
        list: arrow.list_(arrow.string()),
    }
    schema: Any = arrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    written = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while chunk := list(itertools.islice(documents, GROUP_ROWS)):
            writer.write_table(arrow.Table.from_pylist([table_row(one) for one in chunk], schema))
            written += len(chunk)
    return written
