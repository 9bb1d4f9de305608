"""How much work is taken in: bounded in items and in bytes, refused with 503 before anything is accepted."""

from __future__ import annotations

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
        """A reservation of nothing yet. Raises Problem when shutting down."""
        if self.closing:
            raise self._shutting_down()
        return Reservation(self)

    def check(self, held: Reservation, items: int, size: int) -> None:
        """Raise Problem 503 when `held` must not grow by so much."""
        if self.closing:
            raise self._shutting_down()
        # A request that fits the limits of requests is never refused by a worker that holds nothing else.
        if self.items == held.items and self.bytes == held.bytes:
            return
        if self.items + items > self._max_items or self.bytes + size > self._max_bytes:
            raise self._refusal("overloaded")

    def _refusal(self, code: str, **headers: str) -> Problem:
        return Problem(code, headers={"Retry-After": str(self._retry_after_s), **headers})

    def _shutting_down(self) -> Problem:
        return self._refusal("shutting_down", Connection="close")  # so that the caller goes elsewhere


class Reservation:
    """What one request holds, from its first byte until its reply is done."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.items = 0
        self.bytes = 0

    def take(self, items: int = 0, size: int = 0) -> None:
        """Hold more. Raises Problem 503, and takes nothing, when the worker holds too much already."""
        self._admission.check(self, items, size)
        self._add(items, size)

    def release(self) -> None:
        """Give all of it back; again is nothing."""
        self._add(-self.items, -self.bytes)

    def _add(self, items: int, size: int) -> None:
        self.items += items
        self.bytes += size
        self._admission.items += items
        self._admission.bytes += size
