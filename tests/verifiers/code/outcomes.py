"""Outcomes as the contract's tables write them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from verifiers.types import Outcome, Verdict

Judge = Callable[..., Awaitable[Outcome]]


def fenced(program: str) -> str:
    """A response that holds this program."""
    return f"Here it is:\n\n```python\n{program}\n```\n"


def as_row(outcome: Outcome) -> dict[str, Any]:
    """Status, reward and reason of an outcome under `scoring: all` and no shaping."""
    if isinstance(outcome, Verdict):
        return {"status": "scored", "reward": outcome.score, "reason": outcome.reason}
    return {"status": "unscorable", "reward": None, "reason": outcome.kind}


def reason_of(outcome: Outcome) -> str:
    """The reason of a verdict, the kind of a failure."""
    return outcome.reason if isinstance(outcome, Verdict) else outcome.kind
