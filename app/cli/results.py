"""The file that `goldcheck verify` writes: one reply a line, and a run that ended too early goes on."""

from __future__ import annotations

import fcntl
import json
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from app.cli.errors import CommandError
from app.cli.judged_by import JudgedBy


class Line(NamedTuple):
    """A line of the input, by its number from 1 and the digest of its text."""

    number: int
    digest: str


class Results:
    """Replies with number and digest of the line they answer: `{"line": 7, "input": "…", ...}`.

    Use it with `with`. What the file holds already is read first: those lines are `done`, by number, with
    their digests. A last line that was not written to its end is cut off. A file that holds anything else is
    not touched; `CommandError`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.done: dict[int, str] = {}
        self.judged_by = JudgedBy(path)
        self.outcomes: Counter[tuple[str, str]] = Counter()
        """How many `accepted | rejected | unscorable`, by reason or failure kind; what was done included."""

    def __enter__(self) -> Results:
        try:
            self._file = self._path.open("a+b")
        except OSError as error:
            raise CommandError(f"{self._path}: {error.strerror}") from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
        except BlockingIOError:
            self._file.close()
            raise CommandError(f"{self._path} is being written by another process") from None
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._file.close()

    def _read(self) -> None:
        self._file.seek(0)
        whole = 0
        for number, line in enumerate(self._file, 1):
            if not line.endswith(b"\n"):
                break
            self._count_line(number, line)
            whole += len(line)
        self._file.truncate(whole)

    def _count_line(self, number: int, line: bytes) -> None:
        try:
            reply = json.loads(line)
            self.done[int(reply["line"])] = str(reply["input"])
            self.outcomes[outcome(reply)] += 1
            verifier = reply["verifier"]
            self.judged_by.add(verifier["name"], (verifier["version"], verifier["environment"]))
        except (ValueError, KeyError, TypeError):
            message = f"{self._path}, line {number}: not a result of goldcheck verify; the file is left alone"
            raise CommandError(message) from None

    def add(self, line: Line, reply: dict[str, Any], encoded: bytes) -> None:
        """Append the reply to a line; `encoded` is the reply as JSON."""
        self._file.write(b'{"line":%d,"input":"%b",%b\n' % (line.number, line.digest.encode(), encoded[1:]))
        self.outcomes[outcome(reply)] += 1

    def flush(self) -> None:
        """Hand what was added to the operating system."""
        self._file.flush()


def digest(line: bytes) -> str:
    """Tells whether a line of the input is still the same; blanks around it do not count."""
    return blake2b(line.strip(), digest_size=8).hexdigest()


def outcome(reply: dict[str, Any]) -> tuple[str, str]:
    """`accepted`, `rejected` or `unscorable`, and the reason or failure kind."""
    if reply["status"] == "unscorable":
        return "unscorable", reply["failure"]["kind"]
    verdict = reply["verdict"]
    return ("accepted" if verdict["correct"] else "rejected"), verdict["reason"]
