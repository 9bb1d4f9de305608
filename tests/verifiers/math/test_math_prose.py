"""Answers in sentences: a value counts only when it stands free; what changes or denies it is heard."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.types import Verdict

TRUTH = "3"

NOT_THREE = {
    "part of a pair, interval or set": [
        "The vertex is at (2, 3).",
        "The vertex is at $(2, 3)$.",
        "The interval is [1, 3].",
        "Thus x lies in (1, 3).",
        "The set is {1, 2, 3}.",
    ],
    "one of several": [
        "Thus the roots are 1, 2, 3.",
        "Thus the roots are 1, 2 and 3.",
        "The possible values are 1 or 3.",
        "The answer is one of 1, 2, 3.",
        "The answer is either 2 or 3.",
        "The answer is either $2$ or $3$.",
        "The answer is $2$, or possibly $3$.",
        "So the answer is 2 or 3 apples.",
        "The solutions are $x=1$ and $x=3$.",
        "The solutions are $x=1$, $x=3$.",
        "The solution is $x=1$, $y=3$.",
        "It is either 2 or 3.",
    ],
    "part of an expression": [
        "So P = \\frac{1}{3}",
        "\\boxed{\\frac{1}{3}",
        "So x = 2\\sqrt{3}",
        "So the area is 2\\sqrt{3}",
        "So the area is x^3",
        "So the area is x^{3}",
        "So the area is \\pi/3",
        "So the area is 4:3",
        "So the area is 2 - 3",
        "So we obtain 2 × 3",
        "So we obtain 3x",
        "So we obtain 3i",
        "So we obtain 3π",
        "So we obtain 3^2",
        "So we obtain 3√2",
        "The answer is the polynomial 2x+3.",
        "The answer is the polynomial x^2 + 2x + 3.",
        "The answer is 3x apples.",
    ],
    "a comparison or a bound": [
        "So we obtain x > 3",
        "So we obtain x ≥ 3",
        "So we obtain x ≠ 3",
        "So we obtain x != 3",
        "So we obtain more than 3",
        "So there are fewer than 3 such numbers.",
        "So there are at least 3 such numbers.",
        "So there are up to 3 such numbers.",
        "The answer exceeds 3.",
        "The answer is greater than 3.",
        "The answer is less than 3.",
        "The answer is at most 3.",
        "The answer is between 2 and 3.",
        "The answer is 2 to 3.",
        "The answer ranges from 1 to 3.",
    ],
    "denied": [
        "The answer is anything but 3.",
        "The answer is no longer 3.",
        "The answer is never 3.",
        "The answer is 4 rather than 3.",
        "The answer is 4 instead of 3.",
        "The answer is 4, not 3.",
        "The answer is all integers except 3.",
        "The answer is all real numbers except $x = 3$.",
        "The domain is all real numbers except $x=3$.",
    ],
    "changed by a word": [
        "The answer is 3 million.",
        "The answer is 3 hundred.",
        "The answer is 3 squared.",
        "The answer is 3 dozen.",
        "The answer is the square root of 3.",
        "The answer is the negative of 3.",
        "The answer is minus 3.",
        "The answer is half of 3.",
        "The answer is log base 2 of 3.",
        "The answer is 2 raised to the power 3.",
        "The answer is 2 times 3.",
        "The answer is 10 with a remainder of 3.",
        "The answer is 5 remainder 3.",
        "The answer is a multiple of 3.",
        "The answer is divisible by 3.",
    ],
    "a reference": [
        "Step 3",
        "**Step 3**",
        "See equation (3).",
        "by Theorem 3.",
        "$x = 5$ by (3).",
        "The answer is in part 3.",
        "The answer is given in equation 3.",
    ],
    "asked for, not answered": [
        "We need to find n such that f(n) = 3.",
        "We need to find $n$ such that $f(n) = 3$.",
        "There are many, for example $x = 3$.",
        "Is the answer 3?",
        "If the answer is 3, then the sum is 7. So the answer is 4.",
    ],
    "taken back later": [
        "The answer is 3.\n\nWait, no, it should be 4.",
        "The answer is 3. Scratch that.",
        "The answer is **3**. On second thought, it is 4.",
        "The answer is 3. Hmm, that is wrong.",
        "#### 3\nWait, I forgot one.",
        "The answer is 3.\n\nWait, no. The answer is 4.",
    ],
}

THREE = [
    "The answer is three.",
    "The answer is 3 apples.",
    "The answer is exactly 3.",
    "The answer is clearly $3$.",
    "The answer is 3 (not 4).",
    "The answer is 2 more than 1, so 3.",
    "The answer is 4.\n\nWait, no. The answer is 3.",
    "Therefore, the total is **3 apples**.",
    "So there are 5 - 2 = 3 apples left.",
    "Each costs $9 - $6 = $3.",
    "She pays 60/20=$3 a day",
    "So the speed is 3 miles/hour.",
    "So x = \\frac{6}{2}",
    "The value of $n$ is $3$.",
    "Since $x > 0$, $x = 3$.",
    "所以答案是3。",
    "\\boxed{3",
    "\\boxed{\\frac{6}{2}",
    "In total that makes 3 books of 40 pages, so 3.",
    "Dividing leaves a remainder of 3.",
    "The answer is 3. Check: $3 < 4$.",
]


def _accepted(response: str, truth: str = TRUTH) -> bool:
    outcome = judge(response, truth, MathOptions())
    assert isinstance(outcome, Verdict)
    return outcome.correct


@pytest.mark.parametrize("kind", NOT_THREE)
def test_a_number_that_is_not_the_answer_is_none(kind: str) -> None:
    """No piece of another answer is taken for the answer."""
    assert [response for response in NOT_THREE[kind] if _accepted(response)] == []


def test_a_free_number_is_the_answer() -> None:
    """What stands around it and changes nothing is no hindrance."""
    assert [response for response in THREE if not _accepted(response)] == []


@pytest.mark.parametrize(
    ("response", "truth"),
    [
        ("The vertex is at (2, 3).", "(2,3)"),
        ("The solution is $x = 2$, $y = 3$.", "(2,3)"),
        ("The solution is $x = 2$ and $y = 3$.", "x=2, y=3"),
        ("The solutions are $x=1$ and $x=3$.", "1, 3"),
        ("So P = \\frac{1}{3}", "1/3"),
        ("So x = 2\\sqrt{3}", "\\sqrt{12}"),
        ("The answer is the polynomial x^2 + 2x + 3.", "x^2+2x+3"),
        ("So we obtain x > 3", "(3,\\infty)"),
        ("\\boxed{\\frac{1}{3}", "1/3"),
    ],
)
def test_the_whole_answer_is_read(response: str, truth: str) -> None:
    """What a number at the end of a sentence belongs to is read instead."""
    assert _accepted(response, truth)


def test_prose_of_models_is_judged_as_labelled(shared: Path) -> None:
    """Without the line that names the answer, nearly all GSM8K solutions are still judged as labelled."""
    agree = right = 0
    for line in (shared / "data" / "gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines():
        problem = json.loads(line)
        truth = problem["ground_truth"].rpartition("A:")[2].strip()
        for solution in (part for part in problem.values() if isinstance(part, dict)):
            prose = re.sub(r"<<.*?>>", "", solution["solution"].rpartition("\nA:")[0])
            accepted = bool(prose) and _accepted(prose, truth)
            agree += accepted == solution["is_correct"]
            right += accepted and not solution["is_correct"]
    assert agree >= 1170
    assert right <= 2  # both name the right value in words that count another thing
