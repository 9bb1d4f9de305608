"""Cost of sandboxed runs beside their floor and beside plain subprocesses. `python -m benchmarks.sandbox`.

The floor of one run is fork + exit + wait of an interpreter that has imported the same, measured in turn
with it. Ten stdin tests through `Sandbox.run` stand beside the same interpreter started ten times by
`subprocess.run`, in turn too. Prints a table and writes `benchmarks/results/sandbox.json`.
"""

from __future__ import annotations

import asyncio
import json
import os
import platform
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sandbox.config import FLAGS, Interpreter, SandboxConfig
from sandbox.engine import Sandbox
from sandbox.environment import environment
from sandbox.languages import python
from sandbox.layers import procfs
from sandbox.types import Limits, Program, ScriptCase, Submission

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "sandbox.json"
RUNS, SUBMISSIONS = 300, 30
ADD = "print(sum(map(int, input().split())))\n"
NUMPY = "import numpy as np\nprint(int(np.array(list(map(int, input().split()))).sum()))\n"

FLOOR = """
import os, struct, sys, time
sys.path.append(sys.argv[1])
from sandbox.layers import libc
from sandbox.zygote import warm
warm.prepare(sys.argv[1])
warm.add(sys.argv[2:])
warm.settle()
while os.read(0, 1):
    begin = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    os.write(1, struct.pack("d", time.perf_counter() - begin))
"""


class Floor:
    """An interpreter like a zygote that does nothing but fork children that end at once."""

    def __init__(self, *modules: str) -> None:
        packages = str(Path(json.__file__).parent)
        site = next(path for path in sys.path if path.endswith("site-packages"))
        self._process = subprocess.Popen(
            [Interpreter.of_this_process().executable, *FLAGS, "-c", FLOOR, str(ROOT), *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment("/", packages) | {"PYTHONPATH": site},
            bufsize=0,
        )

    def once(self) -> float:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b".")
        return float(struct.unpack("d", self._process.stdout.read(8))[0])

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def quantiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        "min_ms": 1e3 * ordered[0],
        "p50_ms": 1e3 * statistics.median(ordered),
        "p99_ms": 1e3 * ordered[int(0.99 * (len(ordered) - 1))],
    }


async def one_run(sandbox: Sandbox, source: str, *modules: str) -> dict[str, Any]:
    """One script run and its floor, in turn."""
    spec = python.to_run(Program("python", (source,)), ScriptCase(b"20 22\n"), Limits())
    floor = Floor(*modules)
    ours, floors = [], []
    for number in range(RUNS + 20):
        least = floor.once()
        begin = time.perf_counter()
        result = await sandbox.run_one(spec)
        taken = time.perf_counter() - begin
        assert result.children[0].stdout == b"42\n", result
        await asyncio.sleep(0.003)  # the next child is forked between runs, as it is between requests
        if number >= 20:
            ours.append(taken)
            floors.append(least)
    floor.close()
    ratio = statistics.median(ours) / statistics.median(floors)
    return {"run": quantiles(ours), "floor": quantiles(floors), "p50_ratio": ratio}


async def ten_tests(sandbox: Sandbox, source: str) -> dict[str, Any]:
    """Ten stdin tests in the sandbox and by plain subprocess, in turn."""
    cases = tuple(ScriptCase(f"{n} 1\n".encode()) for n in range(10))
    ours, plain = [], []
    our_cpu = plain_cpu = 0.0
    for _ in range(SUBMISSIONS):
        begin, cpu = time.perf_counter(), cpu_time_s(os.getpid())
        async for result in sandbox.run(Submission(Program("python", (source,)), cases)):
            assert result.exit_code == 0, result
        ours.append(time.perf_counter() - begin)
        our_cpu += cpu_time_s(os.getpid()) - cpu
        cpu = cpu_time_s(os.getpid())
        plain.append(timed(lambda: plainly(source, cases)))
        plain_cpu += cpu_time_s(os.getpid()) - cpu
    return {
        "sandbox": quantiles(ours) | {"cpu_ms": 1e3 * our_cpu / SUBMISSIONS},
        "subprocess": quantiles(plain) | {"cpu_ms": 1e3 * plain_cpu / SUBMISSIONS},
        "times_faster": statistics.median(plain) / statistics.median(ours),
        "times_less_cpu": plain_cpu / our_cpu,
    }


def plainly(source: str, cases: tuple[ScriptCase, ...]) -> None:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        for case in cases:
            subprocess.run([sys.executable, file.name], input=case.stdin, stdout=subprocess.PIPE, check=True)


def timed(work: Callable[[], None]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def cpu_time_s(pid: int) -> float:
    """CPU time of a process, all it has waited for, and all beneath it."""
    found = procfs.stat(pid)
    own = (procfs.cpu_time_s(pid) or 0.0) + (found.children_cpu_s if found else 0.0)
    return own + sum(cpu_time_s(child) for child in procfs.children(pid, pid))


def memory_bytes(pid: int) -> int:
    """Proportional memory of a process and all its descendants."""
    total = 0
    pending = [pid]
    while pending:
        pid = pending.pop()
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += int(text.split("Pss:")[1].split()[0]) << 10
        pending += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return total


async def measure() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as run_dir:
        sandbox = Sandbox(SandboxConfig(run_dir=run_dir))
        begin = time.perf_counter()
        await sandbox.start()
        started = time.perf_counter() - begin
        report = sandbox.report()
        assert sandbox.supervisor_pid is not None
        idle = memory_bytes(sandbox.supervisor_pid)
        figures = {
            "level": report.level,
            "start_s": started,
            "idle_memory_mb": idle / 1e6,
            "one run, lean": await one_run(sandbox, ADD),
            "one run, numpy": await one_run(sandbox, NUMPY, "numpy"),
            "ten tests, sum": await ten_tests(sandbox, ADD),
            "ten tests, numpy": await ten_tests(sandbox, NUMPY),
        }
        await sandbox.close()
    return figures


def main() -> None:
    figures = asyncio.run(measure())
    figures["machine"] = {
        "kernel": platform.release(),
        "python": platform.python_version(),
        "cores": len(os.sched_getaffinity(0)),
        "load": os.getloadavg()[0],
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
