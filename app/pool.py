"""Judging outside the event loop: side by side within bounds, equal tasks once, verdicts kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import NamedTuple

from app.cache import VerdictCache, task_key
from app.gate import Gate
from verifiers.base import PooledVerifier
from verifiers.types import Outcome, Task, Unscorable, Verdict


class Judged(NamedTuple):
    """An outcome and what it took: seconds waiting, seconds judging."""

    outcome: Outcome
    queue_s: float = 0.0
    verify_s: float = 0.0


class Flight:
    """One task being judged, for all that wait for it."""

    def __init__(self) -> None:
        self.future: asyncio.Future[Judged] | asyncio.Task[Judged]
        self.started = False
        self.waiting = 0


class Ticket:
    """One waiter's claim on a flight."""

    def __init__(self, pool: Pool, key: bytes, flight: Flight) -> None:
        self._pool = pool
        self._key = key
        self._flight = flight
        flight.waiting += 1

    def when_done(self, call: Callable[[], None]) -> None:
        """Call back on the event loop once there is a result."""
        self._flight.future.add_done_callback(lambda _: call())

    def result(self) -> Judged:
        """The result; raises what the verifier raised."""
        return self._flight.future.result()

    def give_up(self) -> None:
        """Wait no longer. Work that has not started, and that nobody else waits for, is dropped."""
        self._flight.waiting -= 1
        if not self._flight.waiting and not self._flight.started:
            self._pool.drop(self._key, self._flight)


class Pool:
    """Judges tasks of pooled verifiers; belongs to one event loop."""

    def __init__(self, width: int, timeout_s: float, cache: VerdictCache) -> None:
        self._gate = Gate(width)
        self._timeout_s = timeout_s
        self._cache = cache
        self._flights: dict[bytes, Flight] = {}

    def submit(self, verifier: PooledVerifier, task: Task, request: Hashable = None) -> Ticket:
        """Judge a task, or join an equal one in flight, or take the verdict kept from an earlier one.

        request: on whose behalf; those of different requests take turns.
        """
        key = task_key(verifier, task)
        flight = self._flights.get(key)
        if flight is None:
            flight = Flight()
            kept = self._cache.get(key)
            if kept is None:
                self._flights[key] = flight
                flight.future = asyncio.create_task(self._fly(flight, key, verifier, task, request))
                flight.future.add_done_callback(lambda _: self._land(key, flight))
            else:
                flight.future = asyncio.get_running_loop().create_future()
                flight.future.set_result(Judged(kept))
        return Ticket(self, key, flight)

    def drop(self, key: bytes, flight: Flight) -> None:
        """Cancel a flight, so that nobody joins it any more."""
        self._land(key, flight)
        flight.future.cancel()

    async def close(self) -> None:
        """Cancel what is still in flight."""
        flights = list(self._flights.items())
        for key, flight in flights:
            self.drop(key, flight)
        await asyncio.gather(*(flight.future for _, flight in flights), return_exceptions=True)

    def _land(self, key: bytes, flight: Flight) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
        if flight.future.done() and not flight.future.cancelled():
            flight.future.exception()  # seen, even when all waiters have left

    async def _fly(
        self, flight: Flight, key: bytes, verifier: PooledVerifier, task: Task, request: Hashable
    ) -> Judged:
        submitted = perf_counter()
        try:
            async with self._gate.shared(request):
                flight.started = True
                began = perf_counter()
                outcome = await self._judge(verifier, task)
        except _TooLateError:  # once more, with nothing beside it to slow it down
            async with self._gate.alone():
                began = perf_counter()
                outcome = await self._judge_again(verifier, task)
        verify_s = perf_counter() - began
        if isinstance(outcome, Verdict):
            self._cache.put(key, outcome)
        return Judged(outcome, began - submitted, verify_s)

    async def _judge_again(self, verifier: PooledVerifier, task: Task) -> Outcome:
        try:
            return await self._judge(verifier, task)
        except _TooLateError:
            message = f"no verdict within {self._timeout_s} s of wall clock, twice"
            return Unscorable("verifier_timeout", message)

    async def _judge(self, verifier: PooledVerifier, task: Task) -> Outcome:
        if verifier.self_timed:
            return await verifier.judge_async(task)
        backstop = asyncio.timeout(self._timeout_s)
        try:
            async with backstop:
                return await verifier.judge_async(task)
        except TimeoutError:
            if backstop.expired():
                raise _TooLateError from None
            raise


class _TooLateError(Exception):
    """The backstop ended it."""
