"""What the audit keeps of a verdict. Plain values only, ready for a database row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Stratum(NamedTuple):
    """The cell in which a verdict is counted."""

    verifier: str
    version: str
    data_source: str
    """Empty when the caller named none."""
    name: str
    """`accept/plain`, `reject/plain`, `unscorable/<kind>`, later `accept/<flag>` ..."""


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One stored verdict: the narrow columns people filter by, and the payload."""

    id: str
    created_at_ms: int
    stratum: Stratum
    environment: str
    status: str
    correct: bool | None
    reward: float | None
    reason: str
    """The verdict's reason, or the failure kind when unscorable."""
    flags: tuple[str, ...]
    stop_reason: str
    truncated: bool | None
    inclusion_probability: float
    meta: Mapping[str, Any]
    """The request's `meta`: run, step, split, prompt_id, group_id, rollout_id, versions, canary, tags."""
    response: str
    ground_truth: Any
    """A JSON value, or None when it was not sent."""
    prompt: Any
    request: Mapping[str, Any] = field(default_factory=dict)
    """`options`, `stop`, `shaping` as sent."""
    reply: Mapping[str, Any] = field(default_factory=dict)
    """The whole reply body."""
