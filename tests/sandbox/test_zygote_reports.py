"""What the supervisor makes of a zygote's report: a run whose child was never fenced in has not run."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from sandbox import channel
from sandbox.supervisor.reactor import Reactor
from sandbox.supervisor.zygotes import Ended, Zygote
from sandbox.zygote.messages import FORK, READY, Use, pack_end

Links = list[socket.socket]


class Other:
    """The zygote's end of a control socket, and the children's ends of their links."""

    def __init__(self) -> None:
        ours, self.control = channel.pair()
        self.lost = 0
        self.zygote = Zygote(Reactor(), ours, None, hands_over=False, on_lost=self._lose)
        self.control.send(READY)
        self.zygote._hear()
        self.zygote.base_rss_bytes = 1

    def _lose(self) -> None:
        self.lost += 1

    def links(self) -> tuple[list[bytes], Links]:
        """The orders to fork that have come, and the links of those children."""
        orders, links = [], []
        self.control.setblocking(False)
        while True:
            try:
                order, fds, _, _ = socket.recv_fds(self.control, 16, 1)
            except BlockingIOError:
                return orders, links
            orders.append(order)
            links.append(socket.socket(fileno=fds[0]))


@pytest.fixture
def other() -> Iterator[Other]:
    """A zygote that is ready; its pid is that of this process, so nothing may kill it."""
    other = Other()
    other.zygote.pid = 0x7FFFFFFF
    yield other
    if not other.zygote._dead:
        other.zygote.close()
    other.control.close()


@pytest.mark.parametrize(
    ("says", "ends", "fenced"),
    [
        ((True,), [0], True),
        ((True,), [1], True),
        ((False,), [0], False),
        ((False,), [1], False),
        ((False,), [-9], False),
        ((True, True), [0, -9], True),
        ((True, False), [0, -9], True),
        ((True, False), [0, 1], False),
        ((False, True), [0, -9], False),
    ],
)
def test_only_a_fenced_child_has_run(
    other: Other, says: tuple[bool, ...], ends: list[int | None], fenced: bool
) -> None:
    """The first child must have said that its layers are on; a second may have been ended before that."""
    heard: list[Ended] = []
    ready: list[bool] = []
    other.zygote.want(len(says), lambda: ready.append(True))
    assert ready == [True]  # their jobs need not wait
    orders, links = other.links()
    assert orders == [FORK] * len(says)
    other.zygote.begin(heard.append)
    for link, word in zip(links, says, strict=True):
        if word:
            link.send(READY)
        link.close()
    use = Use(0.5, 0.1, 7)
    other.control.send(pack_end(ends, use))
    other.zygote._hear()
    assert heard == [Ended(ends, use, fenced)]
    assert not other.lost


def test_first_child_is_waited_for(other: Other) -> None:
    """What a child takes that has done nothing is learned from it before it does anything."""
    other.zygote.base_rss_bytes = 0
    other.zygote.want(1)
    orders, [link] = other.links()
    assert orders == [FORK]
    ready: list[bool] = []
    other.zygote.want(1, lambda: ready.append(True))
    assert not ready
    link.send(READY)
    other.zygote._hear_child(other.zygote.children[0])
    assert ready == [True]
    assert other.links() == ([], [])
    link.close()


def test_spare_child_takes_a_job_at_any_time(other: Other) -> None:
    """It looks for one itself before it rehearses."""
    other.zygote.want(1)
    _, [link] = other.links()
    ready: list[bool] = []
    other.zygote.want(1, lambda: ready.append(True))
    assert ready == [True]
    assert other.links() == ([], [])
    link.close()


def test_zygote_wears_out(other: Other) -> None:
    """After some hundreds of runs it is to be replaced."""
    runs = 0
    while not other.zygote.worn:
        other.zygote.begin(lambda _: None)
        runs += 1
    assert 100 <= runs <= 1000
