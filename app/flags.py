"""Flags of a verdict: signs that a person should look at it. They name its stratum and never change it.

Those here are read off the response, for every verdict of any verifier, before the reply; so each is a few
searches for fixed strings, and what it rests on is worked out for stored verdicts only.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import islice
from typing import Final

from rollouts.stop import ResolvedStop
from verifiers.base import Contract
from verifiers.patterns import re
from verifiers.types import Task, Verdict

EMPTY: Final = "empty_response"
"""Nothing but blanks."""
TRUNCATED: Final = "truncated_accept"
"""Accepted although a limit cut it off."""
SEVERAL: Final = "several_boxes"
"""Complete boxes that hold different things, in the part that is read."""
IN_REASONING: Final = "answer_in_reasoning"
"""The answer was read in the reasoning, before its end."""
HEDGED: Final = "hedged_answer"
"""Words of doubt, or a second answer, right beside the answer."""
REPETITIVE: Final = "repetitive_response"
"""It ends in four or more copies of the same piece of text."""
REPLACED: Final = "replaced_characters"
"""NUL or lone surrogates in response or ground truth were read as U+FFFD."""

_FIRST: Final = (EMPTY, TRUNCATED)
_LAST: Final = (SEVERAL, IN_REASONING, HEDGED, REPETITIVE, REPLACED)

_DOUBTS: Final = ("guess", "not sure", "unsure", "maybe", "perhaps", "probably")
_OR: Final = " or "
_NEAR: Final = 64
"""Characters on either side of the answer in which words of doubt are looked for."""
_BESIDE: Final = 12
"""Characters on either side of the answer in which `or` makes it one of two."""
_LONGEST: Final = 200
"""Characters of the answer itself that are looked at."""

_OPENING: Final = 32
"""Characters in which reasoning that was not closed begins."""

_CHUNK: Final = 16
_REACH: Final = 1024
"""How far back the last `_CHUNK` characters are looked for: about the longest piece that is found."""
_COPIES: Final = 4
_LEAST: Final = 64
"""Characters that the copies must fill."""

_BOX: Final = re.compile(r"\\boxed[ \t\r\n]*+\{([^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+)\}")
"""A complete box with at most one level of braces inside."""
_DOUBT: Final = re.compile(rf"\b(?:{'|'.join(_DOUBTS)})\b", re.IGNORECASE)
_MOST_BOXES: Final = 256
_MOST_SPANS: Final = 20

Span = tuple[int, int]


def flags_of(verifier: Contract) -> tuple[str, ...]:
    """Every flag that a verdict of `verifier` may have, most telling first: the first names its stratum."""
    return (*_FIRST, *verifier.flags, *_LAST)


class Flagger:
    """Finds the flags of one verifier's verdicts."""

    def __init__(self, verifier: Contract) -> None:
        self._rank = {flag: at for at, flag in enumerate(flags_of(verifier))}

    def flags(
        self, task: Task, verdict: Verdict, stop: ResolvedStop, known: tuple[str, ...]
    ) -> tuple[str, ...]:
        """The flags of a verdict, most telling first. known: those from before it was judged."""
        response, span = task.response, verdict.span
        flags = known + verdict.flags
        if stop.truncated and verdict.correct:
            flags += (TRUNCATED,)
        # A search for a fixed string first, which nearly always is the end of it.
        if response.count("\\boxed") > 1 and len(_boxes(task)) > 1:
            flags += (SEVERAL,)
        if span is not None:
            start, end = span
            if response.find("</think>", start) >= 0 or (
                response.find("<think>", 0, _OPENING) >= 0 and "</think>" not in response
            ):
                flags += (IN_REASONING,)
            end = end if end - start < _LONGEST else start + _LONGEST
            near = response[start - _NEAR if start > _NEAR else 0 : end + _NEAR].lower()
            # Spelled out: every verdict comes by here, and a loop would cost as much as the searches.
            if (
                _OR in near
                or "guess" in near
                or "sure" in near
                or "maybe" in near
                or "perhaps" in near
                or "probably" in near
            ) and _hedges(response, start, end):
                flags += (HEDGED,)
        size = len(response)
        if size < _LEAST:
            if not response or response.isspace():
                flags += (EMPTY,)
        elif (
            response.rfind(response[-_CHUNK:], size - _REACH if size > _REACH else 0, size - 1) >= 0
        ) and _period(response):
            flags += (EMPTY if response.isspace() else REPETITIVE,)
        if len(flags) < 2:
            return flags
        last = len(self._rank)
        return tuple(sorted(dict.fromkeys(flags), key=lambda flag: self._rank.get(flag, last)))


def evidence(flag: str, task: Task, verdict: Verdict | None) -> str | None:
    """What a flag rests on: spans of the response, as JSON; None where there are none to show."""
    spans: Sequence[Span] = ()
    response, span = task.response, None if verdict is None else verdict.span
    if flag == SEVERAL:
        spans = _boxes(task)
    elif flag == HEDGED and span is not None:
        spans = _hedges(response, span[0], min(span[1], span[0] + _LONGEST))
    elif flag == REPETITIVE:
        period = _period(response)
        spans = [(len(response) - period, len(response))]
    elif flag == REPLACED:
        spans = [(at.start(), at.end()) for at in islice(re.finditer("\ufffd+", response), _MOST_SPANS)]
    elif flag == EMPTY:
        spans = [(0, len(response))] if response else ()
    elif span is not None:
        spans = [span]
    return json.dumps(spans[:_MOST_SPANS]) if spans else None


def _boxes(task: Task) -> list[Span]:
    """Of the boxes in the part that is read, the first with each content, blanks left out."""
    response = task.response
    begin = 0
    if getattr(task.options, "reasoning", "keep") != "keep":
        begin = response.rfind("</think>") + 1
    found: dict[str, Span] = {}
    for box in islice(_BOX.finditer(response, begin), _MOST_BOXES):
        found.setdefault("".join(box[1].split()), box.span(1))
    return list(found.values())


def _hedges(response: str, start: int, end: int) -> list[Span]:
    """Words of doubt near the answer at `[start, end)`, and `or` right beside or inside it."""
    spans = [at.span() for at in _DOUBT.finditer(response, max(0, start - _NEAR), end + _NEAR)]
    either = response.find(_OR, max(0, start - _BESIDE), end + _BESIDE)
    return [*spans, (either + 1, either + 3)] if either >= 0 else spans


def _period(response: str) -> int:
    """The length of a piece of text of which the response ends in `_COPIES` copies or more; 0 without one."""
    size = len(response)
    if size < _LEAST:
        return 0
    at = response.rfind(response[-_CHUNK:], max(0, size - _REACH), size - 1)
    if at < 0:
        return 0
    period = size - _CHUNK - at
    copies = max(_COPIES * period, _LEAST)
    is_repeated = copies <= size and response[size - copies : -period] == response[size - copies + period :]
    return period if is_repeated else 0
