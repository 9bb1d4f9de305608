"""A large submission does not hold up a small one."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hosts import script, started

from sandbox.engine import Sandbox
from sandbox.types import RunStatus, Submission

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("large", [1, 6])
async def test_small_submission_ends_before_large_ones(tmp_path: Path, large: int) -> None:
    """It comes last, with one case, and is done while each of the large ones still has some left."""
    done: list[str] = []

    async def judge(sandbox: Sandbox, name: str, submission: Submission) -> None:
        async for result in sandbox.run(submission):
            assert result.status is RunStatus.EXITED
            done.append(name)

    async with started(tmp_path) as sandbox:
        batch = script("import time; time.sleep(0.02)", *[b""] * 30)
        tasks = [asyncio.create_task(judge(sandbox, str(n), batch)) for n in range(large)]
        await asyncio.sleep(0.1)
        await judge(sandbox, "small", script("pass"))
        left = [30 - done[: done.index("small")].count(str(n)) for n in range(large)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    assert min(left) > 0
