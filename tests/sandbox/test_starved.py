"""Who is starved: a program that the host gave no core, never one that took the cores itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import script

from sandbox.config import SandboxConfig
from sandbox.engine import _GAUGE, Sandbox
from sandbox.run import Child, ChildResult, RunResult, RunSpec
from sandbox.types import Limits, RunStatus

pytestmark = pytest.mark.asyncio(loop_scope="session")

_LOOP = """
while True:
 try:
  if os.fork() == 0:
   for _ in range(300000): pass
   os._exit(0)
 except OSError: pass
"""
HIDDEN_LOADS = {
    "SIGCHLD ignored": "import os, signal\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)" + _LOOP,
    "SIGCHLD ignored beneath another process": """
import os, signal
if os.fork(): os.wait()
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
"""
    + _LOOP,
    "no zombies wanted": """
import ctypes, os, struct
action = struct.pack('@Q128siPxxxx', 0, b'', 2, 0)
assert ctypes.CDLL(None).sigaction(17, action, None) == 0
"""
    + _LOOP,
}


@pytest.mark.parametrize("source", HIDDEN_LOADS.values(), ids=HIDDEN_LOADS)
async def test_no_load_of_its_own_starves_a_program(sandbox: Sandbox, source: str) -> None:
    """Children whose CPU time the kernel forgets do not buy a missing verdict."""
    limits = Limits(cpu_time_s=1, wall_time_s=0.3)
    async for result in sandbox.run(script(source, limits=limits)):
        assert result.status in (RunStatus.WALL_TIME_EXCEEDED, RunStatus.CPU_TIME_EXCEEDED), result


class ScriptedAttempts(Sandbox):
    """Attempts end as told; each is noted as alone or not."""

    def __init__(self, run_dir: Path, *ends: RunResult | None) -> None:
        super().__init__(SandboxConfig(run_dir=str(run_dir)))
        self.alone: list[bool] = []
        self._ends = iter(ends)

    async def _attempt(self, spec: RunSpec, alone: bool) -> RunResult | None:
        self.alone.append(alone)
        return next(self._ends)


def ended(status: RunStatus, stdout: bytes = b"") -> RunResult:
    """A run of one child."""
    return RunResult(status, (ChildResult(0, None, stdout, b"", b""),), 0.0, 0.0, 0)


STARVED = ended(RunStatus.STARVED)
FINE = ended(RunStatus.EXITED)
LATE = ended(RunStatus.WALL_TIME_EXCEEDED)


@pytest.mark.parametrize(
    ("ends", "status"),
    [
        ((LATE,), RunStatus.WALL_TIME_EXCEEDED),
        ((STARVED, FINE), RunStatus.EXITED),
        ((STARVED, LATE), RunStatus.WALL_TIME_EXCEEDED),
        ((STARVED, STARVED, ended(RunStatus.EXITED, b"0.97\n")), RunStatus.WALL_TIME_EXCEEDED),
        ((STARVED, STARVED, ended(RunStatus.EXITED, b"0.2\n")), RunStatus.STARVED),
        ((STARVED, STARVED, STARVED), RunStatus.STARVED),
        ((STARVED, STARVED, None), RunStatus.STARVED),
        ((STARVED, None, FINE), RunStatus.EXITED),
        ((STARVED, None, STARVED, ended(RunStatus.EXITED, b"0.97\n")), RunStatus.WALL_TIME_EXCEEDED),
        ((STARVED, None, None, FINE), RunStatus.VIOLATION),
        ((None, STARVED, ended(RunStatus.EXITED, b"0.97\n")), RunStatus.WALL_TIME_EXCEEDED),
        ((None, STARVED, ended(RunStatus.EXITED, b"0.2\n")), RunStatus.STARVED),
    ],
)
async def test_starved_is_what_a_program_of_ours_would_be_too(
    tmp_path: Path, ends: tuple[RunResult | None, ...], status: RunStatus
) -> None:
    """A starved run is repeated once, alone; starved again, it is so only if the host still gives no core."""
    sandbox = ScriptedAttempts(tmp_path, *ends)
    result = await sandbox.run_one(RunSpec((Child("script", b"{}"),), Limits()))
    assert (result.status, result.reran) == (status, len(ends) > 1)
    assert sandbox.alone == [False] + [True] * (len(ends) - 1)


async def test_the_gauge_tells_a_share_of_a_core(sandbox: Sandbox) -> None:
    """The program that measures the host runs here, and tells a number between none and all of a core."""
    gauge = await sandbox.run_one(_GAUGE)
    assert 0 < float(gauge.children[0].stdout) <= 1.05, gauge
