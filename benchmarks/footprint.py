"""Time to ready and resident memory when idle, by workers. `python -m benchmarks.footprint`.

Memory is that of the whole process tree (service, sandbox, math workers), shared pages counted once (PSS).
Writes `benchmarks/results/footprint.json`.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path

from benchmarks.machine import machine
from benchmarks.numeric import ROOT
from benchmarks.service import serving

RESULT = ROOT / "benchmarks" / "results" / "footprint.json"
ROUNDS = 3
SETTLE_S = 2.0
"""Long enough for every worker to be warm, not only the one that answered."""


def measured(workers: int) -> tuple[float, float]:
    """Seconds from start to ready, and MB when idle."""
    command = (str(Path(sys.executable).with_name("goldcheck")), "serve", "--port", "{port}")
    began = time.monotonic()
    with serving(*command, "--workers", str(workers)) as server:
        ready_s = time.monotonic() - began
        time.sleep(SETTLE_S * workers)
        return ready_s, server.resident_mb()


def main() -> None:
    """Measure, print, and write the result."""
    rows = []
    print(f"{'workers':>8} {'ready after':>12} {'idle':>8}")
    for workers in (1, 2, 3):
        ready_s, idle_mb = map(
            statistics.median, zip(*(measured(workers) for _ in range(ROUNDS)), strict=True)
        )
        rows.append({"workers": workers, "ready_s": round(ready_s, 2), "idle_mb": round(idle_mb, 1)})
        print(f"{workers:>8} {ready_s:10.2f} s {idle_mb:5.0f} MB")
    RESULT.write_text(json.dumps({"machine": machine(), "idle": rows}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
