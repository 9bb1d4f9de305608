"""Extraction: where in a response the answer stands."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.math.extract import candidates, complete_boxes, last_boxes
from verifiers.math.judge import find_answer
from verifiers.math.options import MathOptions
from verifiers.math.prose import formulas


@pytest.mark.parametrize(
    ("response", "text", "source"),
    [
        ("\\boxed{1} then \\boxed{2}", "2", "boxed"),
        ("\\boxed{1}, \\boxed{2} and \\boxed{3}", "1, 2, 3", "boxed"),
        ("$\\boxed{(3, 3)} \\text{ for part (a) and } \\boxed{(1, 1)}$", "(3, 3), (1, 1)", "boxed"),
        ("\\boxed{1} papers and \\boxed{2} bins", "1, 2", "boxed"),
        ("\\boxed{1} no no no no no \\boxed{2}", "2", "boxed"),
        ("\\boxed{1}. Hence \\boxed{2}", "2", "boxed"),
        ("\\boxed{\\frac{1}{2}} \\boxed{", "\\frac{1}{2}", "boxed"),
        ("\\boxed{\\{1\\}}", "\\{1\\}", "boxed"),
        ("\\\\boxed{5}", "5", "boxed"),
        ("<answer>a</answer> <answer>b</answer>", "b", "tags"),
        ("the answer is $x=5$. Thanks.", "$x=5$", "phrase"),
        ("**Final Answer:** 12 apples", "12", "phrase"),
        ("#### 72", "72", "hash"),
        ("it is **7**", "7", "bold"),
        ("so $y=1$ and then $x=2$ follows", "$x=2$", "formula"),
        ("so it costs 3.50 dollars", "3.50", "text"),
        ("28 percent", "28 percent", "formula"),
        ("the answer is 7<|im_end|>\nThe answer is 8", "7", "phrase"),
    ],
)  # fmt: skip
def test_answer_is_found_there(response: str, text: str, source: str) -> None:
    """The best place wins, and is named."""
    found = find_answer(response, MathOptions())
    assert found.candidate is not None
    assert (found.candidate.text, found.candidate.source) == (text, source)


@settings(max_examples=150)
@given(st.text(alphabet="\\boxed{}$ ()[]<answer>/#*\n.19is", max_size=120))
def test_spans_lie_in_the_response(response: str) -> None:
    """A span is half open, in code points of the response, and holds the text that was taken."""
    for candidate in candidates(response, MathOptions()):
        assert 0 <= candidate.start <= candidate.end <= len(response)
        if ", " not in candidate.text:
            assert candidate.text in response[candidate.start : candidate.end]


@settings(max_examples=100)
@given(st.text(alphabet="\\boxed{}a ", max_size=80))
def test_boxes_are_closed_and_disjoint(response: str) -> None:
    """Every box that is found has its braces, and none overlaps another."""
    boxes = complete_boxes(response)
    assert all(response[content - 1] == "{" and response[end - 1] == "}" for _, content, end in boxes)
    assert all(before[2] <= after[0] for before, after in pairwise(boxes))


def test_formulas_are_paired_without_backtracking() -> None:
    """Delimiters pair up; one that is never closed hides nothing behind it."""
    text = "\\[ open $1$ \\(2\\) $$3$$ \\$ 5"
    assert [text[begin:end] for begin, end in formulas(text, 0, len(text))] == ["\\(2\\)", "$$3$$"]
    assert last_boxes("no box") is None


@pytest.mark.parametrize(
    "piece",
    ["\\boxed{", "\\", "$", "$$", "\\[", "\\(", "<answer>", "</answer><answer>", "**", "the answer is ",
    "is ", "1,", "{", "}",
     "####\n", " ", "<think>", "\\text{", "boxed ", "a.", "'",
     "no. ", "wait. ", "Hmm, no", "$1$, ", "if the answer is ", "1, 2 or ", "\\frac{"],
)  # fmt: skip
def test_megabytes_of_one_piece_are_searched_in_one_pass(piece: str) -> None:
    """A search that went over the text once for every piece would run into the timeout of the suite."""
    response = piece * (1_000_000 // len(piece))
    found = find_answer(response, MathOptions())
    assert found.candidate is None or len(found.candidate.text) <= len(response)
