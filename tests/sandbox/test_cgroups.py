"""Control groups bound and count what runs inside, and none of them stays behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hosts import abandoned_groups, script, started

from sandbox.engine import Sandbox
from sandbox.layers import cgroup_pool, procfs
from sandbox.layers.cgroup_pool import Pool, Unavailable
from sandbox.layers.cgroups import CPU, MEMORY, PIDS, Group
from sandbox.supervisor.account import open_accounts
from sandbox.types import Limits, RunStatus

ROOT = Path(__file__).parents[2]


@pytest.fixture
def pool() -> Iterator[Pool]:
    """Groups of our own, where this host lets us make some."""
    try:
        pool = Pool()
    except Unavailable as error:
        pytest.skip(str(error))
    yield pool
    pool.close()


def inside(group: Group, source: str) -> subprocess.Popen[bytes]:
    """Python running `source` inside."""
    enter = f"for path in {group.entrances}: open(path, 'w').write('0')\n"
    return subprocess.Popen([sys.executable, "-c", enter + source])


def test_too_much_memory_is_noted(pool: Pool) -> None:
    """What takes more than the bound is killed, and the most in use is told apart from what came before."""
    group = pool.group("memory")
    group.bound_memory(64 << 20)
    assert inside(group, "x = b'x' * (100 << 20)").wait(20) == -signal.SIGKILL
    assert group.ooms() == 1
    group.bound_memory(256 << 20)
    group.forget_peak()
    assert inside(group, "x = b'x' * (100 << 20)").wait(20) == 0
    assert 100 << 20 < group.peak_bytes() < 140 << 20


def test_too_many_tasks_are_refused(pool: Pool) -> None:
    """The bound counts threads and processes of the whole tree."""
    group = pool.group("number")
    group.bound_tasks(5)
    source = """
import os, sys, threading, time
threading.Thread(target=time.sleep, args=(2,)).start()
for count in range(9):
    try:
        if not os.fork():
            time.sleep(2); os._exit(0)
    except BlockingIOError:
        sys.exit(count)
"""
    assert inside(group, source).wait(20) == 3


def test_time_of_children_that_nobody_collects_counts(pool: Pool) -> None:
    """CPU time is that of all that ever ran inside."""
    group = pool.group("time")
    source = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if not os.fork():
    while time.process_time() < 0.3: pass
    os._exit(0)
try: os.wait()
except ChildProcessError: pass
assert sum(os.times()[:4]) < 0.3
"""
    assert inside(group, source).wait(20) == 0
    assert group.cpu_time_s() > 0.3


def test_files_that_were_read_are_no_use_of_memory(pool: Pool, tmp_path: Path) -> None:
    """Page cache is told apart, so that a peak means memory."""
    (tmp_path / "large").write_bytes(b"x" * (40 << 20))
    drop = f"import os; fd = os.open({str(tmp_path / 'large')!r}, os.O_RDONLY); os.fsync(fd); "
    drop += "os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)"
    subprocess.run([sys.executable, "-c", drop], check=True)
    group = pool.group("cache")
    assert (
        inside(
            group,
            f"open({str(tmp_path / 'large')!r}, 'rb').read(1 << 10); import os\n"
            f"for _ in open({str(tmp_path / 'large')!r}, 'rb', 1 << 20): pass",
        ).wait(20)
        == 0
    )
    if group.peak_bytes() < 40 << 20:
        pytest.skip("this file system keeps nothing in the page cache")
    assert group.cached_bytes() > 30 << 20


LEAVING = """
import subprocess, sys, time
from sandbox.layers.cgroup_pool import Pool
group = Pool().group("0")
enter = f"for path in {group.entrances}: open(path, 'w').write('0')\\n"
left = subprocess.Popen([sys.executable, "-c", enter + "open(0).read(); import time; time.sleep(60)"])
time.sleep(0.5)
print(group.entrances[0], left.pid, flush=True)
time.sleep(60)
"""


def test_groups_of_a_dead_worker_are_removed_by_the_next(pool: Pool) -> None:
    """With kill -9 the groups stay, and whatever lives in them; the next start ends and removes both."""
    worker = subprocess.Popen(
        [sys.executable, "-c", LEAVING], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=ROOT
    )
    assert worker.stdout is not None
    entrance, left = worker.stdout.readline().split()
    worker.kill()
    worker.wait()
    worker.stdout.close()
    assert left in Path(entrance.decode()).read_bytes().split()
    Pool().close()
    assert not Path(entrance.decode()).exists()


async def test_runs_are_bounded_by_the_kernel_where_it_can(pool: Pool, tmp_path: Path) -> None:
    """The level is full as root, bounds hold to the task and the page, and no group stays."""
    pool.close()
    async with started(tmp_path, slots=1) as sandbox:
        report = sandbox.report()
        assert {report.guarantees[name].strength for name in ("memory", "process_count")} == {"kernel"}
        assert report.level == ("full" if os.geteuid() == 0 else "strong")
        source = (
            "import os, time\nfor n in range(99):\n try: os.fork() or time.sleep(9)\n except OSError: break"
        )
        source += "\nprint(n)"
        limits = Limits(cpu_time_s=5, processes=20)
        [result] = [r async for r in sandbox.run(script(source, limits=limits))]
        assert (result.status, result.stdout) == (RunStatus.EXITED, b"19\n")
        grandchild = "import os\nif os.fork(): os.wait(); print('survived')\nelse: x = b'x' * (80 << 20)"
        limits = Limits(cpu_time_s=5, memory_bytes=64 << 20)
        [result] = [r async for r in sandbox.run(script(grandchild, limits=limits))]
        assert result.status is RunStatus.MEMORY_EXCEEDED
        [result] = [r async for r in sandbox.run(script("x = b'x' * (50 << 20)", limits=limits))]
        assert result.status is RunStatus.EXITED
        assert 50 << 20 < result.peak_memory_bytes < 64 << 20
    assert not abandoned_groups()


def with_children(sandbox: Sandbox) -> set[int]:
    """Processes that have some: masters, and zygotes for which a child waits."""
    return {pid for pid in procfs.descendants(sandbox.supervisor_pid or 0) if procfs.children(pid, pid)}


SMALL_ONES = """
import asyncio
import os
for end in os.pipe(): os.set_inheritable(end, True)
grow = "x=xxxxxxxx; for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do x=$x$x; done"
wait = f"read y <&{end - 1}"
os.execv("/bin/sh", ["sh", "-c", f"for m in 1 2 3 4 5 6 7 8 9 10 11 12; do ({grow}; {wait}) & done; wait"])
"""


async def test_memory_is_exceeded_also_where_the_kernel_kills_the_zygote(pool: Pool, tmp_path: Path) -> None:
    """Of many small processes none may be as large as the interpreter they are from: that one goes first."""
    pool.close()
    limits = Limits(cpu_time_s=5, memory_bytes=16 << 20)
    async with started(tmp_path, slots=1) as sandbox:
        [_] = [r async for r in sandbox.run(script("print(1)"))]
        await asyncio.sleep(0.1)
        zygotes = with_children(sandbox)
        for _ in range(2):
            [result] = [r async for r in sandbox.run(script(SMALL_ONES, limits=limits))]
            assert result.status is RunStatus.MEMORY_EXCEEDED
            assert result.peak_memory_bytes > 12 << 20
        [result] = [r async for r in sandbox.run(script("print(1)", limits=limits))]
        assert (result.status, result.stdout) == (RunStatus.EXITED, b"1\n")
        assert not zygotes <= with_children(sandbox)
    assert not abandoned_groups()


@pytest.mark.parametrize("name", ["bound_memory", "bound_tasks"])
def test_groups_that_bound_nothing_are_not_used(
    name: str, monkeypatch: pytest.MonkeyPatch, pool: Pool
) -> None:
    """Where a bound is accepted but does not hold, groups count as not there."""
    pool.close()
    monkeypatch.setattr(Group, name, lambda *_: None)
    with pytest.raises(Unavailable, match="do not hold"):
        open_accounts(1)
    assert not abandoned_groups()


FILES = {
    "memory.max": "max\n",
    "memory.swap.max": "max\n",
    "memory.current": "5000\n",
    "memory.events": "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 1\n",
    "memory.stat": "anon 4096\nfile 20480\nkernel 0\nshmem 8192\nfile_mapped 0\n",
    "pids.max": "max\n",
    "cpu.stat": "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n",
}


@pytest.mark.parametrize("forgets", [True, False])
def test_files_of_version_2(tmp_path: Path, forgets: bool) -> None:
    """Read and written as the kernel's documentation has them, on kernels that can forget a peak or not."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    if forgets:
        (tmp_path / "memory.peak").write_text("70000\n")
    controllers = (MEMORY, PIDS, CPU)
    group = Group(dict.fromkeys(controllers, str(tmp_path)), dict.fromkeys(controllers, 2))
    assert group.entrances == (f"{tmp_path}/cgroup.procs",)
    assert (tmp_path / "memory.swap.max").read_text()[0] == "0"
    assert (group.cpu_time_s(), group.used_bytes(), group.ooms()) == (1.5, 5000, 3)
    assert group.cached_bytes() == 20480 - 8192
    assert group.peak_bytes() == (70000 if forgets else None)
    group.bound_memory(123456)
    group.bound_tasks(17)
    assert (tmp_path / "memory.max").read_text().startswith("123456")
    assert (tmp_path / "pids.max").read_text().startswith("17")
    group.bound_tasks(None)
    assert (tmp_path / "pids.max").read_text().startswith("max")


def test_groups_beside_ours_are_removed_too(tmp_path: Path) -> None:
    """A service that is started anew need not be in the group that the killed one was in."""
    for name in ("ours/goldcheck-0/1", "old/goldcheck-3/0", "old/kept", "goldcheck-1"):
        (tmp_path / name).mkdir(parents=True)
    cgroup_pool._sweep(str(tmp_path / "ours"), str(tmp_path))
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    assert left == {"ours", "old", "old/kept", "goldcheck-1"}
