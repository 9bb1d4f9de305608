"""Repeats of an Idempotency-Key: counted once, answered with the first reply while this worker holds it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from time import monotonic

import structlog

from app.claims import Claims
from app.errors import Problem
from app.replies import Chunks
from app.runs import Run

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class _Keyed:
    body: bytes
    run: Run
    counted: bool
    until: float


class Idempotency:
    """The runs of keyed requests, in flight and done. `claims`: shared with other workers, or None."""

    def __init__(self, claims: Claims | None, window_s: float, max_bytes: int) -> None:
        self._claims = claims
        self._window_s = window_s
        self._max_bytes = max_bytes
        self._running: dict[bytes, _Keyed] = {}
        self._done: OrderedDict[bytes, _Keyed] = OrderedDict()
        self._done_bytes = 0

    def find(self, key: bytes, body: bytes) -> Run | None:
        """The run that the same request began before, if this worker still holds it.

        Raises Problem `idempotency_mismatch` when the key came with another body.
        """
        keyed = self._running.get(key) or self._done.get(key)
        if keyed is None or (key in self._done and keyed.until <= monotonic()):
            return None
        if keyed.body != body:
            raise Problem("idempotency_mismatch")
        return keyed.run

    def begin(
        self,
        key: bytes,
        body: bytes,
        source: Callable[[bool], Chunks],
        when_done: Callable[[], None],
    ) -> Run:
        """Start the run of a request. It goes on when its caller leaves: with a key, the caller comes again.

        source: gives the replies; told whether they are to be counted. Raises Problem as `find` does.
        """
        counted = self._claim(key, body)
        run = Run(source(counted))
        self._running[key] = _Keyed(body, run, counted, monotonic() + self._window_s)
        run.task.add_done_callback(lambda task: self._end(key, task, when_done))
        return run

    async def close(self) -> None:
        """Stop what still runs."""
        tasks = [keyed.run.task for keyed in self._running.values()]
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
        keyed = self._running.pop(key)
        if task.cancelled() or task.exception() is not None:
            if keyed.counted:
                self._release(key)
            return
        self._forget(key)
        self._done[key] = keyed
        self._done_bytes += keyed.run.size
        now = monotonic()
        while self._done and (self._done_bytes > self._max_bytes or self._oldest.until <= now):
            self._forget(next(iter(self._done)))

    @property
    def _oldest(self) -> _Keyed:
        return next(iter(self._done.values()))

    def _forget(self, key: bytes) -> None:
        keyed = self._done.pop(key, None)
        if keyed is not None:
            self._done_bytes -= keyed.run.size

    def _release(self, key: bytes) -> None:
        if self._claims is None:
            return
        try:
            self._claims.release(key)
        except sqlite3.Error as error:
            _log.warning("an idempotency key could not be released", error=str(error))


def digest(*parts: bytes | bytearray) -> bytes:
    """A short name for some bytes."""
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.digest()
