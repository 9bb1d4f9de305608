"""The background task: stored verdicts that have no second opinion yet, one by one, on a budget of time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Final, Protocol

import structlog

from app.auditor.looking import Looker, needs_sandbox
from app.background import Background
from app.boundary import boundary
from app.intake import Intake
from app.logs import describe_error
from app.rejudging import Stored, read_stored
from audit.errors import LogUnavailableError
from audit.lease import Lease
from audit.second_opinions import Findings, OpinionStore
from sandbox.errors import SandboxUnavailable

POLL_S = 5.0
"""How long to wait before asking again for work, for the lease, or for a database in trouble."""

IDLE_S: Final = 300.0
"""After so long without work, what only the work needs is ended: a process of some 90 MB."""

LEASE_S: Final = 120.0
"""Longer than most verdicts take; where one takes more, two processes may look at it: the first counts."""

BATCH: Final = 16
BUSY_PAUSE_S: Final = 0.05
MOST_S: Final = 300.0
"""Wall clock after which a verdict gets no second opinion."""

_MOST_SKIPPED: Final = 1000

_log: Final = structlog.get_logger()


class Observer(Protocol):
    """Told what was found, for metrics."""

    def second_opinion(self, verifier: str, findings: Findings) -> None:
        """A verdict has been looked at."""
        ...

    def audit_backlog(self, verdicts: int) -> None:
        """So many wait to be looked at."""
        ...


class Auditor:
    """Looks at stored verdicts while the service has nothing else to do, in one process per database.

    share: of the wall clock that it may work; it does one thing at a time, so that bounds its CPU time.
    is_busy: whether requests are under way. Nothing that goes wrong here reaches a request.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - its parts, put together once
        self,
        store: OpinionStore,
        lease: Lease,
        get: Callable[[str], bytes | None],
        intake: Intake,
        looker: Looker,
        observer: Observer,
        share: float,
        is_busy: Callable[[], bool],
    ) -> None:
        self._store = store
        self._lease = lease
        self._get = get
        self._intake = intake
        self._looker = looker
        self._observer = observer
        self._share = share
        self._is_busy = is_busy
        self._skipped: list[str] = []
        self._worked_at = perf_counter()
        self._background = Background("second opinions", self._work_or_rest, POLL_S, POLL_S)

    def start(self) -> None:
        """Begin, unless the budget is nothing."""
        if self._share > 0:
            self._background.start()

    async def close(self) -> None:
        """End at once; what was being looked at is looked at again another time."""
        if not await self._background.close():
            return
        await self._looker.close()
        with contextlib.suppress(LogUnavailableError):
            await asyncio.to_thread(self._lease.give_up)

    async def _work_or_rest(self) -> None:
        with contextlib.suppress(LogUnavailableError):  # the verdict log tells already
            await self._work()
            if perf_counter() - self._worked_at > IDLE_S:
                await self._looker.close()

    async def _work(self) -> None:
        """Look at everything there is, as long as this process holds the lease."""
        while ids := await asyncio.to_thread(self._store.due, BATCH, self._skipped):
            if not await asyncio.to_thread(self._lease.take):
                return
            self._observer.audit_backlog(await asyncio.to_thread(self._store.backlog))
            for verdict_id in ids:
                await self._pause_while_busy()
                began = perf_counter()
                await self._look(verdict_id)
                self._worked_at = perf_counter()
                await asyncio.sleep((perf_counter() - began) * (1 / self._share - 1))
                if not await asyncio.to_thread(self._lease.take):
                    return
            self._observer.audit_backlog(await asyncio.to_thread(self._store.backlog))
        self._skipped.clear()

    async def _pause_while_busy(self) -> None:
        while self._is_busy():
            await asyncio.sleep(BUSY_PAUSE_S)

    async def _look(self, verdict_id: str) -> None:
        document = await asyncio.to_thread(self._get, verdict_id)
        if document is None:
            return  # retention was faster
        verifier, findings = None, Findings()
        # Kept as looked at even after a fault: it would fail again, before all others.
        with boundary(partial(_tell_of, verdict_id)):
            try:
                stored = await asyncio.to_thread(read_stored, document, self._intake)
                async with asyncio.timeout(MOST_S):
                    findings = await self._look_interruptibly(stored)
                verifier = stored.verifier
            except (_InterruptedError, SandboxUnavailable):
                self._skipped = [*self._skipped, verdict_id][-_MOST_SKIPPED:]
                return
        if await asyncio.to_thread(self._store.keep, verdict_id, findings) and verifier is not None:
            self._observer.second_opinion(verifier, findings)

    async def _look_interruptibly(self, stored: Stored) -> Findings:
        """Look, but give way to requests when it takes what they need."""
        task = asyncio.create_task(self._looker.look(stored))
        try:
            while not task.done():
                await asyncio.wait({task}, timeout=BUSY_PAUSE_S)
                if not task.done() and needs_sandbox(stored) and self._is_busy():
                    raise _InterruptedError
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


class _InterruptedError(Exception):
    """Requests have come."""


def _tell_of(verdict_id: str, error: Exception) -> None:
    _log.error("no second opinion", verdict=verdict_id, **describe_error(error))
