"""Calls of JavaScript functions: where a function is found, and how values cross."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import Judge

from sandbox import values
from verifiers.code import CodeVerifier
from verifiers.types import Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(autouse=True)
def _node(verifier: CodeVerifier) -> None:
    if "language javascript" not in verifier.environment():
        pytest.skip("no Node.js here")


async def called(
    judge: Judge, program: str, *cases: tuple[list[Any], Any], entry_point: str = "f"
) -> Verdict:
    """The verdict on calls of `entry_point`."""
    tests = {
        "type": "function_call",
        "entry_point": entry_point,
        "cases": [{"args": args, "expected": expected} for args, expected in cases],
    }
    outcome = await judge(f"```js\n{program}\n```", tests, language="javascript")
    assert isinstance(outcome, Verdict), outcome
    return outcome


@pytest.mark.parametrize(
    "program",
    [
        "function f(a, b) { return a + b }",
        "const f = (a, b) => a + b",
        "var f = function (a, b) { return a + b }",
        "async function f(a, b) { await null; return a + b }",
        "module.exports = { f: (a, b) => a + b }",
        "module.exports = function f(a, b) { return a + b }",
        "exports.f = (a, b) => a + b",
        "class Solution { f(a, b) { return a + b } }",
        "export function f(a, b) { return a + b }",
        "import { add } from 'node:assert'; export const f = (a, b) => a + b",
        "const fs = require('fs'); function f(a, b) { return a + b }",
        '"use strict";\nlet total = 0;\nfunction f(a, b) { console.log("noise"); return (total = a + b) }',
    ],
)
async def test_function_is_found_however_it_is_defined(program: str, judge: Judge) -> None:
    """At the top, exported, or as a method of `Solution`."""
    if "assert" in program:
        program = program.replace("{ add }", "assert")
    assert (await called(judge, program, ([1, 2], 3), ([4, 5], 9))).reason == "passed"


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("function g() {}", "runtime_error"),
        ("const f = 3", "runtime_error"),
        ("function f() { throw new TypeError('no') }", "runtime_error"),
        ("function f() { return new Map() }", "wrong_answer"),
        ("function f() { return () => 3 }", "wrong_answer"),
        ("function f() { return Symbol('x') }", "wrong_answer"),
        ("function f() { return { valueOf: () => 3 } }", "wrong_answer"),
        ("function f() { const a = []; a.push(a); return a }", "wrong_answer"),
        ("function f() { process.exit(0) }", "runtime_error"),
        ("process.exit(0)", "runtime_error"),
        ("function f( {", "compile_error"),
        ("function f() { for (;;) ; }", "timeout"),
        ("const w = require('fs').writeSync; w(3, 'garbage'); function f() { return 3 }", "runtime_error"),
        ("function f() { return new Promise(() => {}) }", "runtime_error"),
        ("function f() { throw { toString() { throw 1 } } }", "runtime_error"),
        ("function f() { throw undefined }", "runtime_error"),
    ],
)
async def test_what_earns_nothing(program: str, reason: str, judge: Judge) -> None:
    """And in which words."""
    tests = {"type": "function_call", "entry_point": "f", "cases": [{"args": [], "expected": 3}] * 2}
    outcome = await judge(f"```js\n{program}\n```", tests, language="javascript", limits={"time_s": 1})
    assert isinstance(outcome, Verdict)
    assert outcome.reason == reason, outcome.detail


@pytest.mark.parametrize(
    "expression",
    [
        "JSON.parse = JSON.stringify = () => '3'",
        "Array.prototype[Symbol.iterator] = function* () { yield 3 }",
        "Object.prototype.toString = () => '3'",
        "Object.defineProperty(Object.prototype, 'd', { value: 3 })",
        "String.prototype.replace = () => '3'",
        "Buffer.from = () => 3; Buffer.concat = () => 3",
    ],
)
async def test_program_that_tampers_with_its_surroundings_gains_nothing(
    expression: str, judge: Judge
) -> None:
    """It could as well return another value: what is expected is elsewhere."""
    verdict = await called(judge, f"{expression}; function f(a) {{ return a }}", (["x"], "y"), (["z"], "w"))
    assert not verdict.correct


numbers = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(2**64, 2**200),
)
plain = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, st.text()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text().filter(lambda k: k != "__proto__"), inner, max_size=4),
    ),
    max_leaves=12,
)


async def test_values_cross_both_ways_unchanged(judge: Judge) -> None:
    """Whatever plain value goes in comes out equal; many in one process, as the tests of a function are."""
    found: list[Any] = []

    @settings(max_examples=150, database=None)
    @given(plain)
    def collect(value: Any) -> None:
        values.encode(value)
        found.append(value)

    collect()
    verdict = await called(judge, "const f = (x) => x", *[([value], value) for value in found])
    assert verdict.reason == "passed", verdict.detail
