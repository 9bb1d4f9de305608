"""The engine: order, limits over a submission, cancellation, lost processes, weak hosts."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import sys
from pathlib import Path

import pytest
from hosts import FLEEING, script, started

from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.errors import SandboxUnavailable
from sandbox.layers import procfs
from sandbox.run import Child, RunSpec
from sandbox.types import CaseResult, Limits, Program, RunStatus, ScriptCase, Submission

pytestmark = pytest.mark.asyncio(loop_scope="session")

ECHO = "print(input())"


def descendants(pid: int) -> list[int]:
    """Every process beneath `pid`."""
    found, pending = [], [pid]
    while pending:
        below = procfs.children(parent := pending.pop(), parent)
        found += below
        pending += below
    return found


async def gone(pids: list[int]) -> bool:
    """Whether all of `pids` end soon."""
    for _ in range(500):
        if not any(_alive(pid) for pid in pids):
            return True
        await asyncio.sleep(0.02)
    return False


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


async def results(sandbox: Sandbox, submission: Submission) -> list[CaseResult]:
    return [result async for result in sandbox.run(submission)]


async def test_results_come_in_order(sandbox: Sandbox) -> None:
    """Cases may run at once, but their results come in the order of the cases."""
    inputs = [f"{n}\n".encode() for n in range(12)]
    source = "import time\nn = input()\ntime.sleep(0.05 * (int(n) % 3 == 0))\nprint(n)"
    seen = await results(sandbox, script(source, *inputs))
    assert [result.stdout for result in seen] == inputs
    assert [result.index for result in seen] == list(range(12))


async def test_early_stop_ends_after_the_first_failure(sandbox: Sandbox) -> None:
    """With `stop_early` later cases are not run."""
    cases = tuple(ScriptCase(data) for data in (b"0\n", b"1\n", b"0\n"))
    program = Program("python", ("raise SystemExit(int(input()))",))
    seen = await results(sandbox, Submission(program, cases, stop_early=True))
    assert [result.status for result in seen] == [RunStatus.EXITED, RunStatus.EXITED, RunStatus.NOT_RUN]


async def test_total_time_leaves_later_cases_out(sandbox: Sandbox) -> None:
    """The wall clock of the cases is summed in their order; what comes after the limit is not run."""
    limits = Limits(cpu_time_s=5, total_time_s=0.5)
    seen = await results(sandbox, script("import time; time.sleep(0.3)", *[b""] * 5, limits=limits))
    assert [result.status for result in seen] == [RunStatus.EXITED] * 2 + [RunStatus.NOT_RUN] * 3


async def test_limits_are_bounded_by_the_service(sandbox: Sandbox) -> None:
    """A caller cannot ask for more than the maximum."""
    source = "import resource; print(resource.getrlimit(resource.RLIMIT_STACK)[0] >> 30)"
    [result] = await results(sandbox, script(source, limits=Limits(memory_bytes=1 << 50)))
    assert int(result.stdout) <= sandbox.report().maximum_limits.memory_bytes >> 30


async def test_measures_what_a_run_used(sandbox: Sandbox) -> None:
    """CPU time, wall clock and memory are those of the program, not of the warm interpreter beneath it."""
    source = "import time\nx = b'x' * (100 << 20)\nwhile time.process_time() < 0.2: pass\ntime.sleep(0.2)"
    [result] = await results(sandbox, script(source))
    assert 0.2 <= result.cpu_time_s < 1
    assert result.wall_time_s >= 0.2
    # What the kernel frees late of the run before may be missing from this one's peak.
    assert 90 << 20 <= result.peak_memory_bytes < 130 << 20
    [small] = await results(sandbox, script("pass"))
    assert small.peak_memory_bytes < 10 << 20


@pytest.mark.parametrize(
    "source", ["while True: pass", "import time; time.sleep(60)", "import os\nos.fork()\nos.wait()"]
)
async def test_cancelling_kills_what_runs(sandbox: Sandbox, source: str) -> None:
    """A cancelled run ends at once and frees its slot."""
    supervisor = sandbox.supervisor_pid
    assert supervisor is not None
    tasks = [asyncio.create_task(results(sandbox, script(source, limits=Limits(60, 90)))) for _ in range(8)]
    await asyncio.sleep(0.2)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    [result] = await results(sandbox, script(ECHO, b"free\n"))
    assert result.stdout == b"free\n"


async def test_closing_the_iterator_kills_what_runs(sandbox: Sandbox) -> None:
    """Whoever stops reading results stops the runs."""
    source = "import time\nif input() == 's': time.sleep(60)"
    iterator = sandbox.run(script(source, b"q\n", b"s\n", b"s\n", limits=Limits(60, 90)))
    await anext(iterator)
    await asyncio.wait_for(iterator.aclose(), 10)  # type: ignore[attr-defined]
    [result] = await results(sandbox, script(ECHO, b"free\n"))
    assert result.stdout == b"free\n"


async def test_two_children_talk_over_their_socket(sandbox: Sandbox) -> None:
    """A run of two is joined by a socket pair; the end of the first ends it."""
    spec = RunSpec((Child("probe", b"{}"), Child("probe", b"{}")), Limits())
    result = await sandbox.run_one(spec)
    assert result.status is RunStatus.EXITED
    assert b'"network": true' in result.children[0].channel


async def test_lost_zygote_is_replaced_and_the_run_repeated(tmp_path: Path) -> None:
    """A zygote that dies costs no verdict: the run is repeated in a fresh one, alone."""
    async with started(tmp_path, slots=1) as sandbox:
        waiting = asyncio.create_task(results(sandbox, script("import time; time.sleep(0.5); print('x')")))
        await asyncio.sleep(0.3)
        zygotes = [pid for pid in descendants(sandbox.supervisor_pid or 0) if procfs.children(pid, pid)]
        os.kill(zygotes[-1], signal.SIGKILL)
        [result] = await waiting
        assert (result.stdout, result.reran) == (b"x\n", True)


async def test_program_that_loses_its_zygote_twice_is_to_blame(tmp_path: Path) -> None:
    """Lost twice while a control program runs well: a violation, never a missing verdict."""
    async with started(tmp_path, slots=1) as sandbox:
        waiting = asyncio.create_task(results(sandbox, script("import time; time.sleep(0.6)")))
        for _ in range(2):
            await asyncio.sleep(0.3)
            zygotes = [pid for pid in descendants(sandbox.supervisor_pid or 0) if procfs.children(pid, pid)]
            os.kill(zygotes[-1], signal.SIGKILL)
        [result] = await waiting
        assert result.status is RunStatus.VIOLATION
        [good] = await results(sandbox, script(ECHO, b"good\n"))
        assert good.stdout == b"good\n"


HOSTS = {"this host": (), "no mounts, no process table": ("no mounts", "no pids")}


OWN_UIDS = (100_000 + 64 * (os.getpid() % 1000), 64)
"""Users that no other service on this host takes over once they are free."""


def owned_by_programs() -> set[int]:
    """Processes of the users that programs get when the service is root."""
    first, count = OWN_UIDS
    return {int(p.name) for p in Path("/proc").glob("[0-9]*") if first <= _owner(p) < first + count}


def _owner(process: Path) -> int:
    try:
        return process.stat().st_uid
    except OSError:
        return -1


@pytest.mark.parametrize("assume", HOSTS.values(), ids=HOSTS)
async def test_killed_supervisor_is_replaced_and_leaves_nothing(
    tmp_path: Path, assume: tuple[str, ...]
) -> None:
    """After kill -9 of the supervisor the run is repeated by a new one; all old processes end."""
    async with started(tmp_path, *assume, uids=OWN_UIDS) as sandbox:
        old = sandbox.supervisor_pid
        assert old is not None
        waiting = asyncio.create_task(results(sandbox, script(FLEEING)))
        await asyncio.sleep(0.4)
        below = descendants(old)
        assert len(below) > 5
        users = {_owner(Path(f"/proc/{pid}")) for pid in below} - {os.getuid(), -1}
        os.kill(old, signal.SIGKILL)
        [result] = await waiting
        assert result.reran
        assert sandbox.supervisor_pid != old
        assert await gone([old, *below])
        assert not {
            pid for pid in owned_by_programs() if _owner(Path(f"/proc/{pid}")) in users - _users(sandbox)
        }


def _users(sandbox: Sandbox) -> set[int]:
    return {_owner(Path(f"/proc/{pid}")) for pid in descendants(sandbox.supervisor_pid or 0)}


SERVICE = """
import asyncio, sys
sys.path[:0] = [{root!r}, {tests!r}]
from hosts import script
from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
async def main():
    sandbox = Sandbox(SandboxConfig(run_dir={run_dir!r}))
    await sandbox.start()
    print(sandbox.supervisor_pid, flush=True)
    source = "import os, time\\nfor _ in range(5):\\n if os.fork() == 0: os.setsid()\\ntime.sleep(60)"
    async for _ in sandbox.run(script(source, b"", b"")): pass
asyncio.run(main())
"""


@pytest.mark.parametrize("fatal", [signal.SIGKILL, signal.SIGTERM])
async def test_killed_service_leaves_nothing(tmp_path: Path, fatal: signal.Signals) -> None:
    """After kill -9 of the service its supervisor, zygotes and every program end, and folders are empty."""
    here = Path(__file__).parent
    source = SERVICE.format(root=str(here.parents[1]), tests=str(here), run_dir=str(tmp_path))
    service = await asyncio.create_subprocess_exec(
        sys.executable, "-c", source, stdout=asyncio.subprocess.PIPE
    )
    assert service.stdout is not None
    supervisor = int(await service.stdout.readline())
    await asyncio.sleep(0.5)
    below = descendants(supervisor)
    assert len(below) > 5
    service.send_signal(fatal)
    await service.wait()
    assert await gone([supervisor, *below])


async def test_close_leaves_nothing(tmp_path: Path) -> None:
    """Closing ends every process, running programs included."""
    async with started(tmp_path) as sandbox:
        task = asyncio.create_task(
            results(sandbox, script("import time; time.sleep(60)", limits=Limits(60, 90)))
        )
        await asyncio.sleep(0.3)
        pids = [sandbox.supervisor_pid or 0, *descendants(sandbox.supervisor_pid or 0)]
        await sandbox.close()
        assert await gone(pids)
        with pytest.raises(SandboxUnavailable):
            await task


async def test_closed_sandbox_is_unavailable(tmp_path: Path) -> None:
    """After `close`, and before `start`, runs are refused in words."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path)))
    with pytest.raises(SandboxUnavailable, match=r"not started|not running"):
        await results(sandbox, script(ECHO))
    assert not sandbox.report().available


@pytest.mark.parametrize(
    ("assume", "level", "reason"),
    [
        ("no landlock", "base", "Landlock"),
        ("no seccomp", "none", "seccomp|left out"),
    ],
)
async def test_weak_host_refuses_code_in_words(tmp_path: Path, assume: str, level: str, reason: str) -> None:
    """Below the minimum level the sandbox starts, says what is missing, and runs nothing."""
    async with started(tmp_path, assume) as sandbox:
        report = sandbox.report()
        assert (report.level, report.available) == (level, False)
        with pytest.raises(SandboxUnavailable, match=reason):
            await results(sandbox, script(ECHO))


@pytest.mark.parametrize("fault", ["run folder is a file", "too few user ids"])
async def test_failed_set_up_is_reported_not_raised(tmp_path: Path, fault: str) -> None:
    """Whatever keeps the sandbox from being set up is said in its report, and nothing is run."""
    run_dir, settings = tmp_path, {}
    if fault == "run folder is a file":
        (run_dir := tmp_path / "run").write_text("")
    elif os.geteuid() != 0:
        pytest.skip("user ids are only given out by root")
    else:
        settings = {"uids": (60000, 1), "slots": 2}
    async with started(run_dir, **settings) as sandbox:
        report = sandbox.report()
        assert (report.level, report.available) == ("none", False)
        with pytest.raises(SandboxUnavailable, match=r"could not be set up: .+"):
            await results(sandbox, script(ECHO))


async def test_weak_host_runs_code_when_told_to(tmp_path: Path) -> None:
    """A lower minimum is the operator's choice, and what was killable stays accounted for."""
    killer = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)"
    async with started(tmp_path, "no landlock", minimum="base") as sandbox:
        [result] = await results(sandbox, script(killer))
        assert result.status in (RunStatus.VIOLATION, RunStatus.EXITED)
        [result] = await results(sandbox, script(ECHO, b"well\n"))
        assert result.stdout == b"well\n"


async def test_slots_are_shared_by_workers(tmp_path: Path) -> None:
    """Two workers with one slot between them never run two programs at once."""
    source = "import time\nprint(time.time())\ntime.sleep(0.1)\nprint(time.time())"
    async with started(tmp_path, slots=1) as one, started(tmp_path, slots=1) as other:
        seen = await asyncio.gather(*(results(worker, script(source, b"", b"")) for worker in (one, other)))
    spans = sorted(tuple(map(float, result.stdout.split())) for worker in seen for result in worker)
    assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(spans))


async def test_report_says_what_holds(sandbox: Sandbox) -> None:
    """Every guarantee of the contract is reported, and a weaker one says why."""
    report = sandbox.report()
    names = {"files", "network", "signals", "tracing", "process_count", "ids", "memory", "disk"}
    assert set(report.guarantees) == names
    assert all(g.strength == "kernel" or g.reason for g in report.guarantees.values())
    assert "numpy" in report.packages
    assert report.languages["python"] == sys.version.split()[0]
    assert report.environment["TZ"] == "UTC"
