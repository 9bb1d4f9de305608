"""Thousands of hostile runs among good ones."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest
from hosts import script, started
from threats import THREATS, Threat

from sandbox.engine import Sandbox
from sandbox.layers import procfs
from sandbox.types import Limits, RunStatus

pytestmark = [pytest.mark.hostile, pytest.mark.timeout(3600)]

RUNS = int(os.environ.get("GOLDCHECK_HOSTILE_RUNS", "2000"))
AT_ONCE = 16


def limits(threat: Threat) -> Limits:
    """Loops are cut short, so that thousands fit."""
    cpu = min(threat.cpu_time_s, 0.2)
    return Limits(
        cpu_time_s=cpu if "cpu_time_exceeded" in threat.statuses else threat.cpu_time_s,
        wall_time_s=cpu + 0.3 if "wall" in threat.statuses else None,
        memory_bytes=threat.memory_mb << 20,
        output_bytes=threat.output_mb << 20,
    )


async def one(sandbox: Sandbox, chance: random.Random, number: int) -> None:
    """A hostile run or a good one; both end as they should."""
    if chance.random() < 0.5:
        data = f"{number}\n".encode()
        async for result in sandbox.run(script("print(input())", data)):
            assert (result.status, result.stdout) == (RunStatus.EXITED, data)
        return
    threat = chance.choice(THREATS)
    async for result in sandbox.run(script(threat.source, limits=limits(threat))):
        assert result.status.value in threat.statuses.split(), (threat.name, result)


def memory_bytes(pid: int) -> int:
    """Resident memory of a process and all beneath it."""
    below = procfs.children(pid, pid)
    found = procfs.stat(pid)
    return (found.rss_bytes if found else 0) + sum(memory_bytes(child) for child in below)


async def test_service_stays_well_under_attack(tmp_path: Path) -> None:
    """Every good program is right, nothing piles up: no process, no file, no memory, no descriptor."""
    chance = random.Random(7)
    async with started(tmp_path) as sandbox:
        supervisor = sandbox.supervisor_pid
        assert supervisor is not None
        gate = asyncio.Semaphore(AT_ONCE)

        async def gated(number: int) -> None:
            async with gate:
                await one(sandbox, chance, number)

        async def batch(count: int) -> tuple[int, int]:
            await asyncio.gather(*(gated(number) for number in range(count)))
            await asyncio.sleep(0.5)
            return memory_bytes(supervisor), len(list(Path(f"/proc/{supervisor}/fd").iterdir()))

        memory, descriptors = await batch(RUNS // 4)
        later_memory, later_descriptors = await batch(RUNS - RUNS // 4)
        assert sandbox.supervisor_pid == supervisor
        assert later_memory < 1.5 * memory + (20 << 20)
        assert later_descriptors <= descriptors + 8
