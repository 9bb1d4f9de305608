"""`sandbox.headers`: compiled once, in the background, and really used by programs that come after."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.types import CaseResult, Limits, Program, ScriptCase, Submission

pytestmark = [
    pytest.mark.languages,
    pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here"),
]

PROGRAM = "#include <bits/stdc++.h>\nint main() { std::cout << 1; }"
USES = """
cat > x.cpp <<'END'
#include <bits/stdc++.h>
END
g++ -std=c++20 -O2 -H -fsyntax-only -I{folder} x.cpp 2>&1 | grep -c '^! '
"""


async def run(sandbox: Sandbox, program: Program) -> CaseResult:
    """The one result of a program without input."""
    limits = Limits(memory_bytes=1 << 30)
    (found,) = [result async for result in sandbox.run(Submission(program, (ScriptCase(b""),), limits))]
    return found


async def test_first_program_has_the_library_compiled_ahead_for_the_next(tmp_path: Path) -> None:
    """And the compiler, inside the sandbox, takes it."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path)))
    await sandbox.start()
    try:
        if "cpp" not in sandbox.report().languages:
            pytest.skip(sandbox.report().reason or "g++ does not run inside the sandbox")
        assert (await run(sandbox, Program("cpp", (PROGRAM,)))).stdout == b"1"
        folder = sandbox.headers
        compiled = tmp_path / "headers" / Path(folder).name / "bits" / "stdc++.h.gch"
        for _ in range(600):
            if compiled.exists():
                break
            await asyncio.sleep(0.2)
        used = await run(sandbox, Program("bash", (USES.format(folder=folder),)))
        assert used.stdout.strip() == b"1", (used.stdout, used.stderr)
        assert (await run(sandbox, Program("cpp", (PROGRAM + "\n",)))).stdout == b"1"
    finally:
        await sandbox.close()


async def test_service_that_stops_meanwhile_leaves_nothing_half_done(tmp_path: Path) -> None:
    """An unfinished header is never taken for one."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path)))
    await sandbox.start()
    if "cpp" not in sandbox.report().languages:
        await sandbox.close()
        pytest.skip(sandbox.report().reason or "g++ does not run inside the sandbox")
    await run(sandbox, Program("cpp", ("int main() {}",)))
    await sandbox.close()
    assert not list(tmp_path.rglob("*.gch"))
