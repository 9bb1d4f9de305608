"""A text cut into prose, mathematics and code, with the places of evidence in it. Linear in its length.

Nothing is interpreted: every piece is a piece of the text. Mathematics is what stands between delimiters or
in a box; fences and delimiters themselves are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, Literal, NamedTuple

MAX_MATH: Final = 2000
"""Longer mathematics is shown as it was written: nobody reads it, and drawing it could take for ever."""

Kind = Literal["text", "inline", "display", "code"]


class Evidence(NamedTuple):
    """A place in a text, half-open in code points, and what it is evidence of."""

    start: int
    end: int
    name: str


class Segment(NamedTuple):
    """A piece of the text."""

    kind: Kind
    text: str
    mark: str = ""
    """What it is evidence of; empty: of nothing."""
    language: str = ""
    """Of code, as the response names it."""


class _Block(NamedTuple):
    """A part that is no prose. From `opening` to `closing` in the text, shown from `start` to `end`."""

    kind: Kind
    opening: int
    start: int
    end: int
    closing: int
    language: str = ""


_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^\n`]*(?:\n|\Z)", re.MULTILINE)
_OPENING: Final = re.compile(
    r"\\\$|\$\$?|\\\[|\\\(|\\begin\{(?:equation|align|alignat|gather)\*?\}|\\f?boxed\s*\{"
)
_BRACES: Final = re.compile(r"\\.|[{}]", re.DOTALL)
_LINE_ENDS_BEFORE: Final = re.compile(r"^(?:[ \t]*\n)+")
_LOOKS_LIKE_MATHEMATICS: Final = re.compile(r"[\\^_=]")
_CLOSING: Final = {"$$": "$$", "\\[": "\\]", "\\(": "\\)"}


def segments(text: str, evidence: Sequence[Evidence] = ()) -> list[Segment]:
    """The pieces of `text`. Prose and code are cut where evidence begins or ends, mathematics is not."""
    found: list[Segment] = []
    position = 0
    for block in _blocks(text):
        found += _cut(text, "text", position, block.opening, evidence)
        if block.kind == "code":
            found += _cut(text, "code", block.start, block.end, evidence, block.language)
        else:
            touching = (one.name for one in evidence if one.start < block.closing and one.end > block.opening)
            found.append(Segment(block.kind, text[block.start : block.end], next(touching, "")))
        position = block.closing
    return _without_gaps(found + _cut(text, "text", position, len(text), evidence))


def _without_gaps(found: list[Segment]) -> list[Segment]:
    """Without the line ends around what stands on lines of its own anyway."""
    own_lines = {"display", "code"}
    trimmed = []
    for before, one, after in zip([None, *found], found, [*found[1:], None], strict=False):
        text = one.text
        if one.kind == "text" and before is not None and before.kind in own_lines:
            text = _LINE_ENDS_BEFORE.sub("", text)
        if one.kind == "text" and after is not None and after.kind in own_lines:
            text = text.rstrip()
        trimmed.append(one._replace(text=text))
    return [one for one in trimmed if one.text]


def marked(text: str, evidence: Sequence[Evidence]) -> list[Segment]:
    """`text` as it is, cut only where evidence begins or ends."""
    return _cut(text, "text", 0, len(text), evidence)


def _cut(  # noqa: PLR0913, PLR0917 - a piece and what is known of it
    text: str, kind: Kind, start: int, end: int, evidence: Sequence[Evidence], language: str = ""
) -> list[Segment]:
    """text[start:end] in pieces that are evidence of one thing or of nothing; the first named wins."""
    inside = [one for one in evidence if one.start < end and one.end > start]
    edges = {start, end, *(max(one.start, start) for one in inside), *(min(one.end, end) for one in inside)}
    places = sorted(edges)
    return [
        Segment(kind, text[left:right], _name_at(left, inside), language) for left, right in pairwise(places)
    ]


def _name_at(position: int, evidence: Sequence[Evidence]) -> str:
    return next((one.name for one in evidence if one.start <= position < one.end), "")


def _blocks(text: str) -> Iterator[_Block]:
    """Code, and the mathematics between it."""
    position = 0
    fence = _FENCE.search(text)
    while fence is not None:
        yield from _mathematics(text, position, fence.start())
        # An answer that was cut off has no closing fence: all that is left is code.
        end = re.compile(rf"^ {{0,3}}{fence[1][0]}{{{len(fence[1])},}}[ \t]*(?:\n|\Z)", re.MULTILINE)
        closing = end.search(text, fence.end())
        stop, position = (len(text), len(text)) if closing is None else closing.span()
        yield _Block("code", fence.start(), fence.end(), stop, position, fence[2])
        fence = _FENCE.search(text, position) if closing is not None else None
    yield from _mathematics(text, position, len(text))


def _mathematics(text: str, start: int, end: int) -> Iterator[_Block]:
    """What stands between delimiters, or in a box, in text[start:end]."""
    boxes = _box_ends(text, start, end)
    position = start
    while (opening := _OPENING.search(text, position, end)) is not None:
        block = _block_at(text, opening, end, boxes)
        if block is not None:
            yield block
        position = opening.end() if block is None else block.closing


def _block_at(text: str, opening: re.Match[str], end: int, boxes: dict[int, int]) -> _Block | None:
    """The mathematics that begins with this delimiter, if it ends soon enough."""
    word, start, after = opening[0], opening.start(), opening.end()
    limit = min(end, after + MAX_MATH)
    if word in _CLOSING:
        close = text.find(_CLOSING[word], after, limit)
        return _between(text, "inline" if word == "\\(" else "display", start, after, close)
    if word == "$":
        return _dollars(text, start, limit)
    close = -1
    if word.startswith("\\begin"):
        final = "\\end" + word.removeprefix("\\begin")
        close = text.find(final, after, limit)
        close += len(final) if close >= 0 else 0
    elif word != "\\$" and boxes.get(after - 1, limit) < limit:
        close = boxes[after - 1] + 1
    kind: Kind = "display" if word.startswith("\\begin") else "inline"
    return _Block(kind, start, start, close, close) if close >= 0 else None


def _between(text: str, kind: Kind, opening: int, start: int, end: int) -> _Block | None:
    """A block whose closing delimiter, as long as its opening one, is at `end`; -1: there is none."""
    if end < 0 or not text[start:end].strip() or (kind == "inline" and "\n\n" in text[start:end]):
        return None
    return _Block(kind, opening, start, end, end + start - opening)


def _dollars(text: str, opening: int, limit: int) -> _Block | None:
    """Mathematics between single dollars, and not two prices: blanks just inside only where it looks so."""
    start = opening + 1
    close = text.find("$", start, limit)
    while close > 0 and text[close - 1] == "\\":
        close = text.find("$", close + 1, limit)
    if close < 0 or text[close + 1 : close + 2].isdigit():
        return None
    blank = text[start].isspace() or text[close - 1].isspace()
    if blank and not _LOOKS_LIKE_MATHEMATICS.search(text, start, close):
        return None
    return _between(text, "inline", opening, start, close)


def _box_ends(text: str, start: int, end: int) -> dict[int, int]:
    """Where the braces of text[start:end] end, by where they begin."""
    if "boxed" not in text[start:end]:
        return {}
    ends: dict[int, int] = {}
    open_braces: list[int] = []
    for brace in _BRACES.finditer(text, start, end):
        if brace[0] == "{":
            open_braces.append(brace.start())
        elif brace[0] == "}" and open_braces:
            ends[open_braces.pop()] = brace.start()
    return ends
