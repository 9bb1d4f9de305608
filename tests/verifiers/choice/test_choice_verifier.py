"""The served table of `choice`, and properties of any text."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.choice import ChoiceOptions, ChoiceVerifier
from verifiers.types import Task, Unscorable, Verdict

VERIFIER = ChoiceVerifier()
SERVED = json.loads(files("verifiers.choice").joinpath("cases.json").read_bytes())["cases"]


@pytest.mark.parametrize("case", SERVED, ids=[case["id"] for case in SERVED])
def test_served_case_holds(case: dict[str, Any]) -> None:
    """Each row of the served table is what the verifier says."""
    request = case["request"]
    options = ChoiceOptions.model_validate(request.get("options", {}))
    outcome = VERIFIER.judge(Task(request["response"], request["ground_truth"], options))
    if isinstance(outcome, Unscorable):
        got = {"status": "unscorable", "reward": None, "reason": outcome.kind}
    else:
        got = {"status": "scored", "reward": outcome.score, "reason": outcome.reason}
    assert got == case["expect"]


def test_served_cases_show_every_reason_and_option() -> None:
    """The table covers all declared reasons and every option; its ids name one row each."""
    options = {name for case in SERVED for name in case["request"].get("options", {})}
    assert {case["expect"]["reason"] for case in SERVED} == {*VERIFIER.reasons, "invalid_ground_truth"}
    assert options == set(ChoiceOptions.model_fields) - {"detail"}
    assert len({case["id"] for case in SERVED}) == len(SERVED)


@given(st.text(alphabet="ABCabc ()[]{}\\\\$*.,:<>/answertxboxed", max_size=80))
def test_any_response_is_judged(response: str) -> None:
    """No text raises; a verdict's span lies in the response."""
    verdict = VERIFIER.judge(Task(response, "B", ChoiceOptions()))
    assert isinstance(verdict, Verdict)
    if (span := verdict.detail["span"]) is not None:
        assert 0 <= span[0] <= span[1] <= len(response)


@pytest.mark.parametrize("piece", ["\\boxed{", "\\text{", "the answer is ", "(", "A, ", " ", "**"])
def test_megabytes_of_one_piece_are_judged(piece: str) -> None:
    """A search that went over the text once for every piece would run into the timeout of the suite."""
    verdict = VERIFIER.judge(Task(piece * (1_000_000 // len(piece)), "B", ChoiceOptions()))
    assert isinstance(verdict, Verdict)
    assert not verdict.correct


def test_detail_can_be_left_out() -> None:
    """`detail: none` leaves the verdict without one."""
    verdict = VERIFIER.judge(Task("\\boxed{B}", "B", ChoiceOptions(detail="none")))
    assert isinstance(verdict, Verdict)
    assert verdict.detail == {}


@pytest.mark.parametrize(
    ("truth", "response", "correct"),
    [
        ("B", "B", True),
        ("B", "b", False),
        ("B", "(B)", True),
        ("B", "\\boxed{B}", True),
        ("B", "\\boxed{\\text{B}}", True),
        ("B", "\\boxed{\\mathbf{B}}", True),
        ("B", "\\boxed{(B)}", True),
        ("B", "\\boxed{B.}", True),
        ("B", "The answer is B.", True),
        ("B", "The answer is (B).", True),
        ("B", "The answer is **B**.", True),
        ("B", "The correct answer is: B", True),
        ("B", "Answer: B", True),
        ("B", "**Answer: B**", True),
        ("B", "Final answer: (B) London", True),
        ("B", "I think it is B or C.", False),
        ("B", "The answer is B or C.", False),
        ("B", "The answer is either (B) or (C).", False),
        ("B", "The answer is not B.", False),
        ("B", "The answer isn't B.", False),
        ("B", "B is wrong. The answer is C.", False),
        ("B", "A is incorrect, so the answer is B", True),
        ("B", "Both B and C are correct.", False),
        ("B", "The answer is B, not C.", True),
        ("B", "The answer is C, not B.", False),
        ("B", "It cannot be B.", False),
        ("B", "None of the above", False),
        ("B", "A", False),
        ("B", "A, B, C, D", False),
        ("B", "\\boxed{A, B}", False),
        ("B", "Option B", True),
        ("B", "option (B) is correct.", True),
        ("B", "Choice B is correct", True),
        ("B", "The best choice is B", True),
        ("B", "I choose B.", True),
        ("B", "My answer: B", True),
        ("B", "So, B.", True),
        ("B", "Therefore, the correct option is (B).", True),
        ("B", "Thus B is the correct answer.", True),
        ("B", "B is correct.", True),
        ("B", "B) London", True),
        ("B", "B. London", True),
        ("B", "B: London", True),
        ("B", "(B) London", True),
        ("B", "<answer>B</answer>", True),
        ("B", "<answer>(B) London</answer>", True),
        ("B", "<answer>C</answer> B", False),
        ("B", "#### B", True),
        ("B", "<think>B</think> C", False),
        ("B", "<think>C</think> B", True),
        ("B", "A good answer is hard to find.", False),
        ("A", "A good answer is hard to find.", False),
        ("A", "The answer is a number.", False),
        ("A", "The answer is A because it is.", True),
        ("A", "A.", True),
        ("A", "I am sure.", False),
        ("I", "I am sure.", False),
        ("A", "\\boxed{A}", True),
        ("A, C", "A and C", True),
        ("A, C", "C, A", True),
        ("A, C", "A", False),
        ("A, C", "A, C, D", False),
        ("A, C", "\\boxed{A, C}", True),
        ("A, C", "\\boxed{AC}", True),
        ("A, C", "The answers are A and C.", True),
        ("A, C", "(A) and (C)", True),
        ("AC", "A, C", True),
        ("B", "The answer is $\\boxed{\\textbf{(B)}\\ 42}$", True),
        ("B", "$\\textbf{(B)}$", True),
        ("B", "The answer is \\(\\text{B}\\).", True),
        ("B", "The answer is $B$.", True),
        ("B", "B\n\nExplanation: C is wrong because it is false.", True),
        ("B", "B\nBecause 42 is even.", True),
        ("B", "The answer is B\n\nNote that C would be wrong.", True),
        ("B", "Ans: B", True),
        ("B", "ANSWER: B", True),
        ("E", "The answer is E = mc^2", False),
        ("C", "The answer is C++", False),
        ("B", "The answer is B+", False),
        ("B", "Question B: answer is C", False),
        ("B", "", False),
        ("B", "?", False),
        ("B", "Maybe B?", False),
    ],
)
def test_letters_in_prose_and_markup(truth: str, response: str, correct: bool) -> None:
    """A letter that is stated counts in every wrapping; one that is denied, hedged or an article does not."""
    outcome = ChoiceVerifier().judge(Task(response, truth, ChoiceOptions()))
    assert isinstance(outcome, Verdict)
    assert outcome.correct is correct
