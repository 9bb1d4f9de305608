"""Thousands of hostile runs among good ones."""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
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
        # With so many at once the wall clock may end a program before it has run into what it came for.
        assert result.status.value in (*threat.statuses.split(), "wall_time_exceeded"), (threat.name, result)


def memory_bytes(pid: int) -> int:
    """Resident memory of a process and all beneath it."""
    below = procfs.children(pid, pid)
    found = procfs.stat(pid)
    return (found.rss_bytes if found else 0) + sum(memory_bytes(child) for child in below)


def processes(pid: int) -> int:
    """How many there are beneath `pid`."""
    below = procfs.children(pid, pid)
    return len(below) + sum(processes(child) for child in below)


async def test_service_stays_well_under_attack(tmp_path: Path) -> None:
    """Every good program is right, nothing piles up: no process, no file, no memory, no descriptor.

    GOLDCHECK_HOSTILE_RESULT: a file for the counts.
    """
    chance, begin = random.Random(7), time.monotonic()
    async with started(tmp_path) as sandbox:
        supervisor = sandbox.supervisor_pid
        assert supervisor is not None
        gate = asyncio.Semaphore(AT_ONCE)

        async def gated(number: int) -> None:
            async with gate:
                await one(sandbox, chance, number)

        async def batch(count: int) -> dict[str, int]:
            await asyncio.gather(*(gated(number) for number in range(count)))
            await asyncio.sleep(0.5)
            descriptors = len(list(Path(f"/proc/{supervisor}/fd").iterdir()))
            files = sum(len(files) for _, _, files in os.walk(tmp_path))
            return {
                "memory_mb": memory_bytes(supervisor) >> 20,
                "descriptors": descriptors,
                "processes": processes(supervisor),
                "files": files,
            }

        first = await batch(RUNS // 4)
        last = await batch(RUNS - RUNS // 4)
        if result := os.environ.get("GOLDCHECK_HOSTILE_RESULT"):
            figures = {"runs": RUNS, "seconds": round(time.monotonic() - begin)}
            figures |= {"after a quarter": first, "after all": last}
            Path(result).write_text(json.dumps(figures, indent=1) + "\n")
        assert sandbox.supervisor_pid == supervisor
        assert last["memory_mb"] < 1.5 * first["memory_mb"] + 20
        assert last["descriptors"] <= first["descriptors"] + 8
        assert last["processes"] <= first["processes"] + 4  # zygotes of a kind come with the first run of it
        assert last["files"] <= first["files"]
