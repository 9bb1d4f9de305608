"""A process whose database gets into trouble and out of it again; prints what it saw, as JSON.

Arguments: path of the database, a shell command that makes the trouble, one that ends it, how many verdicts
to keep before the trouble begins (0: before the log is opened).
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

from recording import ACCEPT, counted, keep, make_record, rows, until, url_of

from audit.log import VerdictLog
from audit.types import LogConfig


async def main(path: Path, make_trouble: str, end_trouble: str, before: int) -> None:
    log = VerdictLog(LogConfig(url_of(path), sample=1.0, durability="commit", queue_records=50))
    kept = 0

    async def keep_one() -> bool:
        nonlocal kept
        kept += 1
        return await keep(log, make_record(response=f"{kept:09d}" * 2_000, prompt=f"{kept}"))

    if not before:
        subprocess.run(make_trouble, shell=True, check=True)
    log.start()
    if before:
        acknowledged = [await keep_one() for _ in range(before)]
        subprocess.run(make_trouble, shell=True, check=True)
    else:
        acknowledged = []
    while await keep_one() or not log.status().degraded:
        pass
    during = log.status()
    in_trouble = [await keep_one() for _ in range(60)]
    subprocess.run(end_trouble, shell=True, check=True)
    await until(lambda: not log.status().degraded)
    afterwards = await keep_one()
    after = log.status()
    await log.close()
    verdicts, stored, shed = counted(path)[ACCEPT]
    seen = {
        "acknowledged_before": all(acknowledged),
        "reason": during.reason,
        "acknowledged_in_trouble": any(in_trouble),
        "failures": during.failures,
        "acknowledged_afterwards": afterwards,
        "reason_afterwards": after.reason,
        "kept": kept,
        "counted": verdicts,
        "stored": stored,
        "shed": shed,
        "rows": rows(path, "SELECT count(*) FROM payload")[0][0],
        "check": rows(path, "PRAGMA integrity_check")[0][0],
    }
    print(json.dumps(seen))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
