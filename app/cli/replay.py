"""`goldcheck replay`: stored verdicts judged again, by the verifiers as they are now."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import conditions
from app.cli.database import database_url
from app.cli.errors import CommandError
from app.cli.progress import counting
from app.cli.rejudge import Judge, in_process, over_http
from app.cli.settings import load_settings

if TYPE_CHECKING:
    from app.cli.replay_results import ReplayResults
    from app.rejudging import Stored
    from audit.replay import Comparison, Comparisons
    from audit.types import VerdictFilter

CHUNK = 64


def replay(  # noqa: PLR0913, PLR0917 - one for each condition
    file: Annotated[
        Path | None, typer.Argument(help="Exported verdicts; without it, those of the database.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Results, a line each; a second run goes on there.")
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="Ask this service instead of judging here: http://any:KEY@host:port.")
    ] = None,
    verifier: conditions.Verifier = None,
    data_source: conditions.DataSource = None,
    run: conditions.Run = None,
    stratum: conditions.Stratum = None,
    flag: conditions.Flag = None,
    second: conditions.Second = None,
    correct: conditions.Correct = None,
    labelled: conditions.Labelled = None,
) -> None:
    """Judge stored verdicts again and show what flips, both ways, with McNemar's test.

    Labels are the regression tests of the verifiers: when a labelled verdict turns wrong, or is none any
    more, the exit status is 1. The conditions choose among the verdicts of the database. 2 wrong use, 130
    interrupted.
    """
    from app.cli.replay_results import ReplayResults
    from app.logs import configure_logging
    from audit.errors import LogUnavailableError
    from audit.types import VerdictFilter

    configure_logging("warning")
    wanted = VerdictFilter(
        verifier=verifier, data_source=data_source, run=run, stratum=stratum, flag=flag, second=second,
        correct=correct, labelled=labelled,
    )  # fmt: skip
    if file is not None and wanted != VerdictFilter():
        raise CommandError("conditions choose among the verdicts of the database, not of a file")
    try:
        with ReplayResults(output) as results, _documents(file, wanted) as (documents, total):
            asyncio.run(_replay(documents, total, url, results))
    except KeyboardInterrupt:
        goes_on = "; the same command goes on from here" if output is not None else ""
        raise CommandError(f"interrupted{goes_on}", 130) from None
    except LogUnavailableError as error:
        raise CommandError(f"the verdict log cannot be read: {error}") from None
    _show(results.comparisons)
    turned_wrong = sum(one.turned_wrong for one in results.comparisons.by_versions.values())
    if turned_wrong:
        raise CommandError(f"{turned_wrong:,} labelled verdicts turned wrong", 1)


async def _replay(documents: Iterator[bytes], total: int, url: str | None, results: ReplayResults) -> None:
    from app.rejudging import read_stored
    from audit.replay import Judged, Replayed

    async with _judging(url) as (judge, intake, identities):
        results.judged_by.check(identities)
        with counting(total, "judged again") as (progress, task):
            for number, chunk in enumerate(_chunks(documents)):
                items: list[Stored] = []
                for place, document in enumerate(chunk, number * CHUNK + 1):
                    try:
                        items.append(read_stored(document, intake))
                    except (KeyError, TypeError, ValueError):
                        raise CommandError(f"line {place}: not a verdict of `goldcheck export`") from None
                left = [item for item in items if item.id not in results.done]
                for item, now in zip(left, await judge(left), strict=True):
                    before = Judged(item.version, item.environment, item.correct, item.reason)
                    results.add(Replayed(item.id, item.verifier, before, now, item.answer))
                results.flush()
                progress.update(task, advance=len(items))


@contextlib.asynccontextmanager
async def _judging(url: str | None) -> AsyncIterator[Judge]:
    async with in_process(load_settings()) if url is None else over_http(url) as judge:
        yield judge


@contextlib.contextmanager
def _documents(file: Path | None, wanted: VerdictFilter) -> Iterator[tuple[Iterator[bytes], int]]:
    """The verdicts to judge, and how many they are."""
    from audit.export import Exporter

    if file is None:
        exporter = Exporter(database_url())
        yield (document for page in exporter.pages(wanted) for document in page), exporter.count(wanted)
        return
    try:
        source = file.open("rb")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    with source:
        total = sum(not line.isspace() for line in source)
        source.seek(0)
        yield (line for line in source if not line.isspace()), total


def _chunks(documents: Iterator[bytes]) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    for document in documents:
        chunk.append(document)
        if len(chunk) == CHUNK:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def _show(comparisons: Comparisons) -> None:
    for versions, comparison in sorted(comparisons.by_versions.items()):
        typer.echo("\n".join(_told(*versions, comparison)))
    for item in comparisons.turned_wrong:
        before, now = item.before, item.now
        typer.echo(
            f"{item.id}: {item.verifier} said {_word(before.correct)} ({before.reason}), now "
            f"{_word(now.correct)} ({now.reason}); the label says {item.answer}"
        )


def _told(verifier: str, before: str, now: str, one: Comparison) -> list[str]:
    """A comparison in lines that no terminal and no log is too narrow for."""
    flips = one.flips
    head = f"{verifier} {before}, now {now or 'none'}: {one.items:,} judged again"
    changed = (
        f"  reject > accept {flips.get('accepted', 0):,}, accept > reject {flips.get('rejected', 0):,} "
        f"(McNemar p {one.p_flips:.4g}), null now {flips.get('unscorable', 0):,}, "
        f"null before {flips.get('scored', 0):,}"
    )
    labelled = (
        f"  labelled {one.labelled:,}: wrong now {one.wrong:,}, turned wrong {one.turned_wrong:,}, "
        f"turned right {one.turned_right:,} (McNemar p {one.p_errors:.4g})"
    )
    return [head, changed, labelled]


def _word(correct: bool | None) -> str:
    return {True: "correct", False: "incorrect", None: "unscorable"}[correct]
