"""One sandboxed run as the engine sees it: children to fork, bytes in, bytes out. Stdlib only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, Literal

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


def to_frame(spec: RunSpec, alone: bool) -> tuple[dict[str, Any], list[bytes]]:
    """Header and byte strings by which the supervisor is asked for a run. alone: beside no other."""
    header = {
        "kind": spec.zygote,
        "alone": alone,
        "limits": _as_header(spec.limits),
        "harnesses": [child.harness for child in spec.children],
    }
    return header, [blob for child in spec.children for blob in (child.job, child.stdin)]


def from_frame(answer: Mapping[str, Any], streams: Sequence[bytes]) -> RunResult | None:
    """What the supervisor answers; None for a run whose zygote was lost."""
    if answer["status"] is None:
        return None
    ends = answer["ends"] or [None] * (len(streams) // 3)
    children = tuple(
        ChildResult(
            exit_code=end if end is not None and end >= 0 else None,
            signal=-end if end is not None and end < 0 else None,
            stdout=streams[3 * index],
            stderr=streams[3 * index + 1],
            channel=streams[3 * index + 2],
        )
        for index, end in enumerate(ends)
    )
    return RunResult(
        status=RunStatus(answer["status"]),
        children=children,
        cpu_time_s=answer["cpu_time_s"],
        wall_time_s=answer["wall_time_s"],
        peak_memory_bytes=answer["peak_memory_bytes"],
        message=answer["message"],
    )


_as_header = lru_cache(64)(asdict)
"""Of limits, of which requests mostly have the same few. Nobody changes what it gives."""
