"""The file that `goldcheck replay` writes: an item a line, and a replay that ended too early goes on."""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import IO

from app.cli.errors import CommandError
from app.cli.judged_by import JudgedBy
from audit.replay import Comparisons, Replayed


class ReplayResults:
    """What was judged again, counted and, where a path is given, kept. Use it with `with`.

    What the file holds already is counted first, and its items are `done`. All must be by the same versions
    of the verifiers and environments; a line that was not written to its end is cut off.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self.judged_by = JudgedBy(path)
        self.done: set[str] = set()
        self.comparisons = Comparisons()

    def __enter__(self) -> ReplayResults:
        if self._path is not None:
            try:
                self._file = self._path.open("a+b")
            except OSError as error:
                raise CommandError(f"{self._path}: {error.strerror}") from None
            try:
                self._read(self._file)
            except BaseException:
                self._file.close()
                raise
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def _read(self, file: IO[bytes]) -> None:
        file.seek(0)
        whole = 0
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n"):
                break
            try:
                self._count(Replayed.from_json(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                message = (
                    f"{self._path}, line {number}: not a result of goldcheck replay; the file is left alone"
                )
                raise CommandError(message) from None
            whole += len(line)
        file.truncate(whole)

    def add(self, item: Replayed) -> None:
        """Count and keep one item."""
        self._count(item)
        if self._file is not None:
            self._file.write(json.dumps(item.as_json()).encode() + b"\n")

    def flush(self) -> None:
        """Hand what was added to the operating system."""
        if self._file is not None:
            self._file.flush()

    def _count(self, item: Replayed) -> None:
        if item.now.version:  # else its request was refused, by no version
            self.judged_by.add(item.verifier, (item.now.version, item.now.environment))
        self.done.add(item.id)
        self.comparisons.add(item)
