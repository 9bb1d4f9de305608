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

from recording import ACCEPT, counted, keep, make_id, make_record, rows, until, url_of

from audit.errors import LabelNotStoredError
from audit.labels import LabelBook, NewLabel
from audit.log import VerdictLog
from audit.types import LogConfig


async def main(path: Path, make_trouble: str, end_trouble: str, before: int) -> None:
    log = VerdictLog(LogConfig(url_of(path), budget=1_000_000, durability="commit", queue_records=50))
    labels = LabelBook(url_of(path), make_id)
    kept = labelled = 0
    known = ""

    async def keep_one() -> bool:
        nonlocal kept, known
        kept += 1
        record = make_record(response=f"{kept:09d}" * 2_000, prompt=f"{kept}")
        acknowledged = await keep(log, record)
        known = known or (record.id if acknowledged else "")
        return acknowledged

    def label_one() -> str:
        """Label a verdict that is stored; what the labeler is told if it cannot be done."""
        nonlocal labelled
        try:
            labels.add(known, NewLabel("correct", "ada", note="n" * 300_000))
        except LabelNotStoredError as error:
            return str(error)
        labelled += 1
        return ""

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
    refusals = [await asyncio.to_thread(label_one) for _ in range(5)]
    subprocess.run(end_trouble, shell=True, check=True)
    await until(lambda: not log.status().degraded)
    afterwards = await keep_one()
    refused_afterwards = await asyncio.to_thread(label_one)
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
        "refusals": refusals,
        "refused_afterwards": refused_afterwards,
        "labels_acknowledged": labelled,
        "labels_stored": rows(path, "SELECT count(*) FROM label")[0][0],
        "kept": kept,
        "counted": verdicts,
        "stored": stored,
        "shed": shed,
        "rows": rows(path, "SELECT count(*) FROM payload")[0][0],
        "check": rows(path, "PRAGMA integrity_check")[0][0],
    }
    print(json.dumps(seen))


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])))
