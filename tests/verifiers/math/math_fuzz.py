"""Random and mutated responses: no exception, nothing over the deadline, memory flat.

python tests/verifiers/math/math_fuzz.py [COUNT] [SEED] [PROCESSES] [RESULT]

Each process takes a share of COUNT from a seed of its own; what they come to is written to the file RESULT.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import math_mutations as mutate
from rich.progress import track

from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.types import Verdict

DEADLINE_S = 5.0
MOST_GROWTH_KIB = 150_000
"""Growth of the resident size over a run, after the first tenth."""


def fuzz(count: int, seed: int) -> dict[str, Any]:
    """Judge `count` random items; what they came to."""
    sys.setrecursionlimit(5_000)
    rng, options, faults, slowest = random.Random(seed), MathOptions(), 0, 0.0
    verdicts = Counter[str]()
    baseline = 0
    for index in track(range(count), description=f"seed {seed}"):
        response, truth = mutate.response(rng), mutate.truth(rng)
        if rng.random() < 0.2:
            response = f"\\boxed{{{truth}}}"
        begin = time.process_time()
        try:
            outcome = judge(response, truth, options)
            verdicts[outcome.reason if isinstance(outcome, Verdict) else outcome.kind] += 1
        except Exception as fault:
            faults += 1
            print(f"{type(fault).__name__}: {fault}\n  response {response!r}\n  truth {truth!r}")
        took = time.process_time() - begin
        slowest = max(slowest, took)
        if took > DEADLINE_S / 5:
            faults += took > DEADLINE_S
            print(f"{took:.2f} s\n  response {response!r}\n  truth {truth!r}")
        if index == count // 10:
            baseline = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - baseline
    faults += growth > MOST_GROWTH_KIB
    return {
        "items": count,
        "seeds": [seed],
        "faults": faults,
        "slowest_cpu_ms": round(slowest * 1e3, 1),
        "growth_mib": growth // 1024,
        "cpu_s": round(time.process_time()),
        "verdicts": dict(verdicts.most_common()),
    }


def main(count: int, seed: int, processes: int, result: str) -> int:
    """Fuzz in that many processes, write and print what they came to; the number of faults."""
    shares = [count // processes + (index < count % processes) for index in range(processes)]
    with ProcessPoolExecutor(processes) as pool:
        runs = list(pool.map(fuzz, shares, range(seed, seed + processes)))
    report = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        **{name: sum(run[name] for run in runs) for name in ("items", "faults", "cpu_s")},
        **{name: max(run[name] for run in runs) for name in ("slowest_cpu_ms", "growth_mib")},
        "seeds": [number for run in runs for number in run["seeds"]],
        "verdicts": dict(sum((Counter(run["verdicts"]) for run in runs), Counter[str]()).most_common()),
    }
    text = json.dumps(report, indent=1)
    print(text)
    if result:
        Path(result).write_text(text + "\n", encoding="utf-8")
    return int(report["faults"])


if __name__ == "__main__":
    given = [*sys.argv[1:], *["20000", "1", "1", ""][len(sys.argv) - 1 :]]
    sys.exit(main(int(given[0]), int(given[1]), int(given[2]), given[3]) > 0)
