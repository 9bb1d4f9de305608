"""Small verifiers for tests of the HTTP edge: real objects at the verifiers' own protocols."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import Field

from verifiers.base import BaseOptions
from verifiers.types import Outcome, Task, Unscorable, Verdict


class ExactOptions(BaseOptions):
    """Options of `ExactVerifier`."""

    strip: bool = False
    weight: float = Field(1.0, ge=0, le=1)


class _Exact:
    """Correct when the response is the ground truth, letter by letter."""

    version = "1.0.0"
    Options = ExactOptions
    reasons: tuple[str, ...] = ("equal", "different")
    flags: tuple[str, ...] = ()
    reward_range = (0.0, 1.0)
    ground_truth_schema: Mapping[str, Any] = {"type": "string"}
    contract = "Equal texts are correct."

    def environment(self) -> Mapping[str, str]:
        """Nothing outside the request matters."""
        return {}

    def _compare(self, task: Task) -> Outcome:
        if not isinstance(task.ground_truth, str):
            return Unscorable("invalid_ground_truth", "the ground truth must be a text")
        response = task.response.strip() if task.options.strip else task.response
        correct = response == task.ground_truth
        return Verdict(
            correct, "equal" if correct else "different", float(correct), {"length": len(response)}
        )


class ExactVerifier(_Exact):
    """Judges on the event loop."""

    name = "exact"

    def judge(self, task: Task) -> Outcome:
        """Compare the texts."""
        return self._compare(task)


class PooledExactVerifier(_Exact):
    """Judges elsewhere, and tests hold it up. `calls` are the responses that it began to judge."""

    name = "pooled"
    self_timed = True

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.before: Callable[[Task], None] = lambda _: None

    def hold(self, response: str) -> asyncio.Event:
        """Judge this response only once the event is set."""
        return self.gates.setdefault(response, asyncio.Event())

    async def judge_async(self, task: Task) -> Outcome:
        """Compare the texts, when the test lets it."""
        self.calls.append(task.response)
        if task.response in self.gates:
            await self.gates[task.response].wait()
        self.before(task)
        return self._compare(task)
