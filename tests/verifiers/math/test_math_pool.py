"""The worker processes: started, killed at the deadline, replaced when they die. Real processes
throughout."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from verifiers.literals import FloatLiteral
from verifiers.math import MathOptions, MathVerifier
from verifiers.math.link import WorkerLost
from verifiers.math.pool import Pool
from verifiers.types import MISSING, Task, Unscorable, Verdict

ROOT = Path(__file__).parents[3]
OPTIONS = MathOptions()


@pytest.fixture
async def verifier() -> AsyncIterator[MathVerifier]:
    """A started verifier with two workers."""
    made = MathVerifier(workers=2)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


def _workers(verifier: MathVerifier) -> list[int]:
    process = verifier.pool.forks.process
    assert process is not None
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in children]


async def _right(verifier: MathVerifier, number: int) -> bool:
    outcome = await verifier.judge_async(Task(f"\\boxed{{{number}/2}}", f"0.5*{number}", OPTIONS))
    return isinstance(outcome, Verdict) and outcome.correct


async def test_many_items_at_once_are_all_answered(verifier: MathVerifier) -> None:
    """Chunks of items come back one by one, each to its own caller."""
    assert all(await asyncio.gather(*(_right(verifier, number) for number in range(300))))


@pytest.mark.parametrize(
    ("ground_truth", "kind"),
    [
        ("1/2", None),
        (FloatLiteral("0.5"), None),
        (["7", "0.5"], None),
        (True, "invalid_ground_truth"),
        (None, "invalid_ground_truth"),
        (MISSING, "invalid_ground_truth"),
        ({"answer": "1/2"}, "invalid_ground_truth"),
        ([], "invalid_ground_truth"),
        (["1/2"] * 65, "invalid_ground_truth"),
        ("", "invalid_ground_truth"),
        (10**5000, "invalid_ground_truth"),
    ],
    ids=[
        "text",
        "float",
        "list",
        "bool",
        "null",
        "missing",
        "object",
        "no texts",
        "65 texts",
        "empty",
        "huge",
    ],
)
async def test_ground_truths_of_every_shape(
    verifier: MathVerifier, ground_truth: object, kind: str | None
) -> None:
    """Texts, numbers and lists of them are read; every other shape is unscorable, never an error."""
    outcome = await verifier.judge_async(Task("\\boxed{\\frac12}", ground_truth, OPTIONS))
    if kind is None:
        assert isinstance(outcome, Verdict)
        assert outcome.correct
    else:
        assert isinstance(outcome, Unscorable)
        assert outcome.kind == kind


async def test_surrogates_and_nul_are_judged(verifier: MathVerifier) -> None:
    """Text that is no valid Unicode reaches the worker and comes back."""
    outcome = await verifier.judge_async(Task("\ud800\x00 \\boxed{5}\udfff", "5", OPTIONS))
    assert isinstance(outcome, Verdict)
    assert outcome.correct


async def test_killed_workers_cost_no_verdict(verifier: MathVerifier) -> None:
    """Workers that are killed while they work are replaced, and every item still gets its verdict."""
    items = [asyncio.create_task(_right(verifier, number)) for number in range(400)]
    await asyncio.sleep(0.03)
    for pid in _workers(verifier):
        os.kill(pid, signal.SIGKILL)
    assert all(await asyncio.gather(*items))
    assert verifier.pool.ready


async def test_a_killed_parent_of_workers_is_replaced(verifier: MathVerifier) -> None:
    """When the process that forks the workers dies, a new one takes over at the next need."""
    process = verifier.pool.forks.process
    assert process is not None
    workers = _workers(verifier)
    process.kill()
    for pid in workers:
        os.kill(pid, signal.SIGKILL)
    assert all(await asyncio.gather(*(_right(verifier, number) for number in range(20))))


async def test_an_item_over_the_deadline_is_retried_alone_then_unscorable() -> None:
    """The clock is a backstop that never becomes a verdict about the response."""
    verifier = MathVerifier(workers=2, deadline_s=1e-6)
    await verifier.start()
    try:
        outcomes = await asyncio.gather(
            *(verifier.judge_async(Task(f"\\boxed{{{n}}}", str(n), OPTIONS)) for n in range(5))
        )
    finally:
        await verifier.close()
    assert {outcome.kind for outcome in outcomes if isinstance(outcome, Unscorable)} == {"verifier_timeout"}
    assert len(outcomes) == 5


class BombPool:
    """A pool whose workers die over payloads that hold a bomb; other payloads are judged by a real one."""

    deadline_s = 5.0

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def run(self, payload: list[str]) -> dict[str, object]:
        """Judge, or lose the worker."""
        if any("bomb" in part for part in payload):
            raise WorkerLost("killed")
        return await self._pool.run(payload)


async def test_a_response_that_kills_its_worker_twice_is_incorrect(verifier: MathVerifier) -> None:
    """Whatever the response causes is a verdict; a ground truth that kills the worker by itself is not."""
    whole = verifier.pool
    verifier.pool = BombPool(whole)  # type: ignore[assignment]
    by_response = await verifier.judge_async(Task("bomb", "5", OPTIONS))
    by_truth = await verifier.judge_async(Task("5", "bomb", OPTIONS))
    verifier.pool = whole
    assert isinstance(by_response, Verdict)
    assert (by_response.correct, by_response.reason) == (False, "too_costly")
    assert isinstance(by_truth, Unscorable)
    assert by_truth.kind == "verifier_error"


async def test_a_cancelled_caller_leaves_the_others_alone(verifier: MathVerifier) -> None:
    """A caller that goes away drops its own item only."""
    items = [asyncio.create_task(_right(verifier, number)) for number in range(100)]
    for item in items[::2]:
        item.cancel()
    done = await asyncio.gather(*items, return_exceptions=True)
    assert all(done[1::2])
    assert all(isinstance(result, asyncio.CancelledError) for result in done[::2])


async def test_closing_leaves_no_process_behind() -> None:
    """After `close` the parent of the workers and the workers are gone."""
    verifier = MathVerifier(workers=2)
    await verifier.start()
    pids = [*_workers(verifier), verifier.pool.forks.process.pid]  # type: ignore[union-attr]
    await verifier.close()
    for _ in range(100):
        alive = [pid for pid in pids if Path(f"/proc/{pid}").exists()]
        if not alive:
            break
        await asyncio.sleep(0.05)
    assert alive == []


async def test_workers_that_do_not_come_up_are_said_not_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of the service goes on: the verifier is not ready, its items are unscorable and say why."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    verifier = MathVerifier(workers=2)
    await verifier.start()
    outcome = await verifier.judge_async(Task("\\boxed{1}", "1", OPTIONS))
    await verifier.close()
    assert not verifier.ready
    assert isinstance(outcome, Unscorable)
    assert outcome.kind == "verifier_error"
    assert "did not start" in outcome.message


def test_the_service_process_imports_neither_flint_nor_sympy() -> None:
    """What FLINT does on excess, ending its process, must not be able to end the service."""
    code = "import sys, verifiers.math; print({'flint', 'sympy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "set()"
