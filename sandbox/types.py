"""What the sandbox is given and what it reports. It has never heard of rewards or HTTP. Stdlib only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one run (one case); `total_time_s` bounds a whole submission."""

    cpu_time_s: float = 10.0
    wall_time_s: float | None = None
    memory_bytes: int = 1024 << 20
    output_bytes: int = 16 << 20
    stderr_bytes: int = 2 << 20
    processes: int = 64
    total_time_s: float = 60.0

    @property
    def wall_limit_s(self) -> float:
        """Wall-clock bound of one run, waiting for a core not counted (RULES R7)."""
        return self.wall_time_s if self.wall_time_s is not None else 1.5 * self.cpu_time_s + 1.0


@dataclass(frozen=True, slots=True)
class Program:
    """Texts of which one is the program, in order of preference; which one is decided inside the sandbox.

    fenced: the texts are code blocks (an empty one is no code; one that does not compile is a compile
        error). Otherwise there is one text, the whole response, and it counts only if it is a program.
    entry_point: prefer the first text that defines this name, if any does.
    """

    language: str
    texts: tuple[str, ...]
    fenced: bool = True
    entry_point: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptCase:
    """Run the program as a script with this standard input."""

    stdin: bytes


@dataclass(frozen=True, slots=True)
class Call:
    """One function call; plain JSON data."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CallCase:
    """Define the program once in a fresh process and make these calls there, in this order."""

    entry_point: str
    calls: tuple[Call, ...]
    setup: str = ""


@dataclass(frozen=True, slots=True)
class AssertCase:
    """Run test code in a process of its own; the program's functions are stubs there, called by value.

    nonce: not empty: run both in one process, which has to repeat it beside its outcome. Weaker: the program
        can tamper with what the tests run on.
    """

    code: tuple[str, ...]
    setup: str = ""
    entry_point: str | None = None
    nonce: str = ""


Case = ScriptCase | CallCase | AssertCase


@dataclass(frozen=True, slots=True)
class Submission:
    """A program and the cases to run it on, one fresh sandboxed run per case."""

    program: Program
    cases: tuple[Case, ...]
    limits: Limits = Limits()
    stop_early: bool = False
    """End after the first case for which `CaseResult.status` is not `exited` with code 0."""


class RunStatus(StrEnum):
    """How a run ended. Whether it was *right* is for the verifier to say."""

    EXITED = "exited"
    """The program ended by itself: see `exit_code`."""
    SIGNALED = "signaled"
    """A signal that the sandbox did not send ended it: see `signal`."""
    CPU_TIME_EXCEEDED = "cpu_time_exceeded"
    WALL_TIME_EXCEEDED = "wall_time_exceeded"
    MEMORY_EXCEEDED = "memory_exceeded"
    OUTPUT_EXCEEDED = "output_exceeded"
    NO_CODE = "no_code"
    """None of the texts is a program."""
    COMPILE_ERROR = "compile_error"
    VIOLATION = "violation"
    """It broke out of bounds in a way that ended the run (a lost zygote while a control program passes)."""
    STARVED = "starved"
    """Twice the host gave it no core within the wall limit, nor then to a program of ours: says nothing about
    the program."""
    NOT_RUN = "not_run"
    """Left out: `stop_early` or `total_time_s`."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What one call gave: a plain value, or the error in words."""

    value: Any = None
    error: str | None = None
    plain: bool = True
    """False: the value returned is not plain data (set, bytes, object, generator, too large)."""


AssertState = Literal["passed", "failed", "error", "asserts_nothing", "unsupported", "invalid_tests"]


@dataclass(frozen=True, slots=True)
class AssertOutcome:
    """What the test code said."""

    state: AssertState
    message: str = ""


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One run, measured from outside."""

    index: int
    status: RunStatus
    exit_code: int | None = None
    signal: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    cpu_time_s: float = 0.0
    wall_time_s: float = 0.0
    peak_memory_bytes: int = 0
    reran: bool = False
    message: str = ""
    calls: tuple[CallResult, ...] = ()
    """For a `CallCase`: one entry per call that finished, in order; fewer than asked if it died before."""
    asserts: AssertOutcome | None = None
    """Of an `AssertCase`; of others only that their setup is invalid."""


Level = Literal["none", "base", "strong", "full"]
Strength = Literal["kernel", "polled", "refused", "none"]


@dataclass(frozen=True, slots=True)
class Guarantee:
    """How strongly one thing is enforced here, and why not more strongly."""

    strength: Strength
    reason: str = ""


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """What `GET /v1/sandbox` tells."""

    level: Level
    available: bool
    reason: str
    """Why code is not run here; empty when it is."""
    guarantees: Mapping[str, Guarantee]
    """Keys: files, network, signals, tracing, process_count, ids, memory, disk."""
    languages: Mapping[str, str]
    packages: Mapping[str, str]
    environment: Mapping[str, str]
    default_limits: Limits
    maximum_limits: Limits
    slots: int
