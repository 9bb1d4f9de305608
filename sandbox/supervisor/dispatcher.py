"""Which run goes next, and where: first come, first served, within the slots of the host."""

from __future__ import annotations

from collections import deque

from sandbox.supervisor.reactor import Reactor, Timer
from sandbox.supervisor.run import Order, Outcome
from sandbox.supervisor.seats import Report, Seat
from sandbox.supervisor.slots import Slots
from sandbox.types import RunStatus

_RETRY_S = 0.002


class Dispatcher:
    """Starts orders on free seats while there are free slots; reports each exactly once."""

    def __init__(self, reactor: Reactor, seats: list[Seat], slots: Slots, report: Report) -> None:
        self._reactor = reactor
        self._seats = seats
        self._slots = slots
        self._report = report
        self._queue: deque[Order] = deque()
        self._running: dict[int, Seat] = {}
        self._retry: Timer | None = None

    def add(self, order: Order) -> None:
        """Run `order` as soon as it is its turn."""
        self._queue.append(order)
        self._dispatch()

    def cancel(self, number: int) -> None:
        """End an order, or drop it if it has not begun. It is reported in either case."""
        for order in self._queue:
            if order.id == number:
                self._queue.remove(order)
                self._report(order, Outcome(RunStatus.NOT_RUN))
                return
        seat = self._running.get(number)
        if seat is not None and seat.run is not None:
            seat.run.end(RunStatus.NOT_RUN)

    def _dispatch(self) -> None:
        while self._queue:
            order = self._queue[0]
            free = [seat for seat in self._seats if seat not in self._running.values()]
            if not free or (order.alone and self._running):
                return
            held = self._take(len(self._seats) if order.alone else 1, free[0].need_bytes(order))
            if held is None:
                self._try_again()
                return
            self._queue.popleft()
            warm = [seat for seat in free if seat.is_warm(order.kind)]
            self._start(order, (warm or free)[0], held)
            if order.alone:
                return

    def _take(self, count: int, need_bytes: int) -> list[int] | None:
        """Lock `count` slots for one run that may use so much memory, or none."""
        held: list[int] = []
        while len(held) < count:
            number = self._slots.take(0 if held else need_bytes)
            if number is None:
                self._give_back(held)
                return None
            held.append(number)
        return held

    def _give_back(self, held: list[int]) -> None:
        for number in held:
            self._slots.release(number)

    def _start(self, order: Order, seat: Seat, held: list[int]) -> None:
        def freed() -> None:
            del self._running[order.id]
            self._give_back(held)
            self._dispatch()

        self._running[order.id] = seat
        seat.start(order, self._report, freed)

    def _try_again(self) -> None:
        """Other workers hold the slots; locks do not tell when they are freed."""
        if self._retry is None:
            self._retry = self._reactor.later(_RETRY_S, self._again)

    def _again(self) -> None:
        self._retry = None
        self._dispatch()
