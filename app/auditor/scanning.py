"""Runs `scan_program.py` over the text of a program, in the sandbox, and gives the flags it found."""

from __future__ import annotations

import json
import re
from contextlib import aclosing
from importlib import resources
from typing import Any, Final

from audit import exact_json
from audit.late_flags import LATE_FLAGS, LateFlag
from sandbox.types import Limits, Program, RunStatus, ScriptCase, Submission
from verifiers.code.runs import Runs
from verifiers.code.tests import AssertTests, StdinCase, StdinTests, Tests

LIMITS: Final = Limits(cpu_time_s=5, wall_time_s=60, memory_bytes=512 << 20, output_bytes=1 << 20)

_MAX_CASES: Final = 50
_MAX_TEXT: Final = 2_000
"""Characters of an input or expected value that are looked for."""

_SCANNER: Final = Program(
    "python", (resources.files("app.auditor").joinpath("scan_program.py").read_text("utf-8"),)
)


async def scan(sandbox: Runs, response: str, program: Program, tests: Tests) -> list[LateFlag]:
    """What the syntax tree of a program shows; nothing, where that took too much.

    Raises SandboxUnavailable.
    """
    text = _chosen(program)
    job = json.dumps({"program": text, **_about(tests)}).encode()
    submission = Submission(_SCANNER, (ScriptCase(job),), LIMITS)
    async with aclosing(sandbox.run(submission)) as results:
        result = await anext(results)
    if result.status is not RunStatus.EXITED or result.exit_code != 0:
        return []
    return _flags(json.loads(result.stdout), response, text)


def _chosen(program: Program) -> str:
    """The text that is run, as far as this process can tell: the first that defines what is called."""
    if program.entry_point is None:
        return program.texts[0]
    definition = re.compile(rf"\bdef\s+{re.escape(program.entry_point)}\b")
    return next((text for text in program.texts if definition.search(text)), program.texts[0])


def _about(tests: Tests) -> dict[str, Any]:
    """What the scanner is told of the tests: texts of inputs and of expected values."""
    if isinstance(tests, AssertTests):
        return {"kind": "asserts", "entry_point": tests.entry_point, "inputs": [], "expected": []}
    inputs: list[str] = []
    expected: list[str] = []
    for case in tests.cases[:_MAX_CASES]:
        if isinstance(case, StdinCase):
            texts = case.stdin, case.accepted[0]
        else:
            given = case.call.args[0] if len(case.call.args) == 1 else case.call.args
            texts = _text(given), _text(case.expected)
        if max(map(len, texts)) <= _MAX_TEXT:
            inputs.append(texts[0])
            expected.append(texts[1])
    kind = "stdin" if isinstance(tests, StdinTests) else "call"
    return {
        "kind": kind,
        "entry_point": getattr(tests, "entry_point", None),
        "inputs": inputs,
        "expected": expected,
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else exact_json.dump(value).decode("utf-8", "replace")


def _flags(found: Any, response: str, program: str) -> list[LateFlag]:
    """The scanner's places, moved to where the program stands in the response."""
    start = response.find(program)
    flags = []
    for name, spans in found.items():
        if name not in LATE_FLAGS:
            continue
        if start < 0:  # the program is not in there letter by letter: line ends or indents were changed
            words = ", ".join(repr(program[low:high][:40]) for low, high in spans[:3])
            flags.append(LateFlag(name, text=words))
        else:
            flags.append(LateFlag(name, [(start + low, start + high) for low, high in spans]))
    return flags
