"""How many judge at once: several side by side, fairly between requests, or one alone."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, OrderedDict, deque
from collections.abc import AsyncIterator, Hashable

ROOM = 16
"""So many times the width may be inside when many requests come with little each."""


class Gate:
    """Lets in about `width` at once; `alone` waits until nobody else is inside.

    A request that has nobody inside is let in at once, however many of another wait or are inside, up to a
    wide bound; else the requests take turns. Within a request the first comes first.
    """

    def __init__(self, width: int) -> None:
        self._width = width
        self._inside: Counter[Hashable] = Counter()
        self._waiting: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()
        self._alone = asyncio.Lock()
        self._empty = asyncio.Event()

    @contextlib.asynccontextmanager
    async def shared(self, request: Hashable = None) -> AsyncIterator[None]:
        """Be inside with others. request: on whose behalf."""
        await self._enter(request)
        try:
            yield
        finally:
            self._leave(request)

    @contextlib.asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Be inside with nobody else."""
        async with self._alone:
            try:
                while self._inside:
                    self._empty.clear()
                    await self._empty.wait()
                yield
            finally:
                self._admit(by_itself=True)

    async def _enter(self, request: Hashable) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(request, deque()).append(place)
        self._admit()
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._forget(request, place)
            else:  # it was let in at the same moment
                self._leave(request)
            raise

    def _leave(self, request: Hashable) -> None:
        self._inside[request] -= 1
        if not self._inside[request]:
            del self._inside[request]
        if not self._inside:
            self._empty.set()
        self._admit()

    def _admit(self, *, by_itself: bool = False) -> None:
        """Let in whoever may; nobody while one waits to be alone or is."""
        if self._alone.locked() and not by_itself:
            return
        for request in list(self._waiting):
            if self._inside.total() >= ROOM * self._width:
                break
            if request not in self._inside:
                self._let_in(request)
        while self._waiting and self._inside.total() < self._width:
            self._let_in(next(iter(self._waiting)))

    def _let_in(self, request: Hashable) -> None:
        place = self._waiting[request].popleft()
        self._waiting.move_to_end(request)
        if not self._waiting[request]:
            del self._waiting[request]
        if not place.done():  # cancelled, but not yet told so
            self._inside[request] += 1
            place.set_result(None)

    def _forget(self, request: Hashable, place: asyncio.Future[None]) -> None:
        waiting = self._waiting.get(request, deque())
        if place in waiting:
            waiting.remove(place)
            if not waiting:
                del self._waiting[request]
