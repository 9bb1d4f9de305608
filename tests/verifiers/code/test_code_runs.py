"""How cases are run and told into one verdict, with a sandbox whose answers are written out here."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outcomes import reason_of

from sandbox.errors import SandboxUnavailable
from sandbox.types import (
    AssertCase,
    AssertOutcome,
    AssertState,
    CallCase,
    CallResult,
    Case,
    CaseResult,
    Limits,
    Program,
    RunStatus,
    SandboxReport,
    ScriptCase,
    Submission,
)
from verifiers.code import CodeVerifier
from verifiers.code.runs import permutation
from verifiers.types import Outcome, Task, Unscorable, Verdict

Answer = Callable[[Case], CaseResult]
EXITED = CaseResult(0, RunStatus.EXITED, exit_code=0, cpu_time_s=0.5, wall_time_s=1.0)
ASSERTS = {"type": "asserts", "code": "assert f()"}
OF_ALL = ("no_code", "compile_error")
MAXIMUM = Limits(60.0, 120.0, 4 << 30, 64 << 20, 2 << 20, 64, 600.0)


class ScriptedSandbox:
    """Answers every case by a function and keeps what it was asked."""

    def __init__(
        self, answer: Answer, *, languages: tuple[str, ...] = ("python",), available: bool = True
    ) -> None:
        self.answer = answer
        self.submissions: list[Submission] = []
        self.given = 0
        self._reason = "" if available else "too weak"

    def report(self) -> SandboxReport:
        """A host that can do all this."""
        languages, packages = {"python": "3"}, {"numpy": "2"}
        available = not self._reason
        return SandboxReport(
            "strong", available, self._reason, {}, languages, packages, {}, Limits(), MAXIMUM, slots=2
        )

    async def run(self, submission: Submission) -> AsyncGenerator[CaseResult, None]:
        """The written answers, `not_run` when the time of the submission is over."""
        self.submissions.append(submission)
        spent = 0.0
        for index, case in enumerate(submission.cases):
            if spent >= submission.limits.total_time_s:
                yield CaseResult(index, RunStatus.NOT_RUN)
                continue
            result = self.answer(case)
            spent += result.wall_time_s
            self.given += 1
            yield replace(result, index=index)


async def judge(sandbox: ScriptedSandbox, ground_truth: Any, **options: Any) -> Outcome:
    """The verdict on some program."""
    verifier = CodeVerifier(sandbox)
    return await verifier.judge_async(Task("```python\nx\n```", ground_truth, verifier.Options(**options)))


def stdin(*outputs: str, **more: Any) -> dict[str, Any]:
    """Cases named a, b, c ... with these expected outputs."""
    cases = [{"stdin": chr(97 + i), "stdout": output} for i, output in enumerate(outputs)]
    return {"type": "stdin_stdout", "cases": cases, **more}


def calls(*expected: Any, **more: Any) -> dict[str, Any]:
    """Calls f(0), f(1) ... with these expected values."""
    cases = [{"args": [i], "expected": value} for i, value in enumerate(expected)]
    return {"type": "function_call", "entry_point": "f", "cases": cases, **more}


def printing(**by_stdin: CaseResult | str) -> Answer:
    """Script answers by standard input."""

    def answer(case: Case) -> CaseResult:
        assert isinstance(case, ScriptCase)
        found = by_stdin[case.stdin.decode()]
        return replace(EXITED, stdout=found.encode()) if isinstance(found, str) else found

    return answer


def returning(value: Callable[[Any, bool], CallResult], ending: CaseResult = EXITED) -> Answer:
    """Call answers by argument and by whether the call has a process of its own."""

    def answer(case: Case) -> CaseResult:
        assert isinstance(case, CallCase)
        alone = len(case.calls) == 1
        return replace(
            EXITED if alone else ending, calls=tuple(value(call.args[0], alone) for call in case.calls)
        )

    return answer


STATUSES = [
    (CaseResult(0, RunStatus.EXITED, exit_code=1), "runtime_error"),
    (CaseResult(0, RunStatus.SIGNALED, signal=11), "runtime_error"),
    (CaseResult(0, RunStatus.SIGNALED, signal=31), "sandbox_violation"),
    (CaseResult(0, RunStatus.CPU_TIME_EXCEEDED), "timeout"),
    (CaseResult(0, RunStatus.WALL_TIME_EXCEEDED), "timeout"),
    (CaseResult(0, RunStatus.MEMORY_EXCEEDED), "memory_exceeded"),
    (CaseResult(0, RunStatus.OUTPUT_EXCEEDED), "output_exceeded"),
    (CaseResult(0, RunStatus.NO_CODE), "no_code"),
    (CaseResult(0, RunStatus.COMPILE_ERROR), "compile_error"),
    (CaseResult(0, RunStatus.VIOLATION), "sandbox_violation"),
]


@pytest.mark.parametrize(("result", "reason"), STATUSES, ids=[f"{r.status}-{r.signal}" for r, _ in STATUSES])
async def test_every_end_of_a_run_is_a_verdict(result: CaseResult, reason: str) -> None:
    """Whatever a program can cause is incorrect with its own reason, in each kind of tests."""
    outcomes = [
        await judge(ScriptedSandbox(lambda _: result), tests)
        for tests in (
            stdin(""),
            stdin("", ""),
            calls(1),
            calls(1, 2),
            {"type": "asserts", "code": "assert f()"},
        )
    ]
    assert [reason_of(outcome) for outcome in outcomes] == [reason] * 5
    assert all(
        isinstance(outcome, Verdict) and not outcome.correct and outcome.score == 0 for outcome in outcomes
    )


async def test_first_failing_case_gives_the_reason() -> None:
    """In the order given; later failures change nothing."""
    sandbox = ScriptedSandbox(printing(a="1", b="wrong", c=CaseResult(0, RunStatus.CPU_TIME_EXCEEDED)))
    outcome = await judge(sandbox, stdin("1", "2", "3"))
    assert isinstance(outcome, Verdict)
    assert (outcome.reason, outcome.detail["tests_passed"], outcome.detail["tests_total"]) == (
        "wrong_answer",
        1,
        3,
    )


async def test_fraction_scores_the_share() -> None:
    """`correct` still needs all."""
    sandbox = ScriptedSandbox(printing(a="1", b="wrong", c="3"))
    outcome = await judge(sandbox, stdin("1", "2", "3"), scoring="fraction")
    assert isinstance(outcome, Verdict)
    assert (outcome.correct, outcome.score) == (False, 2 / 3)


async def test_stop_early_leaves_the_rest_out() -> None:
    """Nothing is asked of the sandbox after the first case that fails."""
    sandbox = ScriptedSandbox(printing(a="1", b="wrong", c="3"))
    outcome = await judge(sandbox, stdin("1", "2", "3"), stop_early=True, detail="full")
    assert isinstance(outcome, Verdict)
    assert [test["status"] for test in outcome.detail["tests"]] == ["passed", "wrong_answer", "not_run"]
    assert sandbox.given == 2


@pytest.mark.parametrize("status", [RunStatus.NO_CODE, RunStatus.COMPILE_ERROR])
async def test_a_program_that_is_none_is_run_once(status: RunStatus) -> None:
    """It is none for every case."""
    for tests in (stdin("1", "2", "3"), calls(1, 2, 3)):
        sandbox = ScriptedSandbox(lambda _: CaseResult(0, status))
        outcome = await judge(sandbox, tests, detail="full")
        assert isinstance(outcome, Verdict)
        assert [test["status"] for test in outcome.detail["tests"]] == [str(status)] * 3
        assert sandbox.given == 1


async def test_time_of_the_submission_ends_it() -> None:
    """Later cases are not run; with all before them passed the reason is timeout."""
    sandbox = ScriptedSandbox(printing(a="1", b="2", c="3"))
    outcome = await judge(sandbox, stdin("1", "2", "3"), limits={"total_time_s": 2}, detail="full")
    assert isinstance(outcome, Verdict)
    assert outcome.reason == "timeout"
    assert [test["status"] for test in outcome.detail["tests"]] == ["passed", "passed", "not_run"]


@given(st.integers(2, 40), st.text())
@settings(max_examples=50)
def test_no_call_keeps_its_place(count: int, text: str) -> None:
    """The order is a permutation, the same for the same program, in which every case has moved."""
    order = permutation(count, Program("python", (text,)))
    assert sorted(order) == list(range(count))
    assert all(place != index for place, index in enumerate(order))
    assert order == permutation(count, Program("python", (text,)))


async def test_calls_share_a_process() -> None:
    """All that pass together have cost one run."""
    sandbox = ScriptedSandbox(returning(lambda argument, _: CallResult(argument * 2)))
    outcome = await judge(sandbox, calls(0, 2, 4), detail="full")
    assert isinstance(outcome, Verdict)
    assert outcome.correct
    assert outcome.detail["isolation"] == {"level": "strong", "mode": "shared"}
    assert [test["cpu_time_s"] for test in outcome.detail["tests"]] == [None] * 3
    assert sandbox.given == 1


async def test_sharing_never_costs_a_reward() -> None:
    """What is wrong among others runs again alone, and counts as it is then."""
    sandbox = ScriptedSandbox(
        returning(lambda argument, alone: CallResult(argument if alone or argument else 9))
    )
    outcome = await judge(sandbox, calls(0, 1, 2))
    assert isinstance(outcome, Verdict)
    assert outcome.correct
    assert [len(submission.cases) for submission in sandbox.submissions] == [1, 1]


async def test_wrong_alone_is_wrong() -> None:
    """A case that is only right after others is right; one that is wrong alone too is not."""
    sandbox = ScriptedSandbox(returning(lambda argument, alone: CallResult(9 if argument == 1 else argument)))
    outcome = await judge(sandbox, calls(0, 1, 2))
    assert isinstance(outcome, Verdict)
    assert (outcome.reason, outcome.detail["tests_passed"]) == ("wrong_answer", 2)


@pytest.mark.parametrize("ending", [r for r, reason in STATUSES if reason not in OF_ALL])
async def test_nothing_passes_in_a_process_that_ended_badly(ending: CaseResult) -> None:
    """However the shared process ended, every case then gets one of its own."""
    sandbox = ScriptedSandbox(returning(lambda argument, _: CallResult(argument), ending))
    outcome = await judge(sandbox, calls(0, 1, 2), detail="full")
    assert isinstance(outcome, Verdict)
    assert outcome.correct
    assert [len(submission.cases) for submission in sandbox.submissions] == [1, 3]
    assert all(test["cpu_time_s"] == 0.5 for test in outcome.detail["tests"])


async def test_a_first_call_that_takes_all_is_not_run_again() -> None:
    """Killed at its limit before any call returned: the process was the first call's own so far."""

    def answer(case: Case) -> CaseResult:
        assert isinstance(case, CallCase)
        return CaseResult(0, RunStatus.CPU_TIME_EXCEEDED, cpu_time_s=2.0)

    sandbox = ScriptedSandbox(answer)
    outcome = await judge(sandbox, calls(0, 1, 2), detail="full")
    assert reason_of(outcome) == "timeout"
    assert [len(submission.cases) for submission in sandbox.submissions] == [1, 2]


async def test_per_case_never_shares() -> None:
    """`isolation: per_case`, and a single case, have processes of their own at once."""
    for tests, options in ((calls(0, 1), {"isolation": "per_case"}), (calls(0), {})):
        sandbox = ScriptedSandbox(returning(lambda argument, alone: CallResult(argument if alone else 9)))
        outcome = await judge(sandbox, tests, **options)
        assert isinstance(outcome, Verdict)
        assert outcome.correct
        assert outcome.detail["isolation"]["mode"] == "per_case"
        assert len(sandbox.submissions) == 1


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (CallResult(error="ValueError: x"), "runtime_error"),
        (CallResult(plain=False, error="set is not plain data"), "wrong_answer"),
        (CallResult(7), "wrong_answer"),
    ],
)
async def test_what_a_call_gave(result: CallResult, reason: str) -> None:
    """An exception is an error, a value that is not plain or not equal is wrong."""
    assert reason_of(await judge(ScriptedSandbox(returning(lambda *_: result)), calls(1))) == reason


async def test_a_call_without_an_answer_is_an_error() -> None:
    """The process ended well but before the call returned."""
    assert reason_of(await judge(ScriptedSandbox(lambda _: EXITED), calls(1))) == "runtime_error"


async def test_hidden_cases_are_reported_apart() -> None:
    """They run on an accept only, and neither reward nor verdict depends on them."""
    hidden = [{"stdin": "h", "stdout": "1"}]
    sandbox = ScriptedSandbox(printing(a="1", h="0"))
    outcome = await judge(sandbox, stdin("1", hidden_cases=hidden))
    assert isinstance(outcome, Verdict)
    assert (outcome.correct, outcome.score) == (True, 1.0)
    assert outcome.detail["hidden"] == {
        "tests_passed": 0,
        "tests_total": 1,
        "correct": False,
        "reason": "wrong_answer",
    }
    sandbox = ScriptedSandbox(printing(a="0", h="1"))
    outcome = await judge(sandbox, stdin("1", hidden_cases=hidden))
    assert isinstance(outcome, Verdict)
    assert "hidden" not in outcome.detail
    assert sandbox.given == 1


async def test_hidden_cases_that_cannot_run_change_nothing() -> None:
    """A sandbox that is lost meanwhile does not take the verdict with it."""

    def answer(case: Case) -> CaseResult:
        assert isinstance(case, ScriptCase)
        if case.stdin == b"h":
            raise SandboxUnavailable("gone")
        return replace(EXITED, stdout=b"1")

    outcome = await judge(ScriptedSandbox(answer), stdin("1", hidden_cases=[{"stdin": "h", "stdout": "1"}]))
    assert isinstance(outcome, Verdict)
    assert outcome.correct


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("passed", "passed"),
        ("failed", "wrong_answer"),
        ("error", "runtime_error"),
        ("asserts_nothing", "invalid_ground_truth"),
        ("invalid_tests", "invalid_ground_truth"),
        ("unsupported", "unsupported_tests"),
    ],
)
async def test_what_test_code_says(state: AssertState, reason: str) -> None:
    """Each state of an assert run has its outcome."""
    result = replace(EXITED, asserts=AssertOutcome(state, "why"))
    sandbox = ScriptedSandbox(lambda _: result)
    outcome = await judge(
        sandbox, {"type": "asserts", "code": "assert f()", "entry_point": "f", "setup": "s"}
    )
    assert reason_of(outcome) == reason
    assert sandbox.submissions[0].cases == (AssertCase(("assert f()",), "s", "f"),)


async def test_test_code_without_a_word_is_no_pass() -> None:
    """An exit status is never a pass."""
    assert reason_of(
        await judge(ScriptedSandbox(lambda _: EXITED), {"type": "asserts", "code": "assert f()"})
    ) == ("runtime_error")


# One test for each route to a null reward: none of them can be taken by a response.


async def test_null_by_a_sandbox_that_is_not_there() -> None:
    """The host is too weak, or a control program was lost too."""

    def lost(_: Case) -> CaseResult:
        raise SandboxUnavailable("runs are lost")

    for sandbox, words in (
        (ScriptedSandbox(lost), "runs are lost"),
        (ScriptedSandbox(lost, available=False), "too weak"),
    ):
        outcome = await judge(sandbox, stdin(""))
        assert outcome == Unscorable("sandbox_unavailable", words)


async def test_null_by_a_language_that_is_not_there() -> None:
    """Known or not; aliases are understood."""
    for language in ("cpp", "cobol"):
        outcome = await judge(ScriptedSandbox(printing(a="")), stdin(""), language=language)
        assert reason_of(outcome) == "language_unavailable"
    assert reason_of(await judge(ScriptedSandbox(printing(a="")), stdin(""), language="Python3")) == "passed"


async def test_null_by_a_starved_run() -> None:
    """Only while another case has not settled the verdict."""
    starved = CaseResult(0, RunStatus.STARVED)
    sandbox = ScriptedSandbox(printing(a="1", b=starved, c="x"))
    assert reason_of(await judge(sandbox, stdin("1", "2"))) == "verifier_timeout"
    assert reason_of(await judge(sandbox, stdin("1", "2", "3"))) == "wrong_answer"
    assert reason_of(await judge(sandbox, stdin("1", "2", "3"), scoring="fraction")) == "verifier_timeout"
    assert reason_of(await judge(ScriptedSandbox(lambda _: starved), calls(1, 2))) == "verifier_timeout"


async def test_null_by_the_ground_truth() -> None:
    """Whatever the response is."""
    sandbox = ScriptedSandbox(printing(a="1"))
    assert reason_of(await judge(sandbox, {})) == "invalid_ground_truth"
    assert reason_of(await judge(sandbox, stdin("", checker="c"))) == "unsupported_tests"
    assert sandbox.submissions == []


@pytest.mark.parametrize("how", ["none", "summary", "full"])
async def test_detail(how: str) -> None:
    """Nothing; counts and the first failure; every test. Texts are clipped to 2 KiB."""
    long = replace(EXITED, exit_code=1, stdout=b"a" * 9000, stderr=b"\0\xff" * 5000)
    outcome = await judge(ScriptedSandbox(printing(a="1", b=long)), stdin("1", "2"), detail=how)
    assert isinstance(outcome, Verdict)
    if how == "none":
        assert outcome.detail == {}
        return
    tests = outcome.detail["tests"]
    assert [test["index"] for test in tests] == ([1] if how == "summary" else [0, 1])
    assert len(tests[-1]["stdout"]) <= 2048
    assert "\0" not in tests[-1]["stderr"]
    assert tests[-1]["exit_code"] == 1


def test_limits_above_the_maximum_are_refused() -> None:
    """At the door, not cut down in silence; the schema names the bounds."""
    options = CodeVerifier(ScriptedSandbox(printing())).Options
    for field, value in (
        ("time_s", 61),
        ("memory_mb", 4097),
        ("processes", 65),
        ("total_time_s", 0),
        ("x", 1),
    ):
        with pytest.raises(ValueError, match="validation error"):
            options(limits={field: value})  # type: ignore[arg-type]
    assert "4096" in str(options.model_json_schema())


def test_environment_names_what_changes_verdicts() -> None:
    """Languages, packages and limits."""
    environment = CodeVerifier(ScriptedSandbox(printing())).environment()
    assert environment["language python"] == "3"
    assert environment["package numpy"] == "2"
    assert "cpu_time_s" in environment["limits"]
