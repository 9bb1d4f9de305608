"""What one case came to, and how a whole submission is told from its cases (RULES R4, R7)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, cast

from sandbox.types import CaseResult, RunStatus

Reason = Literal[
    "passed",
    "wrong_answer",
    "runtime_error",
    "timeout",
    "memory_exceeded",
    "output_exceeded",
    "compile_error",
    "no_code",
    "sandbox_violation",
]
CaseStatus = Reason | Literal["not_run", "starved"]

PER_CASE: Final = "per_case"
SHARED: Final = "shared"
SHARED_PROCESS: Final = "shared_process"
Mode = Literal["per_case", "shared", "shared_process"]
"""`shared`: cases of one program in one process. `shared_process`: program and test code in one."""

_STATUSES: dict[RunStatus, CaseStatus] = {
    RunStatus.CPU_TIME_EXCEEDED: "timeout",
    RunStatus.WALL_TIME_EXCEEDED: "timeout",
    RunStatus.MEMORY_EXCEEDED: "memory_exceeded",
    RunStatus.OUTPUT_EXCEEDED: "output_exceeded",
    RunStatus.NO_CODE: "no_code",
    RunStatus.COMPILE_ERROR: "compile_error",
    RunStatus.VIOLATION: "sandbox_violation",
    RunStatus.STARVED: "starved",
    RunStatus.NOT_RUN: "not_run",
}
LIMITS: Final = ("timeout", "memory_exceeded", "output_exceeded")
"""Ends that the sandbox brought about because a bound was passed."""
_OF_THE_PROGRAM = ("no_code", "compile_error")
"""The same for every case, so that one run tells."""
_NO_FAILURE = ("passed", "not_run", "starved")


@dataclass(frozen=True, slots=True)
class JudgedCase:
    """One case. result: the run it was judged in, if there was one. shared: other cases ran there too."""

    status: CaseStatus
    result: CaseResult | None = None
    message: str = ""
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Judgement:
    """All cases in the order given."""

    cases: tuple[JudgedCase, ...]
    mode: Mode = PER_CASE
    hidden: tuple[JudgedCase, ...] = field(default=())

    @property
    def passed(self) -> int:
        """How many passed."""
        return sum(case.status == "passed" for case in self.cases)

    @property
    def first_failure(self) -> int | None:
        """Index of the first case that was run and did not pass."""
        return next((index for index, case in enumerate(self.cases) if case.status not in _NO_FAILURE), None)

    @property
    def starved(self) -> bool:
        """The host gave some case no core."""
        return any(case.status == "starved" for case in self.cases)

    @property
    def reason(self) -> Reason:
        """That of the first case that fails; `timeout` if time ran out with all before it passed."""
        if self.first_failure is not None:
            return cast("Reason", self.cases[self.first_failure].status)
        return "passed" if self.passed == len(self.cases) else "timeout"


def judge_run(result: CaseResult, answer: Callable[[CaseResult], JudgedCase]) -> JudgedCase:
    """The case's status by how its run ended; `answer` judges what was given by a run that ended well."""
    status = _STATUSES.get(result.status)
    if status is not None:
        return JudgedCase(status, result, result.message)
    if result.status is RunStatus.SIGNALED:
        if result.signal == signal.SIGSYS:
            return JudgedCase("sandbox_violation", result, "a forbidden system call")
        return JudgedCase("runtime_error", result, f"ended by signal {result.signal}")
    if result.exit_code != 0:
        return JudgedCase("runtime_error", result, f"exit status {result.exit_code}")
    return answer(result)


def settles_all(case: JudgedCase) -> bool:
    """Whether this case's status is that of the program, whatever the case."""
    return case.status in _OF_THE_PROGRAM


def fill(cases: Sequence[JudgedCase], total: int) -> tuple[JudgedCase, ...]:
    """Cases that were left out: as the last one if that settles all, else not run."""
    rest = cases[-1] if cases and settles_all(cases[-1]) else JudgedCase("not_run")
    return (*cases, *[rest] * (total - len(cases)))
