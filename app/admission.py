"""How much work is taken in: bounded in items and in bytes, refused with 503 before anything is accepted."""

from __future__ import annotations

from types import TracebackType

from app.errors import Problem


class Admission:
    """What one worker holds of requests it has not answered yet."""

    def __init__(self, max_items: int, max_bytes: int, retry_after_s: int) -> None:
        self._max_items = max_items
        self._max_bytes = max_bytes
        self._retry_after_s = retry_after_s
        self.items = 0
        self.bytes = 0
        self.closing = False
        """Set when the service shuts down: nothing more is taken in."""

    def reserve(self) -> Reservation:
        """A reservation of nothing yet, to be given back by `with`. Raises Problem when shutting down."""
        if self.closing:
            raise self._refusal("shutting_down")
        return Reservation(self)

    def take(self, items: int, size: int) -> None:
        """Count items and bytes as held. Raises Problem 503, taking nothing, when they are too many."""
        if self.closing:
            raise self._refusal("shutting_down")
        # One request that fits the limits of a request is never refused by an idle worker.
        idle = self.items == 0 and self.bytes == 0
        if not idle and (self.items + items > self._max_items or self.bytes + size > self._max_bytes):
            raise self._refusal("overloaded")
        self.items += items
        self.bytes += size

    def _refusal(self, code: str) -> Problem:
        return Problem(code, headers={"Retry-After": str(self._retry_after_s)})


class Reservation:
    """What one request holds; given back when its reply is done."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._items = 0
        self._bytes = 0

    def __enter__(self) -> Reservation:
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self.release()

    def take(self, items: int = 0, size: int = 0) -> None:
        """Hold more. Raises Problem 503 when the worker holds too much already."""
        self._admission.take(items, size)
        self._items += items
        self._bytes += size

    def release(self) -> None:
        """Give all of it back; again is nothing."""
        self._admission.items -= self._items
        self._admission.bytes -= self._bytes
        self._items = self._bytes = 0
