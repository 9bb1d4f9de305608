"""What processes beneath a supervisor are allowed, read from /proc."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hosts import script

from sandbox.engine import Sandbox
from sandbox.layers import procfs
from sandbox.types import Limits

ASLEEP = "import os, time\nos.fork()\nprint('asleep', flush=True)\ntime.sleep(3)"
FIELDS = ("CapInh", "CapPrm", "CapEff", "CapAmb", "NoNewPrivs", "Seccomp", "Uid", "Gid", "Groups")


async def of_programs_and_zygotes(sandbox: Sandbox) -> list[dict[str, list[str]]]:
    """Of all but the master, while a program of two processes sleeps."""
    limits = Limits(cpu_time_s=5)
    running = asyncio.create_task(anext(aiter(sandbox.run(script(ASLEEP, limits=limits)))))
    found: list[dict[str, list[str]]] = []
    while len(found) < 3 and not running.done():
        await asyncio.sleep(0.05)
        [master] = procfs.children(sandbox.supervisor_pid or 0, sandbox.supervisor_pid or 0)
        found = [_of(pid) for pid in procfs.descendants(master)]
    result = await running
    assert result.stdout == b"asleep\nasleep\n", result
    return found


def _of(pid: int) -> dict[str, list[str]]:
    lines = [line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines()]
    return {name: rest.split() for name, _, rest in lines if name in FIELDS}
