"""The service's side of one worker: items out, replies in, without a task or a thread in between."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from verifiers.math.framing import Frames, frame


class TimedOut(Exception):
    """The item met its deadline twice, the second time alone."""


class WorkerLost(Exception):
    """The worker died over the item twice, the second time alone."""


@dataclass(eq=False, slots=True)
class Item:
    """What is to be judged, and who waits for it."""

    payload: Any
    future: asyncio.Future[dict[str, Any]]


class Link(asyncio.Protocol):
    """One worker. `on_done` is called when it has answered all it was given, and when it ends.

    An item that is not answered within the deadline, or over which the worker dies, fails; those behind it
    stay in `left`.
    """

    def __init__(self, pid: int, deadline_s: float, on_done: Callable[[Link], None]) -> None:
        self.pid = pid
        self.left: deque[Item] = deque()
        self.ended = False
        self._deadline_s = deadline_s
        self._on_done = on_done
        self._frames = Frames()
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._transport: asyncio.WriteTransport

    def begin(self, items: Sequence[Item]) -> None:
        """Give the worker these items in one message."""
        self.left.extend(items)
        self._start_clock()
        self._transport.write(frame(json.dumps([item.payload for item in items]).encode()))

    def hang_up(self) -> None:
        """Close the connection; nothing more is heard of this worker."""
        self.ended = True
        self._stop_clock()
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the event loop."""
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Called by the event loop."""
        for reply in self._frames.feed(data):
            item = self.left.popleft()
            if not item.future.done():
                item.future.set_result(json.loads(reply))
            self._stop_clock()
            if self.left:
                self._start_clock()
            else:
                self._on_done(self)

    def connection_lost(self, _fault: Exception | None) -> None:
        """Called by the event loop."""
        self._end(WorkerLost("the worker died"))

    def _start_clock(self) -> None:
        late = TimedOut("the deadline passed")
        self._timer = self._loop.call_later(self._deadline_s, self._end, late)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end(self, fault: Exception) -> None:
        if self.ended:
            return
        self.hang_up()
        if self.left:
            item = self.left.popleft()
            if not item.future.done():
                item.future.set_exception(fault)
        self._on_done(self)
