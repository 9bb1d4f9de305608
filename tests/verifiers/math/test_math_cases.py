"""The served table and the handed cases of `math`."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from verifiers.literals import FloatLiteral
from verifiers.math import MathOptions, MathVerifier
from verifiers.math.judge import judge
from verifiers.math.options import SOURCES
from verifiers.math.verifier import as_text
from verifiers.types import Outcome, Unscorable

SERVED = json.loads(files("verifiers.math").joinpath("cases.json").read_bytes(), parse_float=FloatLiteral)["cases"]

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
                agree.append(not isinstance(outcome, Unscorable) and outcome.correct == solution["is_correct"])
    assert len(agree) == 1200
    assert all(agree)
