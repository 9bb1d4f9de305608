"""Every threat of the table, on this host and on hosts that offer less."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from hosts import script, started
from threats import FULL, STARTING, THREATS, Threat

from sandbox.engine import Sandbox
from sandbox.types import Limits

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTS = {
    "this host": (),
    "no namespaces": ("no namespaces",),
    "no control groups, Landlock 2": ("no cgroups", "landlock 2"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=HOSTS)
async def host(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Sandbox]:
    """A sandbox on one kind of host."""
    run_dir: Path = tmp_path_factory.mktemp("run")
    os.environ["GOLDCHECK_SECRET"] = "rvsecret-in-the-service"
    async with started(run_dir, *HOSTS[request.param]) as sandbox:
        yield sandbox
    del os.environ["GOLDCHECK_SECRET"]


@pytest.mark.parametrize("threat", THREATS, ids=lambda threat: threat.name)
async def test_threat(host: Sandbox, threat: Threat) -> None:
    """The attack ends as the table says, and a good program runs well after it."""
    async for result in host.run(script(threat.source, limits=threat.limits)):
        threat.check(result)
    async for result in host.run(script("print(input())", b"still well\n")):
        assert result.stdout == b"still well\n", result


async def test_a_run_full_of_tasks_takes_none_from_another(host: Sandbox) -> None:
    """Tasks are bounded run by run, whichever user they all have."""
    limits = Limits(cpu_time_s=5)
    runs = [anext(aiter(host.run(script(source, limits=limits)))) for source in (FULL, STARTING)]
    full, starting = await asyncio.gather(*runs)
    assert (full.status, full.stdout) == ("exited", b"full\n"), full
    assert (starting.status, starting.stdout) == ("exited", b"[0, 0, 0, 0, 0, 0, 0, 0, 0, 0]\n"), starting
