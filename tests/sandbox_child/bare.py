"""The harness without a sandbox: one plain interpreter a child. Only for programs written in these tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sandbox.languages import python
from sandbox.run import Child, ChildResult, RunResult, RunSpec
from sandbox.types import Case, CaseResult, Limits, Program, RunStatus

ROOT = Path(__file__).parents[2]
BOOT = """
import sys
sys.path.insert(0, {root!r})
from importlib import import_module
main = import_module("sandbox.child.{harness}").main
sys.path.remove({root!r})
with open({job!r}, "rb") as file:
    job = file.read()
main(job, {channel}, {peer})
"""


def run_one(spec: RunSpec) -> RunResult:
    """Run the children of `spec` to their end; at most a minute."""
    sockets = socket.socketpair() if len(spec.children) > 1 else (None, None)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        running = [_start(child, peer, folder) for child, peer in zip(spec.children, sockets, strict=False)]
        for peer in sockets:
            if peer is not None:
                peer.close()
        results = [
            _finish(process, channel, child)
            for (process, channel), child in zip(running, spec.children, strict=True)
        ]
    status = RunStatus.SIGNALED if results[0].signal else RunStatus.EXITED
    return RunResult(status, tuple(results), 0.0, time.monotonic() - started, 0)


def _start(child: Child, peer: socket.socket | None, folder: str) -> tuple[subprocess.Popen[bytes], int]:
    ours, theirs = os.pipe()
    job = f"{folder}/{child.harness}.job"
    Path(job).write_bytes(child.job)
    work = tempfile.mkdtemp(dir=folder)
    peer_fd = None if peer is None else peer.fileno()
    boot = BOOT.format(root=str(ROOT), harness=child.harness, job=job, channel=theirs, peer=peer_fd)
    process = subprocess.Popen(
        [sys._base_executable, "-I", "-c", boot],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=work,
        env={"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "HOME": work, "TMPDIR": work, "PATH": "/usr/bin:/bin"},
        pass_fds=[theirs] if peer_fd is None else [theirs, peer_fd],
    )
    os.close(theirs)
    return process, ours


def _finish(process: subprocess.Popen[bytes], channel: int, child: Child) -> ChildResult:
    stdout, stderr = process.communicate(child.stdin, timeout=60)
    with os.fdopen(channel, "rb") as file:
        data = file.read()
    code = process.returncode
    return ChildResult(code if code >= 0 else None, -code if code < 0 else None, stdout, stderr, data)


def run_case(program: Program, case: Case) -> CaseResult:
    """One case, as the engine would run it."""
    return python.from_run(0, case, run_one(python.to_run(program, case, Limits())))
