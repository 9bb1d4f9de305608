"""A script in the sandbox does what `python main.py` does: both streams and the exit status."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest
from hosts import script

from sandbox.engine import Sandbox
from sandbox.types import CaseResult, RunStatus
from scripts import PROGRAMS

pytestmark = pytest.mark.asyncio(loop_scope="session")

STDIN = "one\r\ntwo é\nend".encode()


async def _plain(source: str, folder: Path, environment: dict[str, str]) -> tuple[int, bytes, bytes]:
    (folder / "main.py").write_text(source, "utf-8")
    child = await asyncio.create_subprocess_exec(
        sys._base_executable,
        "main.py",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=folder,
        env=environment | {"HOME": str(folder), "TMPDIR": str(folder), "LD_LIBRARY_PATH": ""},
    )
    stdout, stderr = await child.communicate(STDIN)
    return child.returncode or 0, stdout, stderr


def _comparable(text: bytes) -> str:
    """Without the folders that files lie in, addresses and durations."""
    told = text.decode("utf-8", "backslashreplace")
    told = re.sub(r"(?:/[\w.-]+)+/((?:[\w-]+/)?[\w.-]+\.py)\b", r"\1", told)
    told = re.sub(r"\b[\w-]+/(main\.py)\b", r"\1", told)
    return re.sub(r"0x[0-9a-f]+|\b[0-9.]+s\b", "0x", told)


@pytest.mark.parametrize("name", PROGRAMS)
async def test_same_as_plain_python(name: str, run, sandbox: Sandbox, tmp_path: Path) -> None:
    """Byte for byte, but for where files and objects lie."""
    code, stdout, stderr = await _plain(PROGRAMS[name], tmp_path, dict(sandbox.report().environment))
    result: CaseResult = await run(PROGRAMS[name], STDIN)
    assert result.status in (RunStatus.EXITED, RunStatus.SIGNALED)
    assert _comparable(result.stdout) == _comparable(stdout)
    assert _comparable(result.stderr) == _comparable(stderr)
    assert (-result.signal if result.signal else result.exit_code) == code


@pytest.mark.parametrize("name", PROGRAMS)
async def test_same_when_compiled_by_another_run(name: str, sandbox: Sandbox) -> None:
    """Of many cases the first compiles, and the last runs what that made."""
    stdin = [STDIN] * (sandbox.report().slots + 3)
    results = [result async for result in sandbox.run(script(PROGRAMS[name], *stdin))]
    told = [(r.status, r.exit_code, r.signal, _comparable(r.stdout), _comparable(r.stderr)) for r in results]
    assert told[-1] == told[0]


async def test_nothing_of_ours_is_in_sight(run) -> None:
    """No module, function, frame or source of the harness is found from a program (RULES R14)."""
    source = """
import gc, sys, types
ours = ('sandbox', 'verifiers', 'app', 'audit')
def is_ours(name): return str(name).partition('.')[0] in ours
print([m for m in sys.modules if is_ours(m)])
found = gc.get_objects()
print([f for f in found if isinstance(f, types.FrameType) and 'main.py' not in f.f_code.co_filename])
print([f for f in found if isinstance(f, types.FunctionType) and is_ours(f.__module__)])
print([m for m in found if isinstance(m, types.ModuleType) and is_ours(m.__name__)])
import __main__
around = [r for r in gc.get_referrers(__main__.__dict__) if isinstance(r, types.FrameType)]
print([f for f in around if 'main.py' not in f.f_code.co_filename], sys._getframe().f_back)
"""
    result = await run(source)
    assert (result.stdout, result.stderr) == (b"[]\n" * 4 + b"[] None\n", b"")


async def test_the_folder_is_empty_for_programs_that_do_not_ask_for_their_file(run) -> None:
    """R7; the others find it where plain Python has it."""
    assert (await run("import os\nprint(os.listdir('.'))")).stdout == b"[]\n"
    asking = await run("import os\nprint(os.listdir('.'), open(__file__).read().count('open'))")
    assert asking.stdout == b"['main.py'] 2\n"
