"""Why a generation ended: the engine's own word, a canonical reason, and the two flags it implies.

Three different facts. The *raw* word is what the engine said. `terminated`: the task reached an end of its
own. `truncated`: a limit cut it off (Gymnasium's sense; both may be true, and both may be unknown, which is
None and never False). The length of a response does not recover the cause: an end-of-sequence token may be
the last one that fitted.

Standard library only, so that a service can read stop reasons without loading NumPy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final, Literal

from rollouts.stop_reasons import (
    CANONICAL_REASONS,
    ENGINE_REASONS,
    HARNESS_REASONS,
    TRAILING_TOKENS,
)

__all__ = [
    "ABSENT",
    "Absent",
    "ResolvedStop",
    "StopMetadata",
    "StopRules",
    "StopSource",
    "resolve_stop",
    "stop_metadata",
]

_ENDS: Final = frozenset({"eos", "stop_string", "stop_token", "stop"})

_TRAILING_SUFFIXES: Final = tuple(TRAILING_TOKENS)
_LAST_CHARACTERS: Final = frozenset(token[-1] for token in TRAILING_TOKENS)
_TAIL_CHARS: Final = 64
_WORD_CHARS: Final = 64
"""Longer words are nobody's, and not worth remembering."""

StopSource = Literal["explicit", "last_token", "trailing_token", "token_count", "none"]
"""Which evidence gave the reason, strongest first."""


class Absent(Enum):
    """The type of `ABSENT`."""

    ABSENT = "absent"


ABSENT: Final = Absent.ABSENT
"""What matched was not said; `None` says that nothing matched."""

Matched = str | int | None | Absent


@dataclass(frozen=True, slots=True)
class StopRules:
    """A task's own reading of stop reasons.

    Each collection holds canonical reasons, or an engine's own words. One that is given replaces the default
    for its flag: `terminal_reasons={"environment"}` says that an `eos` only ends a turn. A reason may stand
    in both. `unknown` stays unknown (None) unless it, or its raw word, is named.
    Raises TypeError when a collection is a bare string or holds anything but strings.
    """

    terminal_reasons: Collection[str] | None = None
    truncating_reasons: Collection[str] | None = None
    unscorable_reasons: Collection[str] = frozenset({"aborted", "error"})
    """Reasons that say nothing about the policy: the response is not scored."""

    def __post_init__(self) -> None:
        for name in ("terminal_reasons", "truncating_reasons", "unscorable_reasons"):
            value = getattr(self, name)
            if value is None and name != "unscorable_reasons":
                continue
            if isinstance(value, str) or not isinstance(value, Collection):
                raise TypeError(f"{name} must be a collection of strings")
            if not all(isinstance(word, str) for word in value):
                raise TypeError(f"{name} must hold strings only")
            object.__setattr__(self, name, frozenset(value))


_DEFAULT_RULES: Final = StopRules()


@dataclass(frozen=True, slots=True)
class StopMetadata:
    """A canonical stop reason and what it means for the task. None: not known."""

    stop_reason: str
    terminated: bool | None
    truncated: bool | None


@dataclass(frozen=True, slots=True)
class ResolvedStop:
    """A stop reason with the evidence behind it.

    raw: the engine's own word, None when there was none. source: the evidence that decided.
    unscorable: by the task's rules this ending says nothing about the policy.
    """

    stop_reason: str
    raw: str | None
    source: StopSource
    terminated: bool | None
    truncated: bool | None
    unscorable: bool


def stop_metadata(reason: str | Mapping[str, object] | None, rules: StopRules | None = None) -> StopMetadata:
    """Canonical reason and flags of a stop reason whose engine is not known.

    reason: a canonical reason, an engine's word on whose meaning all engines agree, or SGLang's mapping.
    Any other word is `unknown` with both flags None; it never raises. rules: the task's own reading.
    Raises TypeError when `reason` is neither text, mapping nor None.
    """
    stop = resolve_stop(reason, rules=rules)
    return StopMetadata(stop.stop_reason, stop.terminated, stop.truncated)


def resolve_stop(  # noqa: PLR0913 - one argument for each piece of evidence
    reason: str | Mapping[str, object] | None = None,
    *,
    engine: str | None = None,
    matched: Matched = ABSENT,
    last_token_id: int | None = None,
    eos_token_ids: Collection[int] = (),
    num_tokens: int | None = None,
    max_tokens: int | None = None,
    text: str | None = None,
    rules: StopRules | None = None,
) -> ResolvedStop:
    """Find out why a generation ended, from the strongest evidence there is.

    The ladder: the explicit `reason` read by its `engine`'s table; `last_token_id` in `eos_token_ids`; a
    known special token at the end of `text`; `num_tokens >= max_tokens`. A reason that says nothing
    (verl's `completed`) lets the later rungs decide. Without an engine, or with one that has no table, only
    words on which all tables agree are mapped; where they differ about how it ended the reason is `stop`,
    where they differ more it is `unknown`.

    reason: a word, or SGLang's `{"type": ..., "matched": ...}`.
    matched: the stop string or token id that matched; None: nothing did, so it was the end-of-sequence
        token; `ABSENT`: not said.
    num_tokens, max_tokens: length of the response and its limit, in tokens.
    Raises TypeError when `reason` is neither text, mapping nor None. Unknown words never raise.
    """
    if reason is not None and not isinstance(reason, str):
        reason, matched = _unpack(reason, matched)
    if reason is None and matched is not ABSENT and matched is not None:
        canonical = _narrow_stop(engine, matched, last_token_id, eos_token_ids)
        return _resolved(canonical, None, "explicit", rules)
    if reason is not None:
        canonical = _canonical(reason, engine)
        if canonical == "stop":
            canonical = _narrow_stop(engine, matched, last_token_id, eos_token_ids)
        if canonical != "unknown":
            return _resolved(canonical, reason, "explicit", rules)
    if last_token_id is not None and last_token_id in eos_token_ids:
        return _resolved("eos", reason, "last_token", rules)
    if text is not None and (token_reason := _trailing_token_reason(text)):
        return _resolved(token_reason, reason, "trailing_token", rules)
    if num_tokens is not None and max_tokens is not None and num_tokens >= max_tokens:
        return _resolved("length", reason, "token_count", rules)
    return _resolved("unknown", reason, "none" if reason is None else "explicit", rules)


def _unpack(reason: object, matched: Matched) -> tuple[str | None, Matched]:
    if not isinstance(reason, Mapping):
        raise TypeError("reason must be a string, a mapping with a type, or None")
    word = reason.get("type")
    if matched is ABSENT:
        matched = reason.get("matched", ABSENT)
    return (word if isinstance(word, str) else None), matched


def _narrow_stop(
    engine: str | None, matched: Matched, last_token_id: int | None, eos_token_ids: Collection[int]
) -> str:
    """Tell end-of-sequence, stop string and stop token apart as far as the evidence goes."""
    if matched is None:
        return "eos"
    if isinstance(matched, str):
        return "stop_string"
    if isinstance(matched, int) and not isinstance(matched, bool):
        if matched in eos_token_ids:
            return "eos"
        # SGLang reports the end-of-sequence token as a match too; vLLM never does.
        return "stop_token" if eos_token_ids or (engine or "").lower() == "vllm" else "stop"
    if last_token_id is not None and last_token_id in eos_token_ids:
        return "eos"
    return "stop"


def _canonical(word: str, engine: str | None) -> str:
    if engine is not None and len(engine) > _WORD_CHARS:
        engine = None
    return _look_up(word, engine) if len(word) <= _WORD_CHARS else "unknown"


@lru_cache(maxsize=1024)
def _look_up(word: str, engine: str | None) -> str:
    word = word.strip().lower()
    own = ENGINE_REASONS.get(engine.strip().lower()) if engine is not None else None
    for table in (_AGREED if own is None else own, HARNESS_REASONS):
        if word in table:
            return table[word]
    if word in CANONICAL_REASONS:
        return word
    return "error" if word.endswith("_error") else "unknown"


def _agreed_reasons() -> Mapping[str, str]:
    """What each word means when the engine is not known: agreement, else the weaker reading."""
    readings: dict[str, set[str]] = {}
    for table in ENGINE_REASONS.values():
        for word, canonical in table.items():
            readings.setdefault(word, set()).add(canonical)
    return {word: _weaker(found) for word, found in readings.items()}


def _weaker(readings: set[str]) -> str:
    if len(readings) == 1:
        return next(iter(readings))
    return "stop" if readings <= _ENDS else "unknown"


_AGREED: Final = _agreed_reasons()


def _trailing_token_reason(text: str) -> str | None:
    tail = text[-_TAIL_CHARS:].rstrip()
    if tail[-1:] not in _LAST_CHARACTERS or not tail.endswith(_TRAILING_SUFFIXES):
        return None
    return next(reason for token, reason in TRAILING_TOKENS.items() if tail.endswith(token))


def _resolved(canonical: str, raw: str | None, source: StopSource, rules: StopRules | None) -> ResolvedStop:
    if rules is None and (raw is None or len(raw) <= _WORD_CHARS):
        return _resolved_by_default(canonical, raw, source)
    return _apply_rules(canonical, raw, source, rules or _DEFAULT_RULES)


def _apply_rules(canonical: str, raw: str | None, source: StopSource, rules: StopRules) -> ResolvedStop:
    # A raw word counts only where it is nobody's canonical reason: raw "stop" may mean `eos`.
    words = {canonical} if raw is None or raw in CANONICAL_REASONS else {canonical, raw}
    terminated, truncated = CANONICAL_REASONS[canonical]
    return ResolvedStop(
        stop_reason=canonical,
        raw=raw,
        source=source,
        terminated=_flag(rules.terminal_reasons, words, terminated),
        truncated=_flag(rules.truncating_reasons, words, truncated),
        # The end of the text is the response's own doing: it must not buy its way out of a verdict.
        unscorable=source != "trailing_token" and not words.isdisjoint(rules.unscorable_reasons),
    )


def _flag(reasons: Collection[str] | None, words: set[str], default: bool | None) -> bool | None:
    if reasons is None:
        return default
    if not words.isdisjoint(reasons):
        return True
    return None if "unknown" in words else False


@lru_cache(maxsize=4096)
def _resolved_by_default(canonical: str, raw: str | None, source: StopSource) -> ResolvedStop:
    return _apply_rules(canonical, raw, source, _DEFAULT_RULES)
