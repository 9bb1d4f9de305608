"""The served table and the handed cases of `math`."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from math_pairs import pairs

from verifiers.literals import FloatLiteral
from verifiers.math import MathOptions, MathVerifier
from verifiers.math.judge import judge
from verifiers.math.options import SOURCES
from verifiers.math.verifier import as_text
from verifiers.types import Outcome, Unscorable

SERVED = json.loads(files("verifiers.math").joinpath("cases.json").read_bytes(), parse_float=FloatLiteral)[
    "cases"
]

DECIDED_OTHERWISE = {
    "m075": "a decimal of 15 digits is not pi (decimals: exact)",
    "m078": "100/3 is not 33.3 (decimals: exact; rounded accepts it)",
}
"""Ambiguous handed cases whose marked answer is not this verifier's decision."""


def judged(request: dict[str, Any]) -> Outcome:
    """The outcome in this process; a ground truth of another shape is refused as the service does."""
    truth = as_text(request["ground_truth"])
    if truth is None:
        return Unscorable("invalid_ground_truth", "")
    return judge(request["response"], truth, MathOptions.model_validate(request.get("options", {})))


@pytest.mark.parametrize("case", SERVED, ids=[case["id"] for case in SERVED])
def test_served_case_holds(case: dict[str, Any]) -> None:
    """Each row of the served table is what the verifier says."""
    outcome = judged(case["request"])
    if isinstance(outcome, Unscorable):
        got = {"status": "unscorable", "reward": None, "reason": outcome.kind}
    else:
        got = {"status": "scored", "reward": outcome.score, "reason": outcome.reason}
    assert got == case["expect"]


def test_served_cases_show_every_reason_option_and_source() -> None:
    """The table covers all declared reasons, every option and every source; its ids name one row each."""
    outcomes = [judged(case["request"]) for case in SERVED]
    shown = {case["expect"]["reason"] for case in SERVED}
    options = {name for case in SERVED for name in case["request"].get("options", {})}
    sources = {outcome.detail.get("source") for outcome in outcomes if not isinstance(outcome, Unscorable)}
    assert shown == {*MathVerifier.reasons, "invalid_ground_truth"}
    assert options == set(MathOptions.model_fields) - {"detail"}
    assert sources >= set(SOURCES)
    assert len({case["id"] for case in SERVED}) == len(SERVED)


def test_served_cases_show_every_flag() -> None:
    """Every declared flag is raised by some row, and no other."""
    outcomes = [judged(case["request"]) for case in SERVED]
    raised = {flag for outcome in outcomes if not isinstance(outcome, Unscorable) for flag in outcome.flags}
    assert raised == set(MathVerifier.flags)


def test_handed_cases_hold(shared: Path) -> None:
    """Every handed `math` case has its expected verdict, but for the ambiguous ones decided otherwise."""
    lines = (shared / "cases" / "answers" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["verifier"] == "math"]
    wrong = set()
    for case in cases:
        outcome = judge(case["response"], case["ground_truth"], MathOptions())
        correct = not isinstance(outcome, Unscorable) and outcome.correct
        if correct != bool(case["expected"]) or isinstance(outcome, Unscorable):
            wrong.add(case["id"])
    assert len(cases) >= 80
    assert wrong == set(DECIDED_OTHERWISE)
    assert all("ambiguous" in case["tags"] for case in cases if case["id"] in wrong)


def test_gsm8k_labels_agree(shared: Path) -> None:
    """On responses of models to GSM8K problems the verdict is the label."""
    agree = []
    lines = (shared / "data" / "gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        problem = json.loads(line)
        truth = problem["ground_truth"].rpartition("A:")[2].strip()
        for solution in problem.values():
            if isinstance(solution, dict):
                outcome = judge(solution["solution"], truth, MathOptions())
                agree.append(
                    not isinstance(outcome, Unscorable) and outcome.correct == solution["is_correct"]
                )
    assert len(agree) == 1200
    assert all(agree)


BOMBS = (
    "5^{5^{5^{5^5}}}", "((100!)!)!", "\\sum_{k=1}^{10^9} k", "\\lim_{x\\to0}x", "\\int x\\,dx", "\\frac10",
    "\\sqrt{-1}", "f(x)",
    "(" * 400, "x!!!!!!" * 60, "\\{9^{9^{9^9}}, 2\\}", "[9^{9^{9^9}}, \\infty)", "(9^{9^{9^9}}, 2)",
    "x = 9^{9^{9^9}}",
    "x > 9^{9^{9^9}}", "x = 9^{9^{9^9}}, y = 1", "9^{9^{9^9}} : 2", "9^{9^{9^9}}\\text{ cm}",
    "(a) 9^{9^{9^9}} (b) 2",
    "x \\equiv 9^{9^{9^9}} \\pmod 7", "x = 9^{9^{9^9}} + 2k\\pi, k\\in\\mathbb{Z}",
    "1, 2, \\ldots, 9^{9^{9^9}}",
    "\\begin{pmatrix}9^{9^{9^9}} & 1 \\\\ 1 & 1\\end{pmatrix}", "\\pm 9^{9^{9^9}}", "f(x) = 9^{9^{9^9}}x",
    "9^{9^{9^9}} < x < y",
    "\\begin{cases}9^{9^{9^9}} & x>0\\\\ 1 & x<9^{9^{9^9}}\\end{cases}", "\\{x \\mid x > 9^{9^{9^9}}\\}",
    "2x = y + 9^{9^{9^9}}",
)  # fmt: skip


def test_no_response_can_buy_a_null_reward() -> None:
    """Whatever is answered to a readable ground truth of any kind, the outcome is a verdict."""
    truths = {
        case["request"]["ground_truth"]
        for case in SERVED
        if case["expect"]["status"] == "scored" and isinstance(case["request"]["ground_truth"], str)
    }
    truths |= {"\\lim_{x\\to0}\\frac{\\sin x}{x}", "\\sum_{n=1}^{\\infty}\\frac{1}{n^2}"}
    truths |= {pair.truth for pair in pairs(60, 3)}
    truths -= {"9^{9^{9^{9}}}"}  # over the budget itself: only the identical answer gets a verdict
    bought = [
        (truth, bomb)
        for truth in sorted(truths)[::3]
        for bomb in BOMBS
        if isinstance(judge(f"\\boxed{{{bomb}}}", truth, MathOptions()), Unscorable)
    ]
    assert len(truths) > 200
    assert bought == []
