"""Runs the threats of `threats.py` and prints how each ended; a test starts it as an ordinary user."""

from __future__ import annotations

import asyncio
import json
import sys

from hosts import script, started
from threats import THREATS

from sandbox.types import Limits


async def main(run_dir: str) -> None:
    """One line of JSON for the report, then one for each threat, then one for a good program."""
    async with started(run_dir) as sandbox:  # type: ignore[arg-type]
        report = sandbox.report()
        print(json.dumps({"level": report.level, "reason": report.reason}))
        for threat in THREATS:
            limits = Limits(
                cpu_time_s=threat.cpu_time_s,
                wall_time_s=threat.cpu_time_s + 1,
                memory_bytes=threat.memory_mb << 20,
                output_bytes=threat.output_mb << 20,
            )
            async for result in sandbox.run(script(threat.source, limits=limits)):
                print(
                    json.dumps([threat.name, result.status, result.stdout[-2000:].decode(), result.message])
                )
        async for result in sandbox.run(script("print(input())", b"still well\n")):
            print(json.dumps(result.stdout.decode()))


asyncio.run(main(sys.argv[1]))
