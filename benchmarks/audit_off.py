"""The service without the verdict log and without flags of its own: what `audit_cost` compares with.

Takes the arguments of `goldcheck`. There is no such setting: nobody should want verdicts that no one counted.
"""

from __future__ import annotations

from typing import Any

import app.scoring
import app.service
from app.cli import main
from audit.log import VerdictLog
from audit.types import Cell, LogStatus


class NoLog(VerdictLog):
    """A verdict log that keeps nothing."""

    def start(self) -> None:
        """Nothing to open."""

    async def close(self, deadline_s: float = 0.0) -> None:
        """Nothing to write."""

    def count(self, cell: Cell, n: int = 1) -> None:
        """Forget it."""

    def select(self, cell: Cell, verdict_id: str) -> None:
        """Store none."""

    async def acknowledge(self) -> bool:
        """All is there."""
        return True

    def status(self) -> LogStatus:
        """All is well."""
        return LogStatus(False, "", False, 0, 0, 0, 0)


class NoFlags:
    """In place of `Flagger`."""

    def __init__(self, *_: Any) -> None: ...

    def flags(self, _task: Any, verdict: Any, _stop: Any, known: tuple[str, ...]) -> tuple[str, ...]:
        """Those that others found."""
        return known + verdict.flags


if __name__ == "__main__":
    app.service.VerdictLog = NoLog  # type: ignore[misc, assignment]
    app.scoring.Flagger = NoFlags  # type: ignore[misc, assignment]
    main()
