"""`app.background`: goes on after faults, tells them, ends when told to."""

from __future__ import annotations

import asyncio

import pytest

from app.background import Background


async def test_fault_is_told_and_the_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for each time it happens, with what it was."""
    told: list[dict[str, str]] = []
    monkeypatch.setattr(
        "app.background._log.error", lambda event, **fields: told.append(fields), raising=False
    )
    done = asyncio.Event()
    times = 0

    async def work() -> None:
        nonlocal times
        times += 1
        if times == 3:
            done.set()
        raise RuntimeError("no")

    background = Background("counting", work, 0.0)
    background.start()
    await asyncio.wait_for(done.wait(), 10)
    await background.close()
    assert times >= 3
    assert [(one["what"], one["error"]) for one in told] == [("counting", "RuntimeError")] * times


async def test_close_breaks_off_what_is_under_way() -> None:
    """And says whether there was anything to end."""
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.sleep(3600)
        finally:
            ended.set()

    background = Background("sleeping", work, 0.0)
    assert not await background.close()
    background.start()
    await asyncio.wait_for(began.wait(), 10)
    assert await background.close()
    assert ended.is_set()
    assert not await background.close()
