"""Who is let in to judge: as many as fit, requests in turn, those who want to be alone alone."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.gate import Gate

WIDTH = 3
STEPS = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "alone"]), st.integers(0, 4), st.booleans()), max_size=30
)


async def turns(count: int = 5) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_a_small_request_is_let_in_beside_a_large_one() -> None:
    """Many items of one request wait; the first of another does not wait for them."""
    gate, inside = Gate(WIDTH), []

    async def stay(request: str) -> None:
        async with gate.shared(request):
            inside.append(request)
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(stay("large")) for _ in range(100)]
    await turns()
    assert inside == ["large"] * WIDTH
    tasks.append(asyncio.create_task(stay("small")))
    await turns()
    assert inside == ["large"] * WIDTH + ["small"]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_requests_take_turns() -> None:
    """Of two large requests neither waits for the other's end."""
    gate, order = Gate(1), []

    async def pass_through(request: str) -> None:
        async with gate.shared(request):
            order.append(request)
            await asyncio.sleep(0)

    await asyncio.gather(*(pass_through(request) for request in "a" * 20 + "b" * 20))
    assert abs(Counter(order[:20])["a"] - 10) <= 2


@pytest.mark.parametrize("requests", [1, 1000])
async def test_there_is_a_bound_whoever_comes(requests: int) -> None:
    """One request gets the width; any number of requests a fixed multiple of it."""
    gate, inside, most = Gate(WIDTH), 0, 0

    async def pass_through(request: int) -> None:
        nonlocal inside, most
        async with gate.shared(request):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(pass_through(n % requests) for n in range(1000)))
    assert most == (WIDTH if requests == 1 else 16 * WIDTH)


@given(STEPS)
def test_nobody_is_lost(steps: list[tuple[str, int, bool]]) -> None:
    """Whoever comes, leaves or is cancelled at whatever moment: all others get in, and alone means alone."""

    async def run() -> None:
        gate, inside = Gate(2), [0]

        async def visit(request: str, stay: int) -> None:
            async with gate.alone() if request == "alone" else gate.shared(request):
                inside[0] += 1
                try:
                    for _ in range(stay):
                        assert request != "alone" or inside[0] == 1
                        await asyncio.sleep(0)
                finally:
                    inside[0] -= 1

        tasks = []
        for request, stay, cancel in steps:
            task = asyncio.create_task(visit(request, stay))
            if cancel:
                asyncio.get_running_loop().call_soon(task.cancel)
            else:
                tasks.append(task)
            await turns(stay % 3)
        await asyncio.wait_for(asyncio.gather(*tasks), 5)
        async with asyncio.timeout(5), gate.alone():
            pass

    asyncio.run(run())
