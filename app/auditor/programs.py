"""Second opinions on programs: hidden cases, another order, other expected values, and time-outs again."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast

from app.auditor.mutation import mutated_texts, mutated_values, right_program
from app.auditor.scanning import scan
from app.rejudging import Stored
from audit.late_flags import LateFlag, hidden_flag, time_flag
from audit.second_opinions import Findings, Opinion, opinion_of
from sandbox.types import Limits, Program
from verifiers.base import PooledVerifier
from verifiers.code.extract import canonical_language, extract_program
from verifiers.code.ground_truth import read_tests
from verifiers.code.options import CodeOptions, to_limits
from verifiers.code.outcome import Judgement
from verifiers.code.runs import Runner
from verifiers.code.tests import (
    AssertTests,
    FunctionCase,
    FunctionTests,
    StdinCase,
    StdinTests,
    Tests,
    TestsError,
)
from verifiers.code.verifier import SandboxProtocol
from verifiers.types import Task, Verdict

MAX_CASES: Final = 16
"""Cases that are run again in another order; of more, some drawn by the verdict's id."""


AnyCase = StdinCase | FunctionCase


class ProgramAuditor:
    """Looks again at verdicts of `code`, by the verifier's own rules and in the service's own sandbox."""

    def __init__(self, verifier: PooledVerifier, sandbox: SandboxProtocol) -> None:
        self._verifier = verifier
        self._sandbox = sandbox

    async def look(self, stored: Stored, task: Task) -> Findings:
        """What there is to say about one stored verdict. Raises SandboxUnavailable."""
        try:
            tests = read_tests(task.ground_truth)
            program = _program(task, tests)
            if program is None:
                return Findings()
            opinions, flags = await self._opinions(stored, task, program, tests)
        except TestsError:
            return Findings()
        if program.language == "python":
            flags += await scan(self._sandbox, task.response, program, tests)
        return Findings(tuple(opinions), _unique(flags))

    async def _opinions(
        self, stored: Stored, task: Task, program: Program, tests: Tests
    ) -> tuple[list[Opinion], list[LateFlag]]:
        if stored.reason in {"timeout", "verifier_timeout"}:
            return await self._again(stored, task)
        if not stored.correct:
            return [], []
        hidden = await self._hidden(stored, task, program, tests)
        if isinstance(tests, AssertTests):
            opinions, flags = await self._again(stored, task)
        else:
            draw = random.Random(stored.id)  # noqa: S311 - nobody gains by guessing it
            opinions, flags = await self._shuffled(task, program, tests, draw)
            opinions.append(await self._mutated(task, program, tests, draw))
        if (flag := hidden_flag(stored.detail)) is not None:
            flags.append(flag)
        return [*hidden, *opinions], flags

    async def _again(self, stored: Stored, task: Task) -> tuple[list[Opinion], list[LateFlag]]:
        """Judge it once more, with little beside it."""
        outcome = await self._verifier.judge_async(replace(task, options=_in_full(task.options)))
        second = outcome.correct if isinstance(outcome, Verdict) else None
        opinion = opinion_of("rerun", stored.correct, second, reason=getattr(outcome, "reason", "unscorable"))
        flags = []
        if opinion.outcome in {"accepts", "rejects"}:
            flags.append(LateFlag("rerun_flip", text=f"{stored.reason}, then {opinion.detail['reason']}"))
        if isinstance(outcome, Verdict) and outcome.correct:
            slowest = max((one["cpu_time_s"] or 0.0 for one in outcome.detail["tests"]), default=0.0)
            flags += _near(slowest, self._limits(task))
        return [opinion], flags

    async def _hidden(self, stored: Stored, task: Task, program: Program, tests: Tests) -> list[Opinion]:
        """What the hidden cases said: they have run already, unless the reply was to hold no detail."""
        said = stored.detail.get("hidden")
        if said is not None:
            count = {"passed": said.get("tests_passed"), "of": said.get("tests_total")}
            return [opinion_of("hidden_cases", True, said.get("correct"), **count)]
        cases: Sequence[Any] = getattr(tests, "hidden", ())
        if not cases:
            return []
        judgement = await self._run(task, program, tests, cases)
        return [opinion_of("hidden_cases", True, _passed(judgement), **_counts(judgement))]

    async def _shuffled(
        self, task: Task, program: Program, tests: StdinTests | FunctionTests, draw: random.Random
    ) -> tuple[list[Opinion], list[LateFlag]]:
        """Cases in another order, each in a process of its own."""
        cases = draw.sample(_cases(tests), min(MAX_CASES, len(tests.cases)))
        judgement = await self._run(task, program, tests, cases)
        opinion = opinion_of("shuffled", True, _passed(judgement), **_counts(judgement))
        flags = _near(max((one.result.cpu_time_s for one in judgement.cases if one.result), default=0.0),
                      self._limits(task))  # fmt: skip
        if opinion.outcome == "rejects":
            flags.append(LateFlag("rerun_flip", text=f"passed, then {judgement.reason}"))
        elif _is_constant(judgement, cases):
            flags.append(LateFlag("constant_output", text=f"{len(cases)} inputs, one output"))
        return [opinion], flags

    async def _mutated(
        self, task: Task, program: Program, tests: StdinTests | FunctionTests, draw: random.Random
    ) -> Opinion:
        """One case with another expected value, which a right program must fail; else it is no test."""
        case = draw.choice(_cases(tests))
        entry_point = tests.entry_point if isinstance(tests, FunctionTests) else ""
        right = right_program(case, entry_point)
        if not _passed(await self._run(task, right, tests, [case])):
            return Opinion("mutated", "unknown", {"why": "no program is known to be right"})
        mutations = mutated_texts(case) if isinstance(case, StdinCase) else mutated_values(case)
        for mutation in mutations:
            if _passed(await self._run(task, right, tests, [mutation])) is False:
                passed = _passed(await self._run(task, program, tests, [mutation]))
                return opinion_of("mutated", True, None if passed is None else not passed)
        return Opinion("mutated", "unknown", {"why": "a right program does not notice the mutation"})

    async def _run(self, task: Task, program: Program, tests: Tests, cases: Sequence[AnyCase]) -> Judgement:
        runner = Runner(self._sandbox, program, self._limits(task), stop_early=True, share=False)
        if isinstance(tests, StdinTests):
            return await runner.stdin(tests, cast("Sequence[StdinCase]", cases))
        return await runner.function(cast("FunctionTests", tests), cast("Sequence[FunctionCase]", cases))

    def _limits(self, task: Task) -> Limits:
        options: CodeOptions = task.options
        return to_limits(options.limits, self._sandbox.report().default_limits)


def _cases(tests: StdinTests | FunctionTests) -> Sequence[AnyCase]:
    return tests.cases


def _program(task: Task, tests: Tests) -> Program | None:
    options: CodeOptions = task.options
    language = canonical_language(options.language)
    entry_point = tests.entry_point if isinstance(tests, FunctionTests) else None
    return extract_program(task.response, language, entry_point, options.extract)


def _in_full(options: Any) -> Any:
    return options.model_copy(update={"detail": "full", "stop_early": True})


def _passed(judgement: Judgement) -> bool | None:
    """None: the host gave some run no core."""
    return None if judgement.starved else judgement.reason == "passed"


def _counts(judgement: Judgement) -> dict[str, int | str]:
    return {"passed": judgement.passed, "of": len(judgement.cases), "reason": judgement.reason}


def _near(seconds: float, limits: Limits) -> list[LateFlag]:
    flag = time_flag(seconds, limits.cpu_time_s)
    return [] if flag is None else [flag]


def _is_constant(judgement: Judgement, cases: Sequence[AnyCase]) -> bool:
    """Whether all outputs are one although inputs differ."""
    results = [case.result for case in judgement.cases if case.result is not None]
    outputs = {
        result.stdout.strip() if not result.calls else repr(result.calls[0].value) for result in results
    }
    inputs = {case.stdin if isinstance(case, StdinCase) else repr(case.call) for case in cases}
    return len(inputs) > 1 and len(results) == len(cases) and len(outputs) == 1


def _unique(flags: list[LateFlag]) -> tuple[LateFlag, ...]:
    """One flag of each name, that with places before that without."""
    by_name: dict[str, LateFlag] = {}
    for flag in sorted(flags, key=lambda flag: bool(flag.spans)):
        by_name[flag.name] = flag
    return tuple(by_name.values())
