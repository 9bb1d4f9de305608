"""Random and mutated responses: no exception, nothing over the deadline, memory flat.

python tests/verifiers/math/math_fuzz.py [COUNT] [SEED]
"""

from __future__ import annotations

import random
import resource
import sys
import time

import math_mutations as mutate
from rich.progress import track

from verifiers.math.judge import judge
from verifiers.math.options import MathOptions

DEADLINE_S = 5.0
MOST_GROWTH_KIB = 150_000
"""Growth of the resident size over a run, after the first tenth."""


def main(count: int, seed: int) -> int:
    """Judge `count` random items; the number of faults."""
    rng, options, faults, slowest = random.Random(seed), MathOptions(), 0, 0.0
    baseline = 0
    for index in track(range(count), description=f"seed {seed}"):
        response, truth = mutate.response(rng), mutate.truth(rng)
        if rng.random() < 0.2:
            response = f"\\boxed{{{truth}}}"
        begin = time.process_time()
        try:
            judge(response, truth, options)
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
    print(f"{count} items, {faults} faults, slowest {slowest * 1e3:.0f} ms, growth {growth / 1024:.0f} MiB")
    return faults


if __name__ == "__main__":
    sys.setrecursionlimit(5_000)
    arguments = [int(argument) for argument in sys.argv[1:]] + [20_000, 1][len(sys.argv) - 1 :]
    sys.exit(main(*arguments[:2]) > 0)
