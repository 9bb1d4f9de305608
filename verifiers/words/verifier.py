"""The `words` verifier: names, words and short phrases, compared as text."""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from verifiers.math.extract import Candidate, candidates
from verifiers.math.options import MathOptions
from verifiers.math.read.phrases import plain
from verifiers.types import Outcome, Task, Unscorable, Verdict
from verifiers.words.options import WordsOptions

CLIP = 512
MAX_TRUTHS = 64
_ARTICLE = re.compile(r"(?:a|an|the)\s+", re.IGNORECASE)
_EDGES = " \t\n.,;:!?。！？，；：*_\"'`“”‘’()"
_TYPED = str.maketrans("’‘‐‑", "''--")
"""Typographic apostrophes and hyphens, which say nothing else than the plain ones."""
_LONGEST = 400
"""Characters of an answer in words; what is longer is prose."""


class WordsVerifier:
    """Judged on the event loop: pure Python, linear in the response."""

    name = "words"
    version = "1.0.0"
    Options: ClassVar[type[WordsOptions]] = WordsOptions
    reasons: tuple[str, ...] = ("equal", "different", "no_answer")
    flags: tuple[str, ...] = ()
    reward_range = (0.0, 1.0)
    ground_truth_schema: Mapping[str, Any] = {
        "description": "The words, or a list of which any one is right.",
        "anyOf": [
            {"type": "string"},
            {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 64},
        ],
        "examples": ["Evelyn", ["New York", "New York City"]],
    }
    contract = Path(__file__).with_name("contract.md").read_text(encoding="utf-8")

    def environment(self) -> Mapping[str, str]:
        """The interpreter, for its tables of letters."""
        return {"python": ".".join(platform.python_version_tuple()[:2])}

    def judge(self, task: Task) -> Outcome:
        """Judge one response."""
        options: WordsOptions = task.options
        texts = task.ground_truth if isinstance(task.ground_truth, list) else [task.ground_truth]
        if not 1 <= len(texts) <= MAX_TRUTHS or not all(isinstance(text, str) for text in texts):
            return Unscorable("invalid_ground_truth", "a ground truth is a text or a list of 1 to 64 texts")
        truths = [normal(text, options) for text in texts]
        if not all(truths):
            return Unscorable("invalid_ground_truth", "a ground truth without a word")
        candidate = find_words(task.response, options)
        words = normal(candidate.text, options) if candidate else ""
        reason = "no_answer" if not words else "equal" if words in truths else "different"
        detail: dict[str, Any] = {}
        if options.detail != "none":
            detail = {
                "extracted": candidate.text[: None if options.detail == "full" else CLIP]
                if candidate
                else None,
                "source": candidate.source if candidate else None,
                "span": [candidate.start, candidate.end] if candidate else None,
                "parsed": words[:CLIP],
                "expected": truths[0][:CLIP],
            }
        span = (candidate.start, candidate.end) if candidate else None
        return Verdict(reason == "equal", reason, float(reason == "equal"), detail, span=span)


def find_words(response: str, options: WordsOptions) -> Candidate | None:
    """The first place that holds an answer of at most `_LONGEST` characters."""
    places = MathOptions(sources=options.sources, reasoning=options.reasoning)
    for candidate in candidates(response, places):
        if len(candidate.text) <= _LONGEST:
            return candidate
    return None


def normal(text: str, options: WordsOptions) -> str:
    """`text` without markup, surrounding signs and repeated spaces; case and article as the options say."""
    words = " ".join(plain(text).translate(_TYPED).strip(_EDGES).split())
    if options.articles == "ignore":
        words = _ARTICLE.sub("", words, count=1) if _ARTICLE.match(words) else words
    return words.lower() if options.case == "ignore" else words
