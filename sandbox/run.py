"""One sandboxed run as the engine sees it: children to fork, bytes in, bytes out. Stdlib only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sandbox.types import Limits, RunStatus

Harness = Literal["script", "calls", "asserts", "candidate", "native", "together", "probe"]
"""Whose `main` runs in the child once all layers are on: that of `sandbox.child.<harness>`, or, for
`probe`, of the self-test in `sandbox.zygote.probe`."""


@dataclass(frozen=True, slots=True)
class Child:
    """One process of a run.

    job: bytes handed to the harness after the layers are on; the zygote never sees them.
    stdin: fed to descriptor 0 while the program reads.
    """

    harness: Harness
    job: bytes
    stdin: bytes = b""


@dataclass(frozen=True, slots=True)
class RunSpec:
    """A run of one child, or of two that are joined by a socket pair (test code and candidate).

    The run is over when the first child has ended; whatever else is alive then is killed.
    zygote: which warm interpreter to fork, `lean` or `sci` (numpy already imported).
    """

    children: tuple[Child, ...]
    limits: Limits
    zygote: str = "lean"


@dataclass(frozen=True, slots=True)
class ChildResult:
    """What one child left: streams, the harness's own channel, and how it ended."""

    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    channel: bytes
    """Bytes the harness wrote to its channel. Those written before the candidate's first statement ran can be
    trusted; later ones could be the candidate's own."""


@dataclass(frozen=True, slots=True)
class RunResult:
    """How the whole run ended; `status` is never `no_code`, `compile_error` or `not_run` at this level."""

    status: RunStatus
    children: tuple[ChildResult, ...]
    cpu_time_s: float
    wall_time_s: float
    peak_memory_bytes: int
    reran: bool = False
    message: str = ""
