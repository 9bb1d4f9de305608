"""What the sandbox's benchmarks run, the floor they stand on, and how they are measured."""

from __future__ import annotations

import json
import os
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sandbox.config import FLAGS, Interpreter
from sandbox.environment import environment
from sandbox.layers import procfs

ROOT = Path(__file__).resolve().parent.parent
ADD = "print(sum(map(int, input().split())))\n"
NUMPY = "import numpy as np\nprint(int(np.array(list(map(int, input().split()))).sum()))\n"
FUNCTION = "def add(a, b):\n    total = 0\n    for n in (a, b):\n        total += n\n    return total\n"

_FIVE_LINES = """def f{0}(a, b):
    found = [x * {0} for x in range(a) if x % 3]
    if b > {0}:
        return sum(found) + b
    return max(found, default=0)
"""


def long_program(lines: int) -> str:
    """`ADD` beneath functions that it does not call."""
    return "".join(_FIVE_LINES.format(number) for number in range(lines // 5)) + ADD


_FLOOR = """
import os, struct, sys, time
sys.path.append(sys.argv[1])
from sandbox.zygote import at_fork
if sys.argv[2] == "zygote":
    at_fork.hold()
from sandbox.zygote import slot, warm
warm.prepare(sys.argv[1])
warm.add(sys.argv[3:])
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
    """An interpreter with a zygote's memory that does nothing but fork children that end at once.

    how: `zygote`, as zygotes fork, or `interpreter`, with what modules register to be done at a fork.
    """

    def __init__(self, how: str, *modules: str) -> None:
        packages = str(Path(json.__file__).parent)
        site = next(path for path in sys.path if path.endswith("site-packages"))
        self._process = subprocess.Popen(
            [Interpreter.of_this_process().executable, *FLAGS, "-c", _FLOOR, str(ROOT), how, *modules],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment("/", packages) | {"PYTHONPATH": site},
            bufsize=0,
        )

    def once(self) -> float:
        """Seconds of one fork, exit and wait."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(b".")
        return float(struct.unpack("d", self._process.stdout.read(8))[0])

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def quantiles(seconds: Sequence[float]) -> dict[str, float]:
    """In milliseconds."""
    ordered = sorted(seconds)
    return {
        "min_ms": round(1e3 * ordered[0], 3),
        "p50_ms": round(1e3 * statistics.median(ordered), 3),
        "p99_ms": round(1e3 * ordered[int(0.99 * (len(ordered) - 1))], 3),
    }


class Clock:
    """Adds up wall and CPU time of pieces of work, each measured over this process and all beneath it."""

    def __init__(self) -> None:
        self.wall_s: list[float] = []
        self.cpu_s: list[float] = []

    def begin(self) -> None:
        """A piece of work begins."""
        self._cpu, self._wall = cpu_by_process(os.getpid()), time.perf_counter()

    def end(self) -> None:
        """It has ended."""
        self.wall_s.append(time.perf_counter() - self._wall)
        after = cpu_by_process(os.getpid())
        self.cpu_s.append(sum(max(0.0, used - self._cpu.get(pid, 0.0)) for pid, used in after.items()))

    def time(self, work: Callable[[], Any]) -> Any:
        """Do a piece of work."""
        self.begin()
        result = work()
        self.end()
        return result

    def summary(self) -> dict[str, float]:
        """Wall and CPU time of a piece."""
        return quantiles(self.wall_s) | {"cpu_ms": round(1e3 * statistics.median(self.cpu_s), 3)}


def cpu_by_process(pid: int) -> dict[int, float]:
    """CPU time of a process and all beneath it, each with what it has waited for."""
    found = procfs.stat(pid)
    used = {pid: (procfs.cpu_time_s(pid) or 0.0) + (found.children_cpu_s if found else 0.0)}
    for task in procfs.tasks(pid):
        for child in procfs.children(pid, task):
            used |= cpu_by_process(child)
    return used


def memory_bytes(pid: int, field: str = "Pss") -> int:
    """Memory of one process: `Pss`, shared pages divided among their users, or `Private_Dirty`."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return int(text.split(f"{field}:")[1].split()[0]) << 10


def tree(pid: int) -> list[int]:
    """A process and all beneath it."""
    return [*cpu_by_process(pid)]
