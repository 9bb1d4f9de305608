"""A process that keeps verdicts, printing the serial number of each once it has been acknowledged.

Arguments: database URL, durability, first serial number, how many. Afterwards it waits to be killed, or for
its standard input to close, and then closes the log in order.
"""

from __future__ import annotations

import asyncio
import sys
import time

from recording import ACCEPT, keep, make_id, make_record, until

from audit.log import VerdictLog
from audit.sampling import window_of
from audit.types import Cell, LogConfig


async def main(url: str, durability: str, first: int, how_many: int) -> None:
    queue = {"queue_records": 100_000, "queue_bytes": 1 << 30}  # nothing is shed on slow disks
    log = VerdictLog(LogConfig(url, budget=1_000_000, durability=durability, **queue))  # type: ignore[arg-type]
    log.start()
    await until(lambda: not log.status().degraded)
    for serial in range(first, first + how_many):
        cell = Cell(ACCEPT.stratum, window_of(time.time()))
        record = make_record(id=make_id(serial=serial), cell=cell, response=f"{serial} " * 500)
        if await keep(log, record):
            print(serial, flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await log.close()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
