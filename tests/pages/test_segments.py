"""Texts cut into prose, mathematics and code."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.segments import MAX_MATH, Evidence, marked, segments

PIECES = (
    "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\$", "```", "```python\n", "\n", "\n\n", " ", "a", "5",
    "{", "}", "\\",
    "\\boxed{", "\\begin{align*}", "\\end{align*}", "\u200b", "~~~",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("so $x^2$ holds", ["text", "inline:x^2", "text"]),
        ("\\(y\\)\\[z\\]$$q$$", ["inline:y", "display:z", "display:q"]),
        ("It costs $5 and $6.", ["text"]),
        ("from $5 to $6, so $x=1$", ["text", "inline:x=1"]),
        ("a \\$5 b $x$", ["text", "inline:x"]),
        ("\\boxed{\\frac{1}{2}} then", ["inline:\\boxed{\\frac{1}{2}}", "text"]),
        ("\\boxed{1", ["text"]),
        ("\\begin{align*}a&=b\\end{align*}", ["display:\\begin{align*}a&=b\\end{align*}"]),
        ("\\begin{align*}a&=b", ["text"]),
        ("$a\n\nb$", ["text"]),
        ("$$  $$", ["text"]),
        ("see\n```python\nprint('$x$')\n```\nend", ["text", "code:print('$x$')\n", "text"]),
        ("```\ncut off", ["code:cut off"]),
        ("````\n```\n````", ["code:```\n"]),
        ("x ```not a fence``` y", ["text"]),
        ("$" + "x" * MAX_MATH + "$", ["text"]),
        ("", []),
    ],
)
def test_what_is_drawn_how(text: str, kinds: Sequence[str]) -> None:
    """Mathematics between delimiters, code between fences; all else is text, prices too."""
    found = [one.kind if one.kind == "text" else f"{one.kind}:{one.text}" for one in segments(text)]
    assert found == kinds


@given(TEXTS, st.lists(st.tuples(st.integers(-5, 60), st.integers(-5, 60)), max_size=4))
def test_nothing_is_made_up(text: str, spans: Sequence[tuple[int, int]]) -> None:
    """The pieces stand in the text, in their order; as it is, they are the whole text, evidence or not."""
    evidence = [Evidence(start, end, "e") for start, end in spans]
    position = 0
    for piece in segments(text, evidence):
        position = text.index(piece.text, position) + len(piece.text)
    raw = marked(text, evidence)
    assert "".join(piece.text for piece in raw) == text
    inside = {place for start, end in spans for place in range(max(start, 0), min(end, len(text)))}
    assert sum(len(piece.text) for piece in raw if piece.mark) == len(inside)


def test_evidence_marks_whole_mathematics_and_parts_of_prose() -> None:
    """A box is not cut in two, a sentence is."""
    text = "the \\boxed{3/7} is it"
    found = segments(text, [Evidence(11, 14, "answer"), Evidence(16, 18, "hedge")])
    assert [(one.text, one.mark) for one in found] == [
        ("the ", ""),
        ("\\boxed{3/7}", "answer"),
        (" ", ""),
        ("is", "hedge"),
        (" it", ""),
    ]


@pytest.mark.parametrize(
    "unit", ["$ ", "\\[ ", "\\boxed{", "$$", "```\n", "\\begin{align}", "$a", "{", "~~~x\n"]
)
def test_cost_is_linear(unit: str) -> None:
    """Openings that never close, by the ten thousand, neither hang nor overflow the stack."""
    text = unit * (60_000 // len(unit))
    assert sum(len(one.text) for one in segments(text)) <= len(text)
