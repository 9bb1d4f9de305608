"""Texts made to break whoever looks at them: the sandbox takes the blow, and no honest text after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.auditor.scanning import scan
from sandbox.config import SandboxConfig
from sandbox.engine import Sandbox
from sandbox.types import Program
from verifiers.code.tests import StdinCase, StdinTests

TESTS = StdinTests((StdinCase("12345 6\n", ("777001\n",)), StdinCase("1\n", ("2\n",))))
HOSTILE = {
    "deep brackets": "x = " + "(" * 100_000,
    "deep calls": "f(" * 90 + ")" * 90,
    "many minus": "x = " + "-" * 200_000 + "1",
    "long sum": "x = " + "+".join(["1"] * 100_000),
    "long comparison": "x = " + "<".join(["1"] * 50_000),
    "many attributes": "x" + ".a" * 100_000,
    "huge integer": "x = " + "9" * 4_000_000,
    "huge text": "x = '" + "a" * 4_000_000 + "'",
    "large list": "x = [" + "1," * 200_000 + "]",
    "nested lists": "x = " + "[" * 90 + "1," * 50_000 + "]" * 90,
    "many classes": "class A: pass\n" * 50_000,
    "many guards": "if __name__: pass\n" * 50_000,
    "deep blocks": "".join(" " * n + "if 1:\n" for n in range(99)) + " " * 99 + "pass",
    "format texts": "x = " + "f'{" * 4 + "1" + "}'" * 4,
    "lone surrogates and NUL": "x = '\ud800'\0",
    "byte order mark": "\ufeff# -*- coding: rot13 -*-\ncevag(1)",
    "another encoding": "# coding: no-such\nprint(1)",
}


@pytest.mark.hostile
@pytest.mark.timeout(600)
async def test_a_scan_always_ends(tmp_path: Path) -> None:
    """After every one of them an honest text is still looked at."""
    sandbox = Sandbox(SandboxConfig(run_dir=str(tmp_path)))
    await sandbox.start()
    try:
        for name, text in HOSTILE.items():
            flags = await scan(sandbox, text, Program("python", (text,)), TESTS)
            assert {flag.name for flag in flags} <= {"input_never_read", "constant_output"}, name
        plain = "import os\nos._exit(0)"
        (flag,) = [
            flag
            for flag in await scan(sandbox, plain, Program("python", (plain,)), TESTS)
            if flag.name == "harness_words"
        ]
        assert list(flag.spans) == [(10, 21)]
    finally:
        await sandbox.close()
