"""The `code` verifier: response -> program -> sandboxed runs -> verdict."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from functools import partial
from importlib import resources
from typing import Any, Protocol, get_args

from sandbox.errors import SandboxUnavailable
from sandbox.types import CaseResult, SandboxReport, Submission
from verifiers.base import BaseOptions
from verifiers.code.detail import describe
from verifiers.code.extract import canonical_language, extract_program
from verifiers.code.ground_truth import read_tests
from verifiers.code.options import CodeOptions, bounded_options, to_limits
from verifiers.code.outcome import JudgedCase, Judgement, Reason
from verifiers.code.runs import Runner
from verifiers.code.tests import AssertTests, FunctionTests, StdinTests, Tests, TestsError, check_language
from verifiers.types import Outcome, Task, Unscorable, Verdict

_FILES = resources.files("verifiers.code")


class SandboxProtocol(Protocol):
    """What the verifier needs of `sandbox.engine.Sandbox`."""

    def report(self) -> SandboxReport:
        """Level in force, languages, limits."""
        ...

    def run(self, submission: Submission) -> AsyncGenerator[CaseResult, None]:
        """One result a case, in order; raises SandboxUnavailable."""
        ...


class CodeVerifier:
    """Judges programs by running them; a `PooledVerifier`."""

    name = "code"
    version = "1.0.0"
    reasons: tuple[str, ...] = get_args(Reason)
    flags: tuple[str, ...] = ()
    reward_range = (0.0, 1.0)
    self_timed = True

    def __init__(self, sandbox: SandboxProtocol) -> None:
        self._sandbox = sandbox
        self.Options: type[BaseOptions] = bounded_options(sandbox.report().maximum_limits)
        self.contract = _FILES.joinpath("contract.md").read_text("utf-8")
        self.ground_truth_schema: Mapping[str, Any] = json.loads(
            _FILES.joinpath("ground_truth.schema.json").read_text("utf-8")
        )

    def environment(self) -> Mapping[str, str]:
        """Interpreters, packages and default limits: what can change a verdict besides the request."""
        report = self._sandbox.report()
        versions = {f"language {name}": version for name, version in report.languages.items()}
        packages = {f"package {name}": version for name, version in report.packages.items()}
        return {**versions, **packages, "limits": repr((report.default_limits, report.maximum_limits))}

    def program(self, task: Task) -> str | None:
        """The Python program of a response, as far as its text tells; None where there is none."""
        options: CodeOptions = task.options
        language = canonical_language(options.language)
        found = extract_program(task.response, language, mode=options.extract)
        return found.texts[0] if found is not None and language == "python" else None

    async def judge_async(self, task: Task) -> Outcome:
        """Judge one response; whatever it causes is a verdict, what it cannot cause is `Unscorable`."""
        options: CodeOptions = task.options
        try:
            tests = read_tests(task.ground_truth)
            language = canonical_language(options.language)
            report = self._sandbox.report()
            if not report.available:
                return Unscorable("sandbox_unavailable", report.reason)
            if language not in report.languages:
                offered = ", ".join(report.languages)
                return Unscorable("language_unavailable", f"{language:.40} is not here; offered: {offered}")
            check_language(tests, language)
            judgement = await self._judge(task.response, tests, language, options)
        except TestsError as error:
            return Unscorable(error.kind, str(error))
        except SandboxUnavailable as error:
            return Unscorable("sandbox_unavailable", str(error))
        detail = describe(judgement, language, report.level, options.detail)
        return _outcome(judgement, detail, options.scoring)

    async def _judge(self, response: str, tests: Tests, language: str, options: CodeOptions) -> Judgement:
        entry_point = tests.entry_point if isinstance(tests, FunctionTests) else None
        program = extract_program(response, language, entry_point, options.extract)
        if program is None:
            total = 1 if isinstance(tests, AssertTests) else len(tests.cases)
            return Judgement((JudgedCase("no_code", message="the response holds no code"),) * total)
        report = self._sandbox.report()
        limits = to_limits(options.limits, report.default_limits)
        share = options.isolation == "default"
        runner = Runner(
            self._sandbox, program, limits, options.stop_early, share, options.allow_shared_process
        )
        return await run_tests(runner, tests)


async def run_tests(runner: Runner, tests: Tests) -> Judgement:
    """Run the cases, and on an accept the hidden ones too."""
    if isinstance(tests, AssertTests):
        return await runner.asserts(tests)
    run = partial(runner.stdin, tests) if isinstance(tests, StdinTests) else partial(runner.function, tests)
    judgement = await run(tests.cases)
    if tests.hidden and judgement.reason == "passed":
        try:
            hidden = await run(tests.hidden)
        except SandboxUnavailable:
            return judgement
        return replace(judgement, hidden=hidden.cases)
    return judgement


def _outcome(judgement: Judgement, detail: dict[str, Any], scoring: str) -> Outcome:
    """A starved case leaves the verdict open, unless another has failed and the score is all or nothing."""
    settled = judgement.first_failure is not None and scoring == "all"
    if judgement.starved and not settled:
        return Unscorable("verifier_timeout", "the host gave a run no core within its time, twice")
    correct = judgement.reason == "passed"
    share = judgement.passed / len(judgement.cases)
    return Verdict(correct, judgement.reason, share if scoring == "fraction" else float(correct), detail)
