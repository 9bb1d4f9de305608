"""Masters that are gone are no fault of the supervisor's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.supervisor.masters import Masters
from sandbox.supervisor.placement import Placed
from sandbox.supervisor.reactor import Reactor


@pytest.fixture
def gone() -> Iterator[tuple[Masters, Reactor, list[str]]]:
    """Masters whose first ended during its start, and whether that was noticed."""
    reactor = Reactor()
    heard: list[str] = []
    plan: dict[str, Any] = {"package_root": "/nowhere", "box": "/nowhere", "handed_over": ()}
    placed = Placed("/bin/false", library="", libraries="", packages="", readable=(), how="direct")

    def lost() -> None:
        heard.append("lost")
        reactor.stop()

    masters = Masters(reactor, placed, plan, {}, lost)
    yield masters, reactor, heard
    masters.close()


@pytest.mark.parametrize("noticed", [True, False])
@pytest.mark.parametrize("kind", ["lean", "sci"])
def test_orders_to_a_master_that_died_are_dropped(
    gone: tuple[Masters, Reactor, list[str]], kind: str, noticed: bool
) -> None:
    """Before its end is heard of and after, no order raises; its end is told once."""
    masters, reactor, heard = gone
    masters._process.wait(20)
    if noticed:
        reactor.run()
        assert heard == ["lost"]
    zygote = masters.zygote(kind, None, "/nowhere", (), lambda: None)
    masters.sweep(1, None, lambda: None)
    zygote.close()
    if not noticed:
        reactor.run()
    assert heard == ["lost"]
