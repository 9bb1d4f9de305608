"""Cost of sandboxed runs beside other ways to run the same tests. `python -m benchmarks.sandbox`.

What is compared takes turns in the same run. One run stands beside fork + exit + wait of an interpreter with
a zygote's memory; ten tests beside an interpreter a test, bubblewrap, an in-process grader and a forked file
of asserts (`sandbox_peers.py`). Prints and writes `benchmarks/results/sandbox.json`.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks import sandbox_http, sandbox_peers
from benchmarks.machine import machine
from benchmarks.sandbox_work import (
    ADD,
    FUNCTION,
    NUMPY,
    ROOT,
    Clock,
    Floor,
    long_program,
    memory_bytes,
    quantiles,
    tree,
)
from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.languages import python
from sandbox.layers import process, procfs
from sandbox.types import Call, Limits, Program, RunStatus, ScriptCase, Submission
from verifiers.code.ground_truth import read_tests
from verifiers.code.runs import Runner
from verifiers.code.tests import AssertTests, FunctionCase, FunctionTests

RESULT = ROOT / "benchmarks" / "results" / "sandbox.json"
SHARED = Path(os.environ.get("GOLDCHECK_SHARED", ROOT.parent / "shared"))
RUNS, SUBMISSIONS, ROUNDS, OVERRUNS = 300, 20, 8, 100
LINES = (1, 30, 150, 600)
_IDLE_S = 0.1
"""Between two of them: what the one before has cost its seat is not measured again."""
LIMITS = Limits()
NUMBERS = range(10)


async def one_run(sandbox: Sandbox, source: str, *modules: str) -> dict[str, Any]:
    """One script run and its floors, in turn."""
    spec = python.to_run(Program("python", (source,)), ScriptCase(b"20 22\n"), LIMITS)
    floors = {how: Floor(how, *modules) for how in ("zygote", "interpreter")}
    seconds: dict[str, list[float]] = {"run": [], "zygote": [], "interpreter": []}
    for number in range(RUNS + 20):
        taken = {how: floor.once() for how, floor in floors.items()}
        begin = time.perf_counter()
        result = await sandbox.run_one(spec)
        taken["run"] = time.perf_counter() - begin
        assert result.children[0].stdout == b"42\n", result
        await asyncio.sleep(0.004)  # the next child is forked between runs, as it is between requests
        if number >= 20:
            for name, value in taken.items():
                seconds[name].append(value)
    for floor in floors.values():
        floor.close()
    figures: dict[str, Any] = {name: quantiles(values) for name, values in seconds.items()}
    for how in floors:
        for part in ("p50_ms", "p99_ms"):
            figures[f"{part[:3]} over fork of {how}"] = round(figures["run"][part] / figures[how][part], 2)
    return figures


async def in_turn(ours: dict[str, Callable[[], Any]], peers: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """Do each piece of work in each round; the first of `peers` is what the others are compared with."""
    clocks = {name: Clock() for name in (*ours, *peers)}
    for _ in range(SUBMISSIONS):
        for name, work in ours.items():
            clocks[name].begin()
            await work()
            clocks[name].end()
        for name, peer in peers.items():
            clocks[name].time(peer)
    figures = {name: clock.summary() for name, clock in clocks.items()}
    base = figures[next(iter(peers))]
    for figure in figures.values():
        figure["times_faster"] = round(base["p50_ms"] / figure["p50_ms"], 2)
        figure["times_less_cpu"] = round(base["cpu_ms"] / figure["cpu_ms"], 2)
    return figures


async def ten_tests(sandbox: Sandbox, source: str) -> dict[str, Any]:
    """Ten stdin tests."""
    inputs = [f"{number} 1\n" for number in NUMBERS]
    expected = [f"{number + 1}\n" for number in NUMBERS]
    cases = tuple(ScriptCase(text.encode()) for text in inputs)

    async def ours() -> None:
        results = [r async for r in sandbox.run(Submission(Program("python", (source,)), cases))]
        assert [result.stdout.decode() for result in results] == expected, results

    def peer(run: Callable[[str, list[str]], list[str]]) -> Callable[[], None]:
        def work() -> None:
            assert run(source, inputs) == expected

        return work

    peers = {"plain subprocess": peer(sandbox_peers.plain)}
    if sandbox_peers.BUBBLEWRAP:
        peers["bubblewrap"] = peer(sandbox_peers.bubblewrap)
    peers["in process, not isolated"] = peer(sandbox_peers.in_process)
    return await in_turn({"sandbox": ours}, peers)


async def ten_calls(sandbox: Sandbox) -> dict[str, Any]:
    """Ten function calls: a process each, one process for all."""
    cases = tuple(FunctionCase(Call((n, 1)), n + 1) for n in NUMBERS)
    tests = FunctionTests("add", cases)
    arguments, expected = [[n, 1] for n in NUMBERS], [n + 1 for n in NUMBERS]

    def ours(share: bool) -> Callable[[], Any]:
        async def work() -> None:
            runner = Runner(sandbox, Program("python", (FUNCTION,)), LIMITS, share=share)
            assert (await runner.function(tests, cases)).passed == len(cases)

        return work

    def peer(run: Callable[..., list[Any]]) -> Callable[[], None]:
        def work() -> None:
            assert run(FUNCTION, "add", arguments) == expected

        return work

    peers = {"plain subprocess": peer(sandbox_peers.plain_calls)}
    if sandbox_peers.BUBBLEWRAP:
        peers["bubblewrap"] = peer(sandbox_peers.bubblewrap_calls)
    peers["in process, not isolated"] = peer(sandbox_peers.in_process_calls)
    pairs = list(zip(arguments, expected, strict=True))
    peers["asserts in a fork, not isolated"] = lambda: sandbox_peers.asserts_in_fork(FUNCTION, "add", pairs)
    return await in_turn({"own process each": ours(False), "shared": ours(True)}, peers)


async def compiling(sandbox: Sandbox) -> dict[str, Any]:
    """CPU time of runs that compile a program, and of runs that are given what another has compiled."""
    figures = {}
    for lines in LINES:
        program = Program("python", (long_program(lines),))
        case = ScriptCase(b"20 22\n")
        compiled = python.compiled(await sandbox.run_one(python.to_run(program, case, LIMITS, keep=True)))
        specs = {
            "compiles": python.to_run(program, case, LIMITS),
            "given": python.to_run(program, case, LIMITS, compiled=compiled),
        }
        clocks = {name: Clock() for name in specs}
        for _ in range(ROUNDS):
            for name, spec in specs.items():
                clocks[name].begin()
                results = await asyncio.gather(*(sandbox.run_one(spec) for _ in range(20)))
                clocks[name].end()
                assert all(result.children[0].stdout == b"42\n" for result in results), results
        cpu = {name: 1e3 * statistics.median(clock.cpu_s) / 20 for name, clock in clocks.items()}
        figures[f"{lines} lines"] = {f"{name}_cpu_ms": round(value, 3) for name, value in cpu.items()}
    return figures


async def scaling(run_dir: str) -> dict[str, Any]:
    """CPU per run with one slot on one core and with two on two, both kept busy, in turn."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        return {}
    spec = python.to_run(Program("python", (ADD,)), ScriptCase(b"20 22\n"), LIMITS)
    sandboxes, clocks = {}, {count: Clock() for count in (1, 2)}
    for count in clocks:
        os.sched_setaffinity(0, cores[:count])
        sandboxes[count] = Sandbox(SandboxConfig(run_dir=f"{run_dir}/{count}", slots=count))
        await sandboxes[count].start()
    for number in range(ROUNDS + 1):
        for count, sandbox in sandboxes.items():
            os.sched_setaffinity(0, cores[:count])
            clocks[count].begin()
            await asyncio.gather(*(sandbox.run_one(spec) for _ in range(50)))
            if number:
                clocks[count].end()
    os.sched_setaffinity(0, cores)
    for sandbox in sandboxes.values():
        await sandbox.close()
    cpu = {count: statistics.median(clock.cpu_s) / 50 for count, clock in clocks.items()}
    rate = {count: 50 / statistics.median(clock.wall_s) for count, clock in clocks.items()}
    return {
        "cpu_ms_per_run": {f"{count} cores": round(1e3 * cpu[count], 3) for count in cpu},
        "runs_per_s": {f"{count} cores": round(rate[count], 1) for count in rate},
        "cpu_growth": round(cpu[2] / cpu[1] - 1, 3),
    }


async def overruns(sandbox: Sandbox) -> dict[str, Any]:
    """How much later than its limit a run has ended and been reported, with nothing beside it."""
    figures = {}
    for name, source, limits, status in (
        ("cpu", "while True: pass", Limits(cpu_time_s=0.1, wall_time_s=30), RunStatus.CPU_TIME_EXCEEDED),
        ("wall", "import time; time.sleep(9)", Limits(wall_time_s=0.1), RunStatus.WALL_TIME_EXCEEDED),
    ):
        spec = python.to_run(Program("python", (source,)), ScriptCase(b""), limits)
        late = []
        for _ in range(OVERRUNS):
            begin = time.perf_counter()
            result = await sandbox.run_one(spec)
            passed = time.perf_counter() - begin
            assert result.status is status, result
            late.append((result.cpu_time_s if name == "cpu" else passed) - 0.1)
            await asyncio.sleep(_IDLE_S)
        figures[name] = quantiles(late)
    return figures


async def human_eval(sandbox: Sandbox) -> dict[str, Any]:
    """How the canonical solutions of HumanEval are judged, and what that takes."""
    path = SHARED / "data" / "humaneval.jsonl"
    if not path.exists():
        return {}
    modes: Counter[str] = Counter()
    used = []
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        truth = {"type": "asserts", "code": row["test"], "entry_point": row["entry_point"]}
        tests = read_tests(truth)
        assert isinstance(tests, AssertTests)
        program = Program("python", (row["prompt"] + row["canonical_solution"],))
        judgement = await Runner(sandbox, program, LIMITS).asserts(tests)
        assert judgement.passed == 1, row["task_id"]
        modes[judgement.mode] += 1
        result = judgement.cases[0].result
        used.append(result.cpu_time_s if result else 0.0)
    return {"passed": dict(modes), "cpu": quantiles(used)}


def memory(sandbox: Sandbox) -> dict[str, float]:
    """Of the supervisor and all beneath it, and of its parts."""
    assert sandbox.supervisor_pid is not None
    pids = tree(sandbox.supervisor_pid)
    waiting = [pid for pid in pids if not procfs.children(pid, pid)]
    zygotes = {stat.parent for pid in waiting if (stat := procfs.stat(pid))}

    def mean_mb(of: list[int] | set[int], field: str) -> float:
        return round(statistics.mean(memory_bytes(pid, field) for pid in of) / 1e6, 2)

    return {
        "all_mb": round(sum(memory_bytes(pid) for pid in pids) / 1e6, 1),
        "zygote_mb": mean_mb(zygotes, "Pss"),
        "zygote_own_mb": mean_mb(zygotes, "Private_Dirty"),
        "waiting_child_own_mb": mean_mb(waiting, "Private_Dirty"),
    }


async def measure(figures: dict[str, Any]) -> None:
    """All that goes on inside the engine."""
    with tempfile.TemporaryDirectory() as run_dir:
        sandbox = Sandbox(SandboxConfig(run_dir=run_dir))
        begin = time.perf_counter()
        await sandbox.start()
        figures["start_s"] = round(time.perf_counter() - begin, 3)
        figures["level"] = sandbox.report().level
        figures["one run, lean"] = await one_run(sandbox, ADD)
        figures["memory"] = memory(sandbox)
        figures["one run, numpy"] = await one_run(sandbox, NUMPY, "numpy", "numpy.random")
        figures["ten stdin tests, sum"] = await ten_tests(sandbox, ADD)
        figures["ten stdin tests, numpy"] = await ten_tests(sandbox, NUMPY)
        figures["ten function calls"] = await ten_calls(sandbox)
        figures["compiled once"] = await compiling(sandbox)
        figures["deadline overrun"] = await overruns(sandbox)
        figures["HumanEval"] = await human_eval(sandbox)
        await sandbox.close()
        figures["from one core to two"] = await scaling(run_dir)


def main() -> None:
    process.adopt_orphans()  # what bubblewrap leaves is waited for, and so counted, here
    where = machine()
    figures: dict[str, Any] = {"machine": where}
    asyncio.run(measure(figures))
    figures["one test over HTTP"] = sandbox_http.measure()
    where["load_after"] = round(os.getloadavg()[0], 2)
    RESULT.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
