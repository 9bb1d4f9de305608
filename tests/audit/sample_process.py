"""A worker that counts many verdicts and stores those that are selected; prints every `stratum:id`.

Arguments: database URL, budget, number of the worker.
"""

from __future__ import annotations

import asyncio
import random
import sys

from recording import ACCEPT, make_record, until

from audit.log import VerdictLog
from audit.types import Cell, LogConfig

NAMES = ["accept/plain"] * 20 + ["reject/plain"] * 4 + ["unscorable/verifier_error"]


async def main(url: str, budget: int, worker: int) -> None:
    log = VerdictLog(LogConfig(url, budget=budget))
    log.start()
    await until(lambda: not log.status().degraded)
    random.seed(worker)
    for n in range(3_000):
        cell = Cell(ACCEPT.stratum._replace(name=random.choice(NAMES)), ACCEPT.window_start_s)
        verdict_id = f"{worker}-{n:06d}"
        log.count(cell)
        draw = log.select(cell, verdict_id)
        if draw is not None:
            log.store(make_record(id=verdict_id, cell=cell, draw=draw))
        print(f"{cell.stratum.name}:{verdict_id}")
        if n % 50 == 0:
            await log.acknowledge()
            await asyncio.sleep(0.005)
    await log.close(30)


asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
