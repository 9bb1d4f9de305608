"""What a verifier is given and what it says: the words of the domain, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

FailureKind = Literal[
    "invalid_ground_truth",
    "unsupported_tests",
    "aborted_generation",
    "sandbox_unavailable",
    "language_unavailable",
    "verifier_timeout",
    "verifier_error",
]
"""Why an item could not be judged; never the policy's doing."""

DetailLevel = Literal["none", "summary", "full"]


# One of each is made per verdict, where a frozen dataclass would cost more than many a comparison; nobody
# changes them all the same.


@dataclass(slots=True)
class Task:
    """One response to judge.

    `options` is an instance of the verifier's own `Options` model. `ground_truth` is a JSON value as
    read from the wire: its floats are `verifiers.literals.FloatLiteral` (the text that was written is kept),
    its integers exact. `MISSING` stands for a ground truth that was not sent at all.
    """

    response: str
    ground_truth: Any
    options: Any


@dataclass(slots=True)
class Verdict:
    """A judgement about the response. `score` is the `correctness` component, in the verifier's range."""

    correct: bool
    reason: str
    score: float
    detail: Mapping[str, Any] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    """Where the answer stands in the response, half-open, in code points; None where no place is known."""


@dataclass(frozen=True, slots=True)
class Unscorable:
    """No judgement was possible, and the response is not to blame."""

    kind: FailureKind
    message: str


Outcome = Verdict | Unscorable


class Missing:
    """The type of `MISSING`."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()
