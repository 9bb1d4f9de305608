"""The shape every verifier has. Adding one: a folder, one line in `registry.py`, one file of cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict

from verifiers.types import DetailLevel, Outcome, Task


class BaseOptions(BaseModel):
    """Options that every verifier takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    detail: DetailLevel = "summary"
    """How much `verdict.detail` holds: nothing, counts and the first failing test, or everything."""


class Contract(Protocol):
    """What a verifier declares about itself; served by `GET /v1/verifiers/{name}`."""

    name: str
    version: str
    reasons: tuple[str, ...]
    flags: tuple[str, ...]
    reward_range: tuple[float, float]
    ground_truth_schema: Mapping[str, Any]
    contract: str

    @property
    def Options(self) -> type[BaseOptions]:  # noqa: N802 - it is a class
        """The model of this verifier's options."""
        ...

    def environment(self) -> Mapping[str, str]:
        """Versions and limits, outside the request, that can change a verdict."""
        ...


class InlineVerifier(Contract, Protocol):
    """Pure, linear in its input and fast: judged on the event loop itself."""

    def judge(self, task: Task) -> Outcome:
        """Judge one response."""
        ...


class PooledVerifier(Contract, Protocol):
    """Judged elsewhere, in the sandbox or in worker processes."""

    self_timed: bool
    """True: bounds its own time (`code`, by RULES R7). False: the service sets its wall-clock backstop."""

    async def judge_async(self, task: Task) -> Outcome:
        """Judge one response; cancelling drops work that has not started."""
        ...


Verifier = InlineVerifier | PooledVerifier


@runtime_checkable
class ProgramVerifier(Protocol):
    """A verifier whose responses are programs."""

    def program(self, task: Task) -> str | None:
        """The Python program of a response, as far as its text tells; None where there is none."""
        ...
