"""Calibrated rewards beside the replies' own, from a table that is made anew now and then, off the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

import structlog

from app.background import Background
from audit.calibration import Calibration, calibrate
from audit.errors import LogUnavailableError
from audit.estimate_reader import EstimateReader

REFRESH_S = 300.0
"""How old the table may be: labels come in minutes, not in milliseconds."""

_log: Final = structlog.get_logger()


class Calibrator:
    """Says what a verdict's stratum is worth.

    verifiers: names and versions of those that judge here.
    """

    def __init__(self, reader: EstimateReader, verifiers: Iterable[tuple[str, str]]) -> None:
        self._reader = reader
        self._verifiers = list(verifiers)
        self._table: dict[str, Calibration] = {}
        self._background = Background("calibrated rewards", self.refresh, REFRESH_S)

    def start(self) -> None:
        """Begin to make the table; until it is there nothing is calibrated."""
        self._background.start()

    async def close(self) -> None:
        """Stop."""
        await self._background.close()

    def fields(self, verifier: str, stratum: str) -> dict[str, Any]:
        """The fields of a reply: a chance, or null and the reason."""
        calibration = self._table.get(verifier)
        chance: float | None = None
        reason: str | None = None
        if stratum.startswith("unscorable/"):
            reason = "unscorable"
        elif calibration is None:
            reason = "not_ready"
        else:
            chance, reason = calibration.of(stratum)
        labels = 0 if calibration is None else calibration.labels
        return {"reward_calibrated": chance, "calibration": {"reason": reason, "labels": labels}}

    async def refresh(self) -> None:
        """Make the table anew. One that cannot be made leaves the last one in force."""
        for verifier, version in self._verifiers:
            try:
                self._table[verifier] = await asyncio.to_thread(calibrate, self._reader, verifier, version)
            except LogUnavailableError as error:
                _log.warning("rewards are not calibrated anew", verifier=verifier, reason=str(error))
