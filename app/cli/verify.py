"""`goldcheck verify`: score stored rollouts without a server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from app.cli.errors import CommandError
from app.cli.progress import reading
from app.cli.results import Line, Results, digest
from app.cli.settings import load_settings

if TYPE_CHECKING:
    from rich.progress import Progress

    from app.intake import Job
    from app.offline import Offline
    from app.scoring import Scored
    from app.settings import Settings

CHUNK_LINES = 512
CHUNK_BYTES = 32 << 20


def verify(
    file: Annotated[Path, typer.Argument(help="Rollouts: on each line a body of /v1/verify.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Results: a reply for each line, in order.")],
) -> None:
    """Score stored rollouts, and show how many were accepted, rejected and unscorable, by reason.

    Bad lines are named and left out. A run that was interrupted goes on where it stopped when it is started
    again, provided that the lines judged before and the verifiers are still the same. Exit status: 0 all
    lines were judged, 1 some were bad, 2 wrong use, 130 interrupted.
    """
    from app.logs import configure_logging

    settings = load_settings()
    configure_logging("warning")
    if output.exists() and file.exists() and output.samefile(file):
        raise CommandError(f"{output} cannot be both input and output")
    try:
        source = file.open("rb")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    with source, Results(output) as results:
        run = _Run(settings, source, results, str(file))
        run.check_unchanged()
        try:
            asyncio.run(run.judge())
        except KeyboardInterrupt:
            run.show_summary()
            raise CommandError("interrupted; the same command goes on from here", 130) from None
        run.show_summary()
        typer.echo(f"results in {output}")
    if run.bad_lines:
        raise CommandError(f"{run.bad_lines} bad lines were left out", 1)


class _Run:
    """One pass over the input."""

    def __init__(self, settings: Settings, source: BinaryIO, results: Results, name: str) -> None:
        self._settings = settings
        self._source = source
        self._results = results
        self._name = name
        self._began = time.monotonic()
        self._judged = 0
        self.bad_lines = 0

    async def judge(self) -> None:
        """Judge every line that has no result yet."""
        from app.offline import offline

        async with offline(self._settings) as service:
            self._results.judged_by.check(service.scorer.identities())
            with reading(Path(self._name), "judged") as (progress, task):
                for chunk in self._chunks():
                    jobs = self._read_jobs(chunk, service, progress)
                    await self._judge_chunk(jobs, service)
                    progress.update(task, completed=self._source.tell(), lines=self._judged)

    def check_unchanged(self) -> None:
        """Raise `CommandError` if lines that have a result are not what they were when it was made."""
        left = dict(self._results.done)
        for number, line in enumerate(self._lines(), 1):
            if not left:
                break
            before = left.pop(number, None)
            if before is not None and before != digest(line):
                raise self._changed(f"line {number} is another than when its result was written")
        if left:
            raise self._changed(f"there is a result for line {min(left)}, and no such line")
        self._source.seek(0)

    def _changed(self, how: str) -> CommandError:
        return CommandError(f"{self._name} has changed: {how}; choose another file for the results")

    async def _judge_chunk(self, jobs: list[tuple[Line, Job]], service: Offline) -> None:
        """Write results in the order of the input, each as soon as those before it are there."""
        ready: dict[int, Scored] = {}
        written = 0
        async with contextlib.aclosing(service.scorer.score([job for _, job in jobs])) as replies:
            async for some in replies:
                ready.update((scored.index, scored) for scored in some)
                while written in ready:
                    scored = ready.pop(written)
                    self._results.add(jobs[written][0], json.loads(scored.encoded), scored.encoded)
                    written += 1
                    self._judged += 1
                self._results.flush()

    def _read_jobs(
        self, chunk: list[tuple[int, bytes]], service: Offline, progress: Progress
    ) -> list[tuple[Line, Job]]:
        from app.body import parse_body
        from app.errors import Problem

        jobs = []
        for number, line in chunk:
            body = bytearray(line.strip())
            fault = ""
            if len(body) > self._settings.max_body_bytes:
                fault = f"longer than {self._settings.max_body_bytes} bytes"
            else:
                try:
                    jobs.append((Line(number, digest(line)), service.intake.single(parse_body(body))))
                except Problem as problem:
                    fault = problem.detail or problem.title
            if fault:
                self.bad_lines += 1
                message = f"{self._name}, line {number}: {fault}"
                progress.console.print(message, markup=False, highlight=False, soft_wrap=True)
        return jobs

    def _chunks(self) -> Iterator[list[tuple[int, bytes]]]:
        """Numbered lines without a result, some at a time."""
        chunk: list[tuple[int, bytes]] = []
        size = 0
        for number, line in enumerate(self._lines(), 1):
            if line.isspace() or number in self._results.done:
                continue
            chunk.append((number, line))
            size += len(line)
            if len(chunk) == CHUNK_LINES or size >= CHUNK_BYTES:
                yield chunk
                chunk, size = [], 0
        if chunk:
            yield chunk

    def _lines(self) -> Iterator[bytes]:
        """Lines, those beyond the limit on a body cut just above it."""
        most = self._settings.max_body_bytes + 1
        while line := self._source.readline(most):
            rest = line
            while len(rest) == most and not rest.endswith(b"\n"):
                rest = self._source.readline(most)
            yield line

    def show_summary(self) -> None:
        """Print how many were accepted, rejected and unscorable."""
        from rich.console import Console
        from rich.table import Table

        outcomes = self._results.outcomes
        total = outcomes.total()
        table = Table("outcome", "reason")
        table.add_column("responses", justify="right")
        table.add_column("share", justify="right")
        by_outcome: Counter[str] = Counter()
        for (name, _), n in outcomes.items():
            by_outcome[name] += n
        for name in ("accepted", "rejected", "unscorable"):
            n = by_outcome[name]
            table.add_row(name, "", f"{n:,}", f"{n / total:.1%}" if total else "", style="bold")
            for (outcome, reason), count in sorted(outcomes.items(), key=lambda entry: (-entry[1], entry[0])):
                if outcome == name:
                    table.add_row("", reason, f"{count:,}", f"{count / total:.1%}")
        Console().print(table)
        seconds = time.monotonic() - self._began
        before = len(self._results.done)
        typer.echo(
            f"{self._judged:,} judged in {seconds:.1f} s, {before:,} earlier, {self.bad_lines:,} bad lines"
        )
