"""A worker's share of the host: a seat has a work folder, a user and zygotes, and does one run at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.supervisor.account import Account
from sandbox.supervisor.masters import Masters
from sandbox.supervisor.reactor import Callback, Reactor
from sandbox.supervisor.removal import Removal
from sandbox.supervisor.run import OVERSHOOT_BYTES, Order, Outcome, Run
from sandbox.supervisor.tasks import TaskCount
from sandbox.supervisor.workplace import Workplace
from sandbox.supervisor.zygotes import Zygote

_TRIES, _LOOKS, _AGAIN_S = 500, 50, 0.002
"""For what the kernel frees with delay: until a lower bound holds, and until less is in use."""

Report = Callable[[Order, Outcome], None]


@dataclass(frozen=True, slots=True)
class Share:
    """What of the host is one seat's alone; `uid` and `account` where the host gives them."""

    place: Workplace
    uid: int | None
    tasks: TaskCount
    account: Account | None


class Seat:
    """Runs orders one after another."""

    def __init__(self, reactor: Reactor, masters: Masters, share: Share) -> None:
        self.run: Run | None = None
        self._reactor = reactor
        self._masters = masters
        self._place = share.place
        self._uid = share.uid
        self._tasks = share.tasks
        self._account = share.account
        self._zygotes: dict[str, Zygote] = {}
        self._removal = Removal(reactor)
        self._sweeps = 0
        self._when_swept: Callback | None = None

    def is_warm(self, kind: str) -> bool:
        """Whether a child of this kind waits here."""
        return kind in self._zygotes and bool(self._zygotes[kind].children)

    def need_bytes(self, order: Order) -> int:
        """Memory that a run may take here before it is stopped."""
        return order.limits.memory_bytes + (0 if self._account else OVERSHOOT_BYTES)

    def prepare(self, kind: str) -> None:
        """Have a child of this kind waiting."""
        self._zygote(kind).want(1)

    def start(self, order: Order, on_end: Report, on_free: Callback) -> None:
        """Run `order`. `on_end` gets the outcome once no process is left of it; `on_free` follows when no
        file is left either."""

        def ended(outcome: Outcome) -> None:
            on_end(order, outcome)
            self._place.renew(
                self._removal.empty, self._reactor.later, lambda: self._leave(order, on_free, _LOOKS)
            )

        self.run = Run(self._reactor, order, self._place, self._account, ended)
        if self._sweeps:
            self._when_swept = lambda: self._drop_others(order)
        else:
            self._drop_others(order)

    def close(self) -> None:
        """End what runs and every zygote."""
        for zygote in self._zygotes.values():
            zygote.close()

    def _drop_others(self, order: Order) -> None:
        """The work folder must be this run's alone."""
        others = [zygote for kind, zygote in self._zygotes.items() if kind != order.kind]
        for zygote in others:
            zygote.want_none()
        waiting = [zygote for zygote in others if zygote.children]
        if waiting:
            waiting[0].drop_children(lambda: self._begin(order, _TRIES))
        else:
            self._begin(order, _TRIES)

    def _begin(self, order: Order, tries: int) -> None:
        if self.run is None:
            return
        zygote = self._zygote(order.kind)
        if self._account is not None:
            try:
                self._account.bound(order.limits, len(order.jobs), len(self._zygotes))
            except OSError:
                if tries:
                    self._reactor.later(_AGAIN_S, lambda: self._begin(order, tries - 1))
                else:
                    self.run.lose()
                return
        self.run.start(zygote, self._tasks.others(len(self._zygotes)))

    def _zygote(self, kind: str) -> Zygote:
        old = self._zygotes.get(kind)
        if old is not None and not old.worn:
            return old
        if old is not None:
            old.close()
        zygote = self._masters.zygote(
            kind,
            self._uid,
            self._place.path,
            self._account.entrances if self._account else (),
            lambda: self._lost(kind),
        )
        self._zygotes[kind] = zygote
        return zygote

    def _lost(self, kind: str) -> None:
        """A zygote went without being told to: nothing of what it forked may live on."""
        lost = self._zygotes.pop(kind)
        if self._uid is not None:
            for zygote in self._zygotes.values():
                zygote.close()
            self._zygotes.clear()
        self._sweeps += 1
        self._masters.sweep(lost.pid, self._uid, self._swept)

    def _swept(self) -> None:
        self._sweeps -= 1
        if self._sweeps:
            return
        go_on, self._when_swept = self._when_swept, None
        if go_on is not None:
            go_on()
        elif self.run is not None:
            self.run.lose()

    def _leave(self, order: Order, on_free: Callback, tries: int) -> None:
        """Nothing of the run is left but, for some moments, what the kernel has yet to free."""
        if self._account is not None and not self._account.settle(len(self._zygotes), not tries):
            self._reactor.later(_AGAIN_S, lambda: self._leave(order, on_free, tries - 1))
            return
        self.run = None
        on_free()
        if self.run is None and not self._sweeps:
            self.prepare(order.kind)
