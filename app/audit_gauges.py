"""Error rates and label backlog as metrics: worked out now and then from the database, off the event loop."""

from __future__ import annotations

import asyncio
from typing import Final

import structlog

from app.background import Background
from app.metrics import Metrics
from audit.errors import LogUnavailableError
from audit.estimate_queries import EstimateFilter
from audit.estimate_reader import EstimateReader

REFRESH_S: Final = 300.0
"""How old they may be: labels come in minutes, not in milliseconds."""

FIRST_S: Final = 15.0
"""After the start, when the database has been opened."""

_log: Final = structlog.get_logger()


class AuditGauges:
    """Sets the gauges of the audit every `REFRESH_S` seconds."""

    def __init__(self, reader: EstimateReader, metrics: Metrics) -> None:
        self._reader = reader
        self._metrics = metrics
        self._background = Background("gauges of the audit", self._keep_fresh, REFRESH_S, FIRST_S)

    def start(self) -> None:
        """Begin."""
        self._background.start()

    async def close(self) -> None:
        """Stop."""
        await self._background.close()

    def refresh(self) -> None:
        """Set all of them once. Blocks: call it in a thread. Raises `LogUnavailableError`."""
        everything = EstimateFilter()
        for group in self._reader.estimates("version", everything):
            verifier, version = group.key.verifier, group.key.version
            if verifier is None or version is None:
                continue
            found = group.estimates
            rates = {"fdr": found.accepts.rate, "for": found.rejects.rate, "fpr": found.fpr, "fnr": found.fnr}
            for name, rate in rates.items():
                self._metrics.error_ratio(verifier, version, name, rate.estimate, rate.lower, rate.upper)
            for side, summary in (("accept", found.accepts), ("reject", found.rejects)):
                self._metrics.labelled(verifier, version, side, summary.labels)
        self._metrics.incomplete_windows(len(self._reader.incomplete(everything)))

    async def _keep_fresh(self) -> None:
        try:
            await asyncio.to_thread(self.refresh)
        except LogUnavailableError as error:
            _log.warning("the audit's gauges are not set anew", reason=str(error))
