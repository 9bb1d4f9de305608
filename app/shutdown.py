"""Learns of the end when the signal comes: the server tells applications only when all requests are done."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@contextlib.contextmanager
def on_shutdown_signal(call: Callable[[], None]) -> Iterator[None]:
    """While inside, call back on SIGTERM and SIGINT before the handler that was there does its own work."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, _calling(call, handler))
    try:
        yield
    finally:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)


def _calling(
    call: Callable[[], None], then: Callable[[int, FrameType | None], object]
) -> Callable[[int, FrameType | None], None]:
    def handle(number: int, frame: FrameType | None) -> None:
        call()
        then(number, frame)

    return handle
