"""Nothing that runs a program, and no zygote, keeps a right that it could misuse."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from hosts import script, started

from sandbox.layers import procfs

ASLEEP = "import os, time\nos.fork()\nprint('asleep', flush=True)\ntime.sleep(1)"
RIGHTS = ("CapInh", "CapPrm", "CapEff", "CapAmb")


def rights(pid: int) -> dict[str, str]:
    """What /proc says of a process."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: rest.strip() for name, _, rest in (line.partition(":") for line in lines)}


@pytest.mark.parametrize("assume", [(), ("no namespaces",), ("landlock 4",), ("no cgroups",)])
async def test_programs_and_their_zygotes_have_no_rights(tmp_path: Path, assume: tuple[str, ...]) -> None:
    """No capability of any kind, none to be had by executing something, and never root."""
    async with started(tmp_path, *assume, slots=1) as sandbox:
        running = asyncio.create_task(anext(aiter(sandbox.run(script(ASLEEP)))))
        await asyncio.sleep(0.6)
        beneath = procfs.descendants(sandbox.supervisor_pid or 0)
        parents = {pid for pid in beneath if any(pid == _parent(other) for other in beneath)}
        [master, *_] = beneath
        within = [pid for pid in beneath if pid != master]
        assert len(within) >= 3
        assert parents & {*within}
        for pid in within:
            found = rights(pid)
            assert {found[name] for name in RIGHTS} == {"0" * 16}
            assert found["NoNewPrivs"] == "1"
            assert os.geteuid() == 0 or "0" not in found["Uid"].split()
            assert os.geteuid() != 0 or {*found["Uid"].split(), *found["Gid"].split()}.isdisjoint({"0"})
            assert not found["Groups"] or os.geteuid() != 0
        programs = [pid for pid in within if rights(pid)["Seccomp"] == "2"]
        assert len(programs) >= 2
        assert (await running).stdout == b"asleep\nasleep\n"


def _parent(pid: int) -> int:
    found = procfs.stat(pid)
    return found.parent if found else 0
