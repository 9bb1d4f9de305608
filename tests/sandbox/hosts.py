"""Sandboxes for tests, and submissions for them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
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


def script(source: str, *stdin: bytes, limits: Limits = LIMITS) -> Submission:
    """`source` as a submission, one case for each `stdin`."""
    return Submission(
        Program("python", (source,)), tuple(ScriptCase(data) for data in stdin or (b"",)), limits
    )


@asynccontextmanager
async def started(run_dir: Path, *assume: str, **settings: Any) -> AsyncIterator[Sandbox]:
    """A running sandbox, closed afterwards."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(run_dir), assume=assume, **settings))
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()
