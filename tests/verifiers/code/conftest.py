"""The `code` verifier on a real sandbox, shared by all tests here."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from outcomes import Judge

from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from verifiers.code import CodeVerifier
from verifiers.types import Outcome, Task


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def verifier(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[CodeVerifier]:
    """A verifier whose sandbox is as strong as this host allows; skips where it runs nothing."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path_factory.mktemp("run"))))
    await sandbox.start()
    try:
        if not sandbox.report().available:
            pytest.skip(f"no code is run here: {sandbox.report().reason}")
        yield CodeVerifier(sandbox)
    finally:
        await sandbox.close()


@pytest.fixture(scope="session")
def judge(verifier: CodeVerifier) -> Judge:
    """`await judge(response, ground_truth, **options)`; the detail is full."""

    async def judge_one(response: str, ground_truth: Any, **options: Any) -> Outcome:
        options = {"detail": "full", **options}
        return await verifier.judge_async(Task(response, ground_truth, verifier.Options(**options)))

    return judge_one
