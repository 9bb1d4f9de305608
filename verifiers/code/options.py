"""Options of the `code` verifier, checked at the door."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from sandbox.types import Limits
from verifiers.base import BaseOptions
from verifiers.code.extract import ExtractMode

Seconds = Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)]


class LimitOptions(BaseModel):
    """Bounds on the program; what is left out takes the service's default (`GET /v1/sandbox`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    time_s: Seconds | None = None
    """CPU time of the whole process tree of one case; may be fractional."""
    wall_time_s: Seconds | None = None
    """Wall clock of one case, waiting for a core not counted; default 1.5 * time_s + 1."""
    memory_mb: Annotated[int, Field(ge=16, le=1 << 20)] | None = None
    """Memory used by the whole tree, MiB."""
    output_mb: Annotated[float, Field(gt=0, le=1024, allow_inf_nan=False)] | None = None
    """Standard output of one case, MiB."""
    processes: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Processes and threads at a time."""
    total_time_s: Seconds | None = None
    """The whole submission, counted like wall_time_s and summed over its cases."""


class CodeOptions(BaseOptions):
    """How a response is turned into a program, and how that program is run and scored."""

    language: Annotated[str, Field(min_length=1, max_length=32)] = "python"
    """The language asked for."""
    limits: LimitOptions = LimitOptions()
    scoring: Literal["all", "fraction"] = "all"
    """`fraction`: the score is the share of cases passed; `correct` still needs all."""
    stop_early: bool = False
    """End after the first case that fails."""
    isolation: Literal["default", "per_case"] = "default"
    """`per_case`: never two cases in one process."""
    extract: ExtractMode = "fenced"
    """`raw`: the whole response is the program, no fences looked for."""
    allow_shared_process: bool = False
    """Whether an assert verdict reached in a process shared with the candidate may earn a reward."""


def bounded_options(maximum: Limits) -> type[CodeOptions]:
    """The options of a service: limits above its maximum are refused, and its schema says so."""

    class BoundedLimits(LimitOptions):
        time_s: Annotated[float, Field(gt=0, le=maximum.cpu_time_s)] | None = None
        wall_time_s: Annotated[float, Field(gt=0, le=maximum.wall_limit_s)] | None = None
        memory_mb: Annotated[int, Field(ge=16, le=maximum.memory_bytes >> 20)] | None = None
        output_mb: Annotated[float, Field(gt=0, le=maximum.output_bytes / (1 << 20))] | None = None
        processes: Annotated[int, Field(ge=1, le=maximum.processes)] | None = None
        total_time_s: Annotated[float, Field(gt=0, le=maximum.total_time_s)] | None = None

    class BoundedOptions(CodeOptions):
        limits: BoundedLimits = BoundedLimits()

    return BoundedOptions


def to_limits(asked: LimitOptions, default: Limits) -> Limits:
    """The limits of a submission: what was asked, else the service's default."""
    return Limits(
        cpu_time_s=asked.time_s or default.cpu_time_s,
        wall_time_s=asked.wall_time_s or default.wall_time_s,
        memory_bytes=_bytes(asked.memory_mb) or default.memory_bytes,
        output_bytes=_bytes(asked.output_mb) or default.output_bytes,
        stderr_bytes=default.stderr_bytes,
        processes=asked.processes or default.processes,
        total_time_s=asked.total_time_s or default.total_time_s,
    )


def _bytes(mebibytes: float | None) -> int:
    return int((mebibytes or 0) * (1 << 20))
