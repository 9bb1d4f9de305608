"""The `choice` verifier: the letter, letters or text of a multiple choice."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from verifiers.choice.options import ChoiceOptions
from verifiers.choice.read import Chosen, read_choice
from verifiers.math.extract import Candidate, candidates
from verifiers.math.options import MathOptions
from verifiers.types import Outcome, Task, Unscorable, Verdict

_DECIDING = frozenset(("boxed", "tags"))
CLIP = 512


class ChoiceVerifier:
    """Judged on the event loop: pure Python, linear in the response."""

    name = "choice"
    version = "1.0.0"
    Options: ClassVar[type[ChoiceOptions]] = ChoiceOptions
    reasons: tuple[str, ...] = (
        "equal",
        "different",
        "several_choices",
        "contradiction",
        "no_answer",
        "no_choice",
    )
    flags: tuple[str, ...] = ()
    reward_range = (0.0, 1.0)
    ground_truth_schema: Mapping[str, Any] = {
        "type": "string",
        "description": "A letter, `(B) text`, letters (`A, C`), or, with options.choices, a choice's text.",
        "examples": ["B", "(B) 42", "A, C"],
    }
    contract = Path(__file__).with_name("contract.md").read_text(encoding="utf-8")

    def environment(self) -> Mapping[str, str]:
        """The interpreter, for its tables of letters."""
        return {"python": ".".join(platform.python_version_tuple()[:2])}

    def judge(self, task: Task) -> Outcome:
        """Judge one response."""
        options: ChoiceOptions = task.options
        truth = (
            read_choice(task.ground_truth, options.choices) if isinstance(task.ground_truth, str) else None
        )
        if truth is None or truth.contradiction:
            return Unscorable("invalid_ground_truth", "the ground truth names no choice")
        candidate, chosen = find_choice(task.response, options)
        reason = _reason(truth, candidate, chosen)
        detail: dict[str, Any] = {}
        if options.detail != "none":
            detail = {
                "extracted": candidate.text[: None if options.detail == "full" else CLIP]
                if candidate
                else None,
                "source": candidate.source if candidate else None,
                "span": [candidate.start, candidate.end] if candidate else None,
                "parsed": ", ".join(chosen.letters) if chosen else None,
                "expected": ", ".join(truth.letters),
            }
        span = (candidate.start, candidate.end) if candidate else None
        return Verdict(reason == "equal", reason, float(reason == "equal"), detail, span=span)


def find_choice(response: str, options: ChoiceOptions) -> tuple[Candidate | None, Chosen | None]:
    """The place that counts and what it names. A box that names no choice leaves the search to prose."""
    places = MathOptions(sources=options.sources, reasoning=options.reasoning)
    first: Candidate | None = None
    for candidate in candidates(response, places):
        chosen = read_choice(candidate.text, options.choices, prose=candidate.source not in _DECIDING)
        if chosen is not None:
            return candidate, chosen
        if candidate.source in _DECIDING:
            first = first or candidate
    return first, None


def _reason(truth: Chosen, candidate: Candidate | None, chosen: Chosen | None) -> str:
    if chosen is None:
        return "no_answer" if candidate is None else "no_choice"
    if chosen.contradiction:
        return "contradiction"
    if set(chosen.letters) == set(truth.letters):
        return "equal"
    return "several_choices" if len(chosen.letters) > len(truth.letters) else "different"
