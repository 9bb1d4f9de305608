"""Judging outside the event loop: bounds, equal tasks once, the backstop, the cache."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from doubles import ExactOptions, PooledExactVerifier

from app.cache import VerdictCache, task_key
from app.gate import Gate
from app.pool import Pool, Ticket
from verifiers.literals import FloatLiteral
from verifiers.types import MISSING, Outcome, Task, Unscorable, Verdict


def task(response: str, ground_truth: Any = "x") -> Task:
    """A task with default options."""
    return Task(response, ground_truth, ExactOptions())


async def outcome(ticket: Ticket) -> Outcome:
    """Wait for a ticket's result."""
    done = asyncio.Event()
    ticket.when_done(done.set)
    await done.wait()
    return ticket.result().outcome


class Slow(PooledExactVerifier):
    """Takes as many turns on the clock as it is told; notes how many judge at the same time."""

    self_timed = False

    def __init__(self, *durations_s: float) -> None:
        super().__init__()
        self.durations_s = list(durations_s)
        self.inside = 0
        self.entered = 0
        self.most_inside = 0
        self.alone: list[str] = []
        """Responses that were judged with nobody else inside, from beginning to end."""

    async def judge_async(self, task: Task) -> Outcome:
        """Sleep, then compare."""
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        entered = self.entered = self.entered + 1
        beside = self.inside - 1
        try:
            await asyncio.sleep(self.durations_s.pop(0) if self.durations_s else 0.01)
            if not beside and entered == self.entered:
                self.alone.append(task.response)
            return await super().judge_async(task)
        finally:
            self.inside -= 1


async def test_at_most_so_many_judge_at_once() -> None:
    """The pool's width is never exceeded."""
    verifier, pool = Slow(), Pool(3, 5.0, VerdictCache(0))
    await asyncio.gather(*(outcome(pool.submit(verifier, task(str(n)))) for n in range(20)))
    assert verifier.most_inside == 3


async def test_equal_tasks_in_flight_are_judged_once() -> None:
    """All who wait get the one result."""
    verifier, pool = PooledExactVerifier(), Pool(2, 5.0, VerdictCache(0))
    gate = verifier.hold("a")
    tickets = [pool.submit(verifier, task("a")) for _ in range(5)]
    gate.set()
    outcomes = await asyncio.gather(*(outcome(ticket) for ticket in tickets))
    assert verifier.calls == ["a"]
    assert all(one is outcomes[0] for one in outcomes)


async def test_verdicts_are_kept_and_unscorable_outcomes_never() -> None:
    """A scored result answers the next equal task; a fault is looked at again."""
    verifier, pool = PooledExactVerifier(), Pool(2, 5.0, VerdictCache(1 << 20))
    for ground_truth in ("x", None):
        for _ in range(3):
            await outcome(pool.submit(verifier, task("a", ground_truth)))
    assert len(verifier.calls) == 1 + 3


async def test_what_a_verifier_raises_reaches_all_who_wait_and_is_not_kept() -> None:
    """Each waiter sees the error; the next task is judged anew."""
    verifier, pool = PooledExactVerifier(), Pool(2, 5.0, VerdictCache(1 << 20))

    def fail(_: Task) -> None:
        raise ZeroDivisionError

    verifier.before = fail
    tickets = [pool.submit(verifier, task("a")) for _ in range(2)]
    for ticket in tickets:
        with pytest.raises(ZeroDivisionError):
            await outcome(ticket)
    verifier.before = lambda _: None
    assert isinstance(await outcome(pool.submit(verifier, task("a"))), Verdict)


async def test_the_backstop_retries_once_alone() -> None:
    """A verdict that comes too late is tried again with nothing beside it, and counts then."""
    verifier, pool = Slow(60.0), Pool(3, 0.05, VerdictCache(0))
    late = pool.submit(verifier, task("late"))
    others = [pool.submit(verifier, task(str(n))) for n in range(6)]
    assert isinstance(await outcome(late), Verdict)
    await asyncio.gather(*(outcome(other) for other in others))
    assert verifier.alone == ["late"]


async def test_twice_too_late_is_a_verifier_timeout() -> None:
    """The backstop's second word is final, and says nothing about the response."""
    verifier, pool = Slow(60.0, 60.0), Pool(2, 0.05, VerdictCache(1 << 20))
    result = await outcome(pool.submit(verifier, task("late")))
    assert isinstance(result, Unscorable)
    assert result.kind == "verifier_timeout"


async def test_verifiers_that_time_themselves_have_no_backstop() -> None:
    """`code` keeps its own clocks."""
    verifier, pool = Slow(0.2), Pool(2, 0.01, VerdictCache(0))
    verifier.self_timed = True
    assert isinstance(await outcome(pool.submit(verifier, task("a"))), Verdict)


async def test_a_timeout_of_the_verifiers_own_is_its_own() -> None:
    """A TimeoutError from inside is an error, not the backstop."""
    verifier, pool = Slow(), Pool(2, 5.0, VerdictCache(0))

    def fail(_: Task) -> None:
        raise TimeoutError

    verifier.before = fail
    with pytest.raises(TimeoutError):
        await outcome(pool.submit(verifier, task("a")))


async def test_given_up_before_it_started() -> None:
    """Work that nobody waits for is not begun, and an equal task later is."""
    verifier, pool = PooledExactVerifier(), Pool(1, 5.0, VerdictCache(0))
    gate = verifier.hold("first")
    first = pool.submit(verifier, task("first"))
    dropped = pool.submit(verifier, task("second"))
    await asyncio.sleep(0)
    dropped.give_up()
    again = pool.submit(verifier, task("second"))
    gate.set()
    assert isinstance(await outcome(first), Verdict)
    assert isinstance(await outcome(again), Verdict)
    assert verifier.calls == ["first", "second"]


async def test_closing_ends_what_is_in_flight() -> None:
    """Nothing is left running."""
    verifier, pool = PooledExactVerifier(), Pool(1, 5.0, VerdictCache(0))
    verifier.hold("a")
    tickets = [pool.submit(verifier, task(text)) for text in "ab"]
    await asyncio.sleep(0.01)
    await pool.close()
    for ticket in tickets:
        with pytest.raises(asyncio.CancelledError):
            ticket.result()


async def test_alone_waits_for_all_and_keeps_all_out() -> None:
    """Two who want to be alone come one after the other."""
    gate, inside, seen = Gate(3), 0, []

    async def enter(alone: bool) -> None:
        nonlocal inside
        async with gate.alone() if alone else gate.shared():
            inside += 1
            seen.append((alone, inside))
            await asyncio.sleep(0.001)
            inside -= 1

    await asyncio.gather(*(enter(n % 4 == 0) for n in range(16)))
    assert len(seen) == 16
    assert all(count == 1 for alone, count in seen if alone)
    assert max(count for _, count in seen) <= 3


DIFFERENT: list[tuple[str, Any, dict[str, Any]]] = [
    ("a", "x", {}),
    ("b", "x", {}),
    ("a", "y", {}),
    ("a", MISSING, {}),
    ("a", None, {}),
    ("a", 1, {}),
    ("a", True, {}),
    ("a", FloatLiteral("1.0"), {}),
    ("a", FloatLiteral("1.00"), {}),
    ("a", "1", {}),
    ("a", ["1"], {}),
    ("a", [["1"]], {}),
    ("a", {"k": 1, "l": 2}, {}),
    ("a", {"l": 2, "k": 1}, {}),
    ("a", "x", {"strip": True}),
    ("a", "x", {"detail": "full"}),
]


def test_keys_tell_tasks_apart() -> None:
    """Response, ground truth as written, options: each makes another key."""
    verifier = PooledExactVerifier()
    tasks = [Task(response, truth, ExactOptions(**options)) for response, truth, options in DIFFERENT]
    keys = [task_key(verifier, one) for one in tasks]
    assert len(set(keys)) == len(keys)
    assert keys == [task_key(verifier, one) for one in tasks]


def test_the_cache_is_bounded_in_bytes() -> None:
    """The longest unused verdicts go first; one that is too large is not kept at all."""
    cache = VerdictCache(10_000)
    cache.put(b"large", Verdict(True, "equal", 1.0, {"text": "x" * 5_000}))
    assert cache.get(b"large") is None
    for n in range(20):
        cache.put(b"%d" % n, Verdict(True, "equal", 1.0, {"text": "x" * 500}))
        cache.get(b"0")
    kept = [n for n in range(20) if cache.get(b"%d" % n) is not None]
    assert 0 in kept
    assert 19 in kept
    assert len(kept) < 20
