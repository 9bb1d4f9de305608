"""Runs the threats of `threats.py` and prints how each ended; a test starts it as an ordinary user."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from hosts import FLEEING, script, started
from rights import of_programs_and_zygotes
from threats import COUNTING, FULL, STARTING, THREATS

from sandbox.types import Limits


async def main(run_dir: str, *assume: str) -> None:
    """One line of JSON for the report, one for each threat, one for each further thing that is looked at."""
    async with started(run_dir, *assume) as sandbox:  # type: ignore[arg-type]
        report = sandbox.report()
        print(json.dumps({"level": report.level, "reason": report.reason}))
        for threat in THREATS:
            async for result in sandbox.run(script(threat.source, limits=threat.limits)):
                print(
                    json.dumps([threat.name, result.status, result.stdout[-2000:].decode(), result.message])
                )
        async for result in sandbox.run(script("print(input())", b"still well\n")):
            print(json.dumps(result.stdout.decode()))
        limits = Limits(cpu_time_s=5, processes=20)
        async for result in sandbox.run(script(COUNTING, limits=limits)):
            print(json.dumps([result.status, result.stdout.decode(), result.message]))
        runs = [anext(aiter(sandbox.run(script(source)))) for source in (FULL, STARTING)]
        print(json.dumps([run.stdout.decode() for run in await asyncio.gather(*runs)]))
        print(json.dumps(await of_programs_and_zygotes(sandbox)))


async def flee(run_dir: str, *assume: str, kill: bool) -> int:
    """End the supervisor under a program that keeps forking; how many processes are left in the end."""
    async with started(run_dir, *assume) as sandbox:  # type: ignore[arg-type]
        running = asyncio.create_task(anext(aiter(sandbox.run(script(FLEEING)))))
        await asyncio.sleep(0.4)
        if kill:
            os.kill(sandbox.supervisor_pid or 0, signal.SIGKILL)
            await running
    await asyncio.gather(running, return_exceptions=True)
    quiet = 0  # one look could miss those that run away between two entries of /proc
    for _ in range(500):
        left = [process for process in Path("/proc").glob("[0-9]*") if ours(process)]
        quiet = 0 if left else quiet + 1
        if quiet == 50:
            return 0
        await asyncio.sleep(0.01)
    return len(left) or 1


def ours(process: Path) -> bool:
    """Whether this is a process of the sandbox: its command line names where the package lies."""
    try:
        command = (process / "cmdline").read_bytes()
    except OSError:
        return False
    return os.fsencode(Path.cwd()) in command and process.name != str(os.getpid())


asyncio.run(main(*sys.argv[1:]))
print(asyncio.run(flee(*sys.argv[1:], kill=True)) + asyncio.run(flee(*sys.argv[1:], kill=False)))
