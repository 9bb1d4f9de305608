"""A sandbox as strong as this host allows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio
from hosts import LIMITS, script, started

from sandbox.engine import Sandbox
from sandbox.types import CaseResult, Limits

Runner = Callable[..., Awaitable[CaseResult]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Sandbox]:
    """One sandbox for all tests that leave it as it was."""
    async with started(tmp_path_factory.mktemp("run")) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def run(sandbox: Sandbox) -> Runner:
    """Run one script: `await run(source, stdin, limits)`."""

    async def run_script(source: str, stdin: bytes = b"", limits: Limits = LIMITS) -> CaseResult:
        [result] = [result async for result in sandbox.run(script(source, stdin, limits=limits))]
        return result

    return run_script
