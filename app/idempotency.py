"""Repeats of an Idempotency-Key: counted once, answered with the first reply while this worker holds it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic

import structlog

from app.claims import Claims
from app.errors import Problem
from app.runs import Run
from app.scoring import Scored

_log = structlog.get_logger()


@dataclass(slots=True)
class _Kept:
    body: bytes
    run: Run
    until: float


class Idempotency:
    """The runs of keyed requests, in flight and done. `claims`: shared with other workers, or None."""

    def __init__(self, claims: Claims | None, window_s: float, max_bytes: int) -> None:
        self._claims = claims
        self._window_s = window_s
        self._max_bytes = max_bytes
        self._kept: OrderedDict[bytes, _Kept] = OrderedDict()

    def find(self, key: bytes, body: bytes) -> Run | None:
        """The run that the same request began before, if this worker still holds it.

        Raises Problem `idempotency_mismatch` when the key came with another body.
        """
        self._forget_old()
        kept = self._kept.get(key)
        if kept is None:
            return None
        if kept.body != body:
            raise Problem("idempotency_mismatch")
        return kept.run

    def begin(
        self,
        key: bytes,
        body: bytes,
        source: Callable[[bool], AsyncGenerator[list[Scored], None]],
        when_done: Callable[[], None],
    ) -> Run:
        """Start the run of a request. It goes on when its caller leaves: with a key, the caller comes again.

        source: gives the replies; told whether they are to be counted. Raises Problem as `find` does.
        """
        counted = self._claim(key, body)
        run = Run(source(counted))
        self._kept[key] = _Kept(body, run, monotonic() + self._window_s)
        run.task.add_done_callback(lambda task: self._end(key, task, when_done))
        return run

    async def close(self) -> None:
        """Stop what still runs."""
        tasks = [kept.run.task for kept in self._kept.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._claims is not None:
            self._claims.close()

    def _claim(self, key: bytes, body: bytes) -> bool:
        """Whether this request is to be counted."""
        if self._claims is None:
            return True
        try:
            claim = self._claims.claim(key, body)
        except sqlite3.Error as error:
            _log.warning("idempotency keys are not shared between workers", error=str(error))
            return True
        if claim == "mismatch":
            raise Problem("idempotency_mismatch")
        return claim == "first"

    def _end(self, key: bytes, task: asyncio.Task[None], when_done: Callable[[], None]) -> None:
        when_done()
        if task.cancelled() or task.exception() is not None:
            self._kept.pop(key, None)
            self._release(key)
        self._forget_old()

    def _release(self, key: bytes) -> None:
        if self._claims is None:
            return
        try:
            self._claims.release(key)
        except sqlite3.Error as error:
            _log.warning("an idempotency key could not be released", error=str(error))

    def _forget_old(self) -> None:
        """Forget replies past the window and the oldest beyond the bound on memory; never a run in flight."""
        now = monotonic()
        size = sum(kept.run.size for kept in self._kept.values())
        for key, kept in list(self._kept.items()):
            if now < kept.until and size <= self._max_bytes:
                break
            if kept.run.task.done():
                size -= kept.run.size
                del self._kept[key]


def digest(*parts: bytes | bytearray) -> bytes:
    """A short name for some bytes."""
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.digest()
