"""A program that one run has compiled is the same program in another."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from bare import run_one
from hypothesis import given
from hypothesis import strategies as st

from sandbox.child import program
from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.languages import python
from sandbox.run import ChildResult, RunResult, RunSpec
from sandbox.types import Call, CallCase, Case, CaseResult, Limits, Program, RunStatus, ScriptCase, Submission

SCRIPT = """
'what it is'
from __future__ import annotations
import sys
def f(a: int = 10**40, *, b=(1.5, b"x", ..., frozenset())): return lambda: (a, b)
one, other = 'a b', 'a b'
print(__doc__, f.__annotations__, f()(), one is other, sys.stdin.read())
raise ValueError('told with its line')
"""
SOLUTION = """
class Solution:
    def add(self, a, b):
        return [a + b, self.add.__qualname__]
"""
BODY = "    return base + a + b"
SETUP = "base = 40\ndef add(a, b):"
CASES: list[tuple[Program, Case]] = [
    (Program("python", (SCRIPT,)), ScriptCase(b"in")),
    (Program("python", (SOLUTION,)), CallCase("add", (Call((1, 2)),))),
    (Program("python", (SOLUTION,)), CallCase("add", (Call((1, 2)), Call((3, 4))), setup="import math")),
    (Program("python", (BODY,)), CallCase("add", (Call((1, 1)),), setup=SETUP)),
    (Program("python", ("x = 1", SOLUTION)), CallCase("add", (Call((1, 2)),))),
    (Program("python", (SCRIPT,), fenced=False), ScriptCase(b"in")),
]


@pytest.mark.parametrize(("program", "case"), CASES)
def test_what_was_compiled_does_the_same(program: Program, case: Case) -> None:
    """And no text goes along for which it stands."""
    first = run_one(python.to_run(program, case, Limits(), keep=True))
    compiled = python.compiled(first)
    spec = python.to_run(program, case, Limits(), compiled=compiled)
    line, _, rest = spec.children[0].job.partition(b"\n")
    assert rest == compiled
    assert compiled
    assert "texts" not in json.loads(line)
    results = [_comparable(python.from_run(0, case, run)) for run in (first, run_one(spec))]
    assert results[0] == results[1]
    assert results[0].stderr or all(call.error is None for call in results[0].calls)


def _comparable(result: CaseResult) -> CaseResult:
    """Without time and folder."""
    return replace(result, wall_time_s=0.0, stderr=re.sub(rb'"/[^"]*/', b'"', result.stderr))


NOT_KEPT = {
    "the compiler warns": ("print(1 is 1)", True, Limits()),
    "a set in another order": ("for n in {8, 0, 16}: print(n)", True, Limits()),
    "such a set inside": ("def f():\n    return [x for x in (1,) if (x, {8, 0, 16})]", True, Limits()),
    "nothing asked for": ("print(1)", False, Limits()),
    "no program": ("def", True, Limits()),
    "no code": ("# nothing", True, Limits()),
    "nested too deeply": ("x = " + "lambda: " * 900 + "1", True, Limits()),
    "more than may be written": ("x = 'abcdefgh'" * 50, True, Limits(output_bytes=1000)),
}


@pytest.mark.parametrize("name", NOT_KEPT)
def test_what_is_not_kept(name: str) -> None:
    """Each run then compiles for itself."""
    source, keep, limits = NOT_KEPT[name]
    program, case = Program("python", (source,)), ScriptCase(b"")
    run = run_one(python.to_run(program, case, limits, keep=keep))
    assert python.compiled(run) == b""
    assert len(run.children[0].channel) <= limits.output_bytes


@given(
    st.binary(max_size=60) | st.builds(lambda value: json.dumps(value).encode(), st.text() | st.integers())
)
def test_anything_on_the_channel(body: bytes) -> None:
    """No compiled program is found where none was written, and nothing raises."""
    framed = [body, len(body).to_bytes(4, "big") + body]
    framed.append(b"\0\0\0\x10" + b'{"compiled":"zz"}'[:16])
    for channel in framed:
        child = ChildResult(0, None, b"", b"", channel)
        assert python.compiled(RunResult(RunStatus.EXITED, (child,), 0.0, 0.0, 0)) == b""


@pytest_asyncio.fixture
async def sandbox_of_one(tmp_path: Path) -> AsyncIterator[Sandbox]:
    """A real one with one slot."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path), slots=1))
    await sandbox.start()
    yield sandbox
    await sandbox.close()


class _Recorded(Sandbox):
    """Keeps what it was asked to run."""

    specs: list[RunSpec]

    async def run_one(self, spec: RunSpec) -> RunResult:
        """As ever."""
        self.specs.append(spec)
        return run_one(spec)


@pytest.mark.parametrize(("count", "kept"), [(1, 0), (3, 0), (4, 1), (9, 6)])
async def test_only_the_first_of_many_is_compiled(count: int, kept: int) -> None:
    """As many as begin at once compile for themselves: two slots, and one run that waits for them."""
    sandbox = _Recorded(SandboxConfig(run_dir="/nowhere", slots=2))
    sandbox.specs = []
    cases = tuple(ScriptCase(b"%d" % number) for number in range(count))
    program = Program("python", ("print(input())",))
    results = [result async for result in sandbox.run(Submission(program, cases))]
    assert [result.stdout for result in results] == [b"%d\n" % number for number in range(count)]
    jobs = [spec.children[0].job.partition(b"\n") for spec in sandbox.specs]
    assert sum(bool(rest) for _, _, rest in jobs) == kept
    assert [b'"keep"' in line for line, _, _ in jobs] == [kept > 0] + [False] * (count - 1)


JOB = {"texts": [SCRIPT], "fenced": True, "setup": "", "entry_point": None, "prefer_entry_point": False}


def test_code_is_taken_where_its_file_would_lie_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Elsewhere the same source is compiled anew, for tracebacks name the file."""
    chosen = program.choose(JOB)
    compiled = chosen.compiled(1 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(program, "compile_source", lambda *_: pytest.fail("compiled again"))
        assert program.choose({"compiled": compiled}) == chosen
    monkeypatch.chdir(tmp_path)
    again = program.choose({"compiled": compiled})
    assert again.code.co_filename == f"{tmp_path}/main.py"
    assert again.source == chosen.source


def test_other_sets_are_kept() -> None:
    """Most sets come back as they were."""
    job = JOB | {"texts": ["x = input()\nprint(x in {'a', 'b', 'c'}, x in {1, 2, 3})"]}
    assert program.choose(job).compiled(1 << 20)


async def test_unlike_cases_are_other_programs(sandbox_of_one: Sandbox) -> None:
    """What a setup goes before, or an entry point chooses, is not taken from a case with another."""
    texts = ("def f(x): return x", "def g(x): return -x")
    cases = (*[CallCase("f", (Call((1,)),))] * 4, CallCase("g", (Call((1,)),)), ScriptCase(b""))
    submission = Submission(Program("python", texts), cases)
    results = [result async for result in sandbox_of_one.run(submission)]
    assert [call.value for result in results for call in result.calls] == [1, 1, 1, 1, -1]


async def test_what_is_kept_takes_no_room_from_answers(sandbox_of_one: Sandbox) -> None:
    """An answer as large as may be is one in the first case too."""
    lines = "".join(f"a{n} = ({n}.5, 'q{n}')\n" for n in range(2500))
    program = Program("python", (f"{lines}def f(n): return 'x' * n",))
    submission = Submission(program, (CallCase("f", (Call((600_000,)),)),) * 4, Limits(output_bytes=1 << 20))
    results = [result async for result in sandbox_of_one.run(submission)]
    assert [result.status for result in results] == [RunStatus.EXITED] * 4
