"""What the audit costs: counting, flags, stored payloads, latency. `python -m benchmarks.audit_cost`.

The service beside the same service without verdict log and flags (`benchmarks/audit_off.py`). CPU time of the
whole process tree, the log's writing included; every request is different, nothing is cached; servers take
turns. Second opinions, which have a share of CPU time of their own, rest. Prints tables and writes
`benchmarks/results/audit_cost.json`.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
import time
from collections.abc import Sequence

from benchmarks.machine import machine
from benchmarks.numeric import ROOT, SIZES, load_samples, resized
from benchmarks.service import Bodies, Server, cost_us, goldcheck, serving

RESULT = ROOT / "benchmarks" / "results" / "audit_cost.json"
BATCH = 1_024
BATCHES_PER_ROUND = 4
ROUNDS = 11
LATENCY_ROUNDS = 12
LATENCY_S = 3.0
RESTING = {"GOLDCHECK_AUDIT_CPU_SHARE": "0"}
ALL = "100000"
"""A budget that no round exceeds."""


def without_audit() -> contextlib.AbstractContextManager[Server]:
    """The service with nothing counted, flagged or stored."""
    return serving(sys.executable, "-m", "benchmarks.audit_off", "serve", "--port", "{port}", **RESTING)


def with_audit(**settings: str) -> contextlib.AbstractContextManager[Server]:
    """The service."""
    return goldcheck(**RESTING, **settings)


def batch_costs() -> list[dict[str, float]]:
    """Microseconds per verdict: off, counted and flagged, the default budget, everything stored."""
    samples = load_samples()
    rows = []
    with (
        without_audit() as off,
        with_audit(GOLDCHECK_AUDIT_BUDGET="0") as counted,
        with_audit() as default,
        with_audit(GOLDCHECK_AUDIT_BUDGET=ALL) as everything,
    ):
        servers = {"off": off, "counted": counted, "default": default, "all": everything}
        for size in SIZES:
            bodies = Bodies(resized(samples, size, boxed=False))
            costs: dict[str, list[float]] = {name: [] for name in servers}
            for _ in range(ROUNDS):
                for name, server in servers.items():
                    requests = [bodies.batch(BATCH) for _ in range(BATCHES_PER_ROUND)]
                    verdicts = BATCH * BATCHES_PER_ROUND
                    costs[name].append(cost_us(server, "/v1/verify/batch", requests, verdicts))
            rows.append({"characters": size} | _summary(costs))
    return rows


def _summary(costs: dict[str, list[float]]) -> dict[str, float]:
    """Medians, and medians of what each round's neighbours differ by."""

    def more(name: str, than: str) -> float:
        return statistics.median(a - b for a, b in zip(costs[name], costs[than], strict=True))

    medians = {f"{name}_us": statistics.median(values) for name, values in costs.items()}
    return medians | {
        "counting_and_flags_us": more("counted", "off"),
        "default_budget_us": more("default", "off"),
        "stored_payload_us": more("all", "counted"),
    }


def latency() -> dict[str, float]:
    """The 99th percentile of requests with one item at half load, in alternating runs, and their ratio."""
    bodies = Bodies(resized(load_samples(), SIZES[0], boxed=False))
    with without_audit() as off, with_audit() as on:
        rate = _capacity(on, [bodies.single() for _ in range(2_000)]) / 2
        runs: dict[str, list[float]] = {"off": [], "on": []}
        for _ in range(LATENCY_ROUNDS):
            for name, server in (("off", off), ("on", on)):
                runs[name].append(
                    _p99_ms(server, [bodies.single() for _ in range(int(rate * LATENCY_S))], rate)
                )
    medians = {f"{name}_p99_ms": statistics.median(values) for name, values in runs.items()}
    ratio = statistics.median(a / b for a, b in zip(runs["on"], runs["off"], strict=True))
    return medians | {"requests_per_s": rate, "ratio": ratio}


def _capacity(server: Server, bodies: Sequence[bytes]) -> float:
    """Requests per second of one connection that never waits."""
    began = time.perf_counter()
    for body in bodies:
        server.post("/v1/verify", body)
    return len(bodies) / (time.perf_counter() - began)


def _p99_ms(server: Server, bodies: Sequence[bytes], rate: float) -> float:
    """Requests sent at fixed times, late ones counted from when they were due."""
    taken = []
    began = time.perf_counter()
    for n, body in enumerate(bodies):
        due = began + n / rate
        while (left := due - time.perf_counter()) > 0:
            time.sleep(left)
        server.post("/v1/verify", body)
        taken.append(time.perf_counter() - due)
    return statistics.quantiles(taken, n=100)[98] * 1e3


def main() -> None:
    """Measure, print, and write the result beside this file."""
    rows = batch_costs()
    for row in rows:
        print(", ".join(f"{name} {value:.1f}" for name, value in row.items()))
    waits = latency()
    print(", ".join(f"{name} {value:.2f}" for name, value in waits.items()))
    result = {"machine": machine(), "batch": rows, "latency": waits}
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
