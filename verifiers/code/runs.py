"""Runs the tests of a submission in the sandbox: each kind of tests its own way (RULES R4, R6, R7)."""

from __future__ import annotations

import asyncio
import hashlib
import random
import secrets
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Protocol

from sandbox.types import (
    AssertCase,
    CallCase,
    Case,
    CaseResult,
    Limits,
    Program,
    ScriptCase,
    Submission,
)
from verifiers.code import compare
from verifiers.code.outcome import (
    LIMITS,
    PER_CASE,
    SHARED,
    SHARED_PROCESS,
    JudgedCase,
    Judgement,
    Reason,
    fill,
    judge_run,
    settles_all,
)
from verifiers.code.tests import (
    AssertTests,
    FunctionCase,
    FunctionTests,
    InvalidTestsError,
    StdinCase,
    StdinTests,
    TextCompare,
    UnsupportedTestsError,
)

_LARGE_OUTPUT = 256 << 10
"""Bytes from which an output is compared in a thread, so that the event loop is not held up."""


_ASSERT_STATUSES: dict[str, Reason] = {
    "passed": "passed",
    "failed": "wrong_answer",
    "error": "runtime_error",
}


class Runs(Protocol):
    """The part of `sandbox.engine.Sandbox` that is used here."""

    def run(self, submission: Submission) -> AsyncGenerator[CaseResult, None]:
        """One result a case, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Runner:
    """A program, and how it is to be run."""

    sandbox: Runs
    program: Program
    limits: Limits
    stop_early: bool = False
    share: bool = True
    allow_shared_process: bool = False

    async def stdin(self, tests: StdinTests, cases: Sequence[StdinCase]) -> Judgement:
        """Every case in a process of its own; its output compared."""
        judged: list[JudgedCase] = []
        scripts = [ScriptCase(case.stdin.encode("utf-8", "surrogatepass")) for case in cases]
        async with aclosing(self._results(scripts, self.limits)) as results:
            async for result in results:
                case = cases[len(judged)]
                judged.append(await _judge_output(result, case, tests.compare))
                if self._is_over(judged[-1]):
                    break
        return Judgement(fill(judged, len(cases)))

    async def function(self, tests: FunctionTests, cases: Sequence[FunctionCase]) -> Judgement:
        """All calls in one process, then each that did not pass there in a process of its own."""
        settled: dict[int, JudgedCase] = {}
        shares = self.share and len(cases) > 1
        if shares:
            order = permutation(len(cases), self.program)
            calls = tuple(cases[index].call for index in order)
            shared = await self._one(CallCase(tests.entry_point, calls, tests.setup))
            verdicts = [_judge_call(shared, i, cases[index], tests) for i, index in enumerate(order)]
            if settles_all(verdicts[0]):
                return Judgement(fill(verdicts[:1], len(cases)), SHARED)
            settled = {
                index: replace(verdict, shared=True)
                for index, verdict in zip(order, verdicts, strict=True)
                if verdict.status == "passed"
            }
            if not shared.calls and verdicts[0].status in LIMITS:
                settled[order[0]] = verdicts[0]  # up to its end the process was that call's own
        return await self._alone(tests, cases, settled, shares)

    async def _alone(
        self,
        tests: FunctionTests,
        cases: Sequence[FunctionCase],
        settled: dict[int, JudgedCase],
        shared: bool,
    ) -> Judgement:
        judged: list[JudgedCase] = []
        left = [index for index in range(len(cases)) if index not in settled]
        calls = [CallCase(tests.entry_point, (cases[index].call,), tests.setup) for index in left]
        used = next((case.result.wall_time_s for case in settled.values() if case.result), 0.0)
        limits = replace(self.limits, total_time_s=max(self.limits.total_time_s - used, 0.001))
        async with aclosing(self._results(calls, limits)) as results:
            for index in range(len(cases)):
                if index in settled:
                    judged.append(settled[index])
                else:
                    judged.append(_judge_call(await anext(results), 0, cases[index], tests))
                if self._is_over(judged[-1]):
                    break
        return Judgement(fill(judged, len(cases)), SHARED if shared else PER_CASE)

    async def asserts(self, tests: AssertTests) -> Judgement:
        """One run of two processes, or of one if two do not do and that is allowed.

        Raises InvalidTestsError or UnsupportedTestsError for what tests say.
        """
        case = AssertCase(tests.code, tests.setup, tests.entry_point)
        try:
            return Judgement((judge_run(await self._one(case), _judge_asserts),))
        except UnsupportedTestsError:
            if not self.allow_shared_process:
                raise
        together = replace(case, nonce=secrets.token_hex(16))
        return Judgement((judge_run(await self._one(together), _judge_asserts),), SHARED_PROCESS)

    def _results(self, cases: Sequence[Case], limits: Limits) -> AsyncGenerator[CaseResult, None]:
        return self.sandbox.run(Submission(self.program, tuple(cases), limits, self.stop_early))

    async def _one(self, case: Case) -> CaseResult:
        async with aclosing(self._results([case], self.limits)) as results:
            return await anext(results)

    def _is_over(self, case: JudgedCase) -> bool:
        return settles_all(case) or (self.stop_early and case.status != "passed")


def permutation(count: int, program: Program) -> list[int]:
    """An order in which no case keeps its place, the same for the same program (Sattolo's algorithm)."""
    seed = hashlib.sha256("\0".join(program.texts).encode("utf-8", "surrogatepass")).digest()
    draw = random.Random(seed)  # noqa: S311 - nobody gains by guessing it
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        other = draw.randrange(last)
        order[last], order[other] = order[other], order[last]
    return order


async def _judge_output(result: CaseResult, case: StdinCase, how: TextCompare) -> JudgedCase:
    matches = None
    if len(result.stdout) > _LARGE_OUTPUT:
        matches = await asyncio.to_thread(compare.text_matches, result.stdout, case.accepted, how)

    def answer(result: CaseResult) -> JudgedCase:
        equal = compare.text_matches(result.stdout, case.accepted, how) if matches is None else matches
        return JudgedCase("passed" if equal else "wrong_answer", result)

    return judge_run(result, answer)


def _judge_call(result: CaseResult, index: int, case: FunctionCase, tests: FunctionTests) -> JudgedCase:
    """One call of a run; none passes in a process that did not end well (R4).

    Raises InvalidTestsError for a setup that is none.
    """
    if result.asserts is not None:
        raise InvalidTestsError(result.asserts.message)

    def answer(result: CaseResult) -> JudgedCase:
        if index >= len(result.calls):
            return JudgedCase("runtime_error", result, "the program ended before it returned")
        call = result.calls[index]
        if not call.plain:
            return JudgedCase("wrong_answer", result, f"the value returned: {call.error}")
        if call.error is not None:
            return JudgedCase("runtime_error", result, call.error)
        equal = compare.value_matches(call.value, case.expected, tests.compare == "float")
        return JudgedCase("passed" if equal else "wrong_answer", result)

    judged = judge_run(result, answer)
    if judged.status == "runtime_error" and index < len(result.calls):
        error = result.calls[index].error
        return replace(judged, message=error or judged.message)
    return judged


def _judge_asserts(result: CaseResult) -> JudgedCase:
    outcome = result.asserts
    if outcome is None:
        return JudgedCase("runtime_error", result, "the test process ended without a word")
    if outcome.state == "unsupported":
        raise UnsupportedTestsError(outcome.message)
    if outcome.state in ("asserts_nothing", "invalid_tests"):
        raise InvalidTestsError(outcome.message)
    return JudgedCase(_ASSERT_STATUSES[outcome.state], result, outcome.message)
