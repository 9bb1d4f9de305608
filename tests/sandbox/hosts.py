"""Sandboxes for tests, and submissions for them."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.layers import cgroup_pool, cgroups
from sandbox.types import Limits, Program, ScriptCase, Submission

FLEEING = """
import os, time
for _ in range(12):
    if os.fork() == 0:
        os.setsid()
        while True:  # a chain: whoever is looked at has already left a successor
            if os.fork():
                os._exit(0)
            time.sleep(0.005)
time.sleep(0.7)
"""
"""A program whose processes keep running away; unhindered it sleeps for a while and ends well."""

LIMITS = Limits(cpu_time_s=5)

WEAKER_HOSTS = {
    "no namespaces": ("no namespaces",),
    "no namespaces, no control groups": ("no namespaces", "no cgroups"),
    "no control groups": ("no cgroups",),
    "Landlock 4": ("landlock 4",),
    "Landlock 2": ("landlock 2",),
    "Landlock 2, no namespaces, no control groups": ("landlock 2", "no namespaces", "no cgroups"),
    "Landlock 2, no user notification": ("landlock 2", "no user notification"),
    "no user notification, no namespaces, no control groups": (
        "no user notification",
        "no namespaces",
        "no cgroups",
    ),
}
"""What a host may lack while the level is still at least `strong`."""


def script(source: str, *stdin: bytes, limits: Limits = LIMITS) -> Submission:
    """`source` as a submission, one case for each `stdin`."""
    return Submission(
        Program("python", (source,)), tuple(ScriptCase(data) for data in stdin or (b"",)), limits
    )


def abandoned_groups() -> list[Path]:
    """Control groups that no live worker holds, in any tree that our own group is shown in."""
    found = []
    for path in [path for one in cgroups.hierarchies() for path in Path(one.own).glob("goldcheck-*")]:
        if (lock := cgroup_pool._lock(str(path))) is not None:
            os.close(lock)
            found.append(path)
    return found


@asynccontextmanager
async def started(run_dir: Path, *assume: str, **settings: Any) -> AsyncIterator[Sandbox]:
    """A running sandbox, closed afterwards."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(run_dir), assume=assume, **settings))
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()
