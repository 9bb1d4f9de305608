"""A single-threaded event loop: descriptors and timers."""

from __future__ import annotations

import heapq
import itertools
import select
import time
from collections.abc import Callable

READ, WRITE = select.EPOLLIN, select.EPOLLOUT
_AT_ONCE = 16
"""Events looked at in one turn; the rest come in the next."""

Callback = Callable[[], None]


class Timer:
    """A callback at a time, unless cancelled."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callback) -> None:
        self.callback: Callback | None = callback

    def cancel(self) -> None:
        """Do not call."""
        self.callback = None


class Reactor:
    """Calls back when a descriptor is ready or a time has come."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._watched: dict[int, Callback] = {}
        self._timers: list[tuple[float, int, Timer]] = []
        self._order = itertools.count()
        self._running = False

    def watch(self, fd: int, events: int, callback: Callback) -> None:
        """Call `callback` while `fd` is ready."""
        self._epoll.register(fd, events)
        self._watched[fd] = callback

    def forget(self, fd: int) -> None:
        """Stop watching `fd`; nothing if it is not watched. To be called before it is closed."""
        if self._watched.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def later(self, delay_s: float, callback: Callback) -> Timer:
        """Call `callback` once after `delay_s`."""
        timer = Timer(callback)
        heapq.heappush(self._timers, (time.monotonic() + delay_s, next(self._order), timer))
        return timer

    def run(self) -> None:
        """Run until `stop`."""
        self._running = True
        while self._running:
            for fd, _ in self._epoll.poll(self._timeout(), _AT_ONCE):
                callback = self._watched.get(fd)
                if callback is not None:
                    callback()
            self._fire()

    def stop(self) -> None:
        """Leave `run` after the current callback."""
        self._running = False

    def _timeout(self) -> float | None:
        while self._timers and self._timers[0][2].callback is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return None
        return max(0.0, self._timers[0][0] - time.monotonic())

    def _fire(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0][0] <= now:
            timer = heapq.heappop(self._timers)[2]
            if timer.callback is not None:
                timer.callback()
