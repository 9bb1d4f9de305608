"""Flags that are found after the reply. They mark strata to look at; a verdict is never changed by one."""

from __future__ import annotations

import json
import unicodedata
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

LATE_FLAGS: Final = {
    "constant_output": "different inputs, one output",
    "input_never_read": "the program never reads what it is given",
    "test_literals": "inputs or expected values of the tests stand in the program",
    "harness_words": "the program reaches for what runs it: ends it, looks at frames, patches equality",
    "near_time_limit": "a test, or the verdict itself, took most of the time it may take",
    "rerun_flip": "judged again it came out otherwise",
    "hidden_cases_failed": "the cases passed, and the hidden ones did not",
    "repeated_across_prompts": "the same response to several prompts",
}
"""Every late flag and what it says."""

NEAR: Final = 0.8
"""Share of a time limit from which on a run is near it."""

REPEATED: Final = 3
"""Different prompts with one and the same response, from which on it is flagged."""

_MAX_SPANS: Final = 20
_COMPARED: Final = 50_000  # characters, of the rest only the number: this runs on the event loop
_MIN_REPEATED: Final = 40  # characters: `\boxed{4}` is a fair response to many prompts


@dataclass(frozen=True, slots=True)
class LateFlag:
    """A flag and what it rests on. spans: half-open, in code points of the response; or else a short text."""

    name: str
    spans: Sequence[tuple[int, int]] = ()
    text: str = ""

    def evidence_json(self) -> str:
        """What the column `evidence` holds."""
        return json.dumps([list(span) for span in self.spans[:_MAX_SPANS]] if self.spans else self.text)


def hidden_flag(detail: Mapping[str, Any]) -> LateFlag | None:
    """The flag of a verdict of `code` whose hidden cases failed although the others passed."""
    hidden = detail.get("hidden") or {}
    if hidden.get("correct") is not False:
        return None
    passed, total = hidden.get("tests_passed"), hidden.get("tests_total")
    return LateFlag("hidden_cases_failed", text=f"{passed} of {total} passed: {hidden.get('reason')}")


def time_flag(seconds: float, limit_s: float) -> LateFlag | None:
    """The flag of something that took `seconds` and may take `limit_s`."""
    if limit_s <= 0 or seconds < NEAR * limit_s:
        return None
    return LateFlag("near_time_limit", text=f"{seconds:.3g} s of {limit_s:.3g} s")


class Repeats:
    """Remembers which prompts each response was given to, for the last `most` different responses.

    What it remembers is lost with the process; a response that goes on being repeated is seen again.
    """

    def __init__(self, most: int = 50_000) -> None:
        self._most = most
        self._prompts: OrderedDict[bytes, set[bytes]] = OrderedDict()

    def add(self, verifier: str, response: str, question: object) -> LateFlag | None:
        """Note one response; the flag, if it was given to `REPEATED` different prompts by now.

        question: the prompt, or the ground truth where no prompt was sent.
        """
        text = " ".join(unicodedata.normalize("NFKC", response[:_COMPARED]).casefold().split())
        if len(text) < _MIN_REPEATED:
            return None
        key = _digest(f"{verifier}\n{max(0, len(response) - _COMPARED)}\n{text}")
        prompts = self._prompts.setdefault(key, set())
        self._prompts.move_to_end(key)
        if len(prompts) < REPEATED:
            prompts.add(_digest(repr(question)))
        if len(self._prompts) > self._most:
            self._prompts.popitem(last=False)
        if len(prompts) < REPEATED:
            return None
        return LateFlag("repeated_across_prompts", text=f"at least {REPEATED} different prompts")


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).digest()
