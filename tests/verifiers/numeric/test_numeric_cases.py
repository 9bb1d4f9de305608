"""The served contract cases, the handed cases and the labelled GSM8K responses."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from verifiers.literals import FloatLiteral
from verifiers.numeric import NumericOptions, NumericVerifier, verify_numeric_answer
from verifiers.types import MISSING, Task, Unscorable

VERIFIER = NumericVerifier()
SERVED = json.loads(files("verifiers.numeric").joinpath("cases.json").read_bytes(), parse_float=FloatLiteral)[
    "cases"
]


@pytest.mark.parametrize("case", SERVED, ids=[case["id"] for case in SERVED])
def test_served_case_holds(case: dict[str, Any]) -> None:
    """Each row of the served table is what the verifier says."""
    request = case["request"]
    options = NumericOptions.model_validate(request.get("options", {}))
    outcome = VERIFIER.judge(Task(request["response"], request.get("ground_truth", MISSING), options))
    if isinstance(outcome, Unscorable):
        got: dict[str, object] = {"status": "unscorable", "reward": None, "reason": outcome.kind}
    else:
        got = {"status": "scored", "reward": outcome.score, "reason": outcome.reason}
    assert got == case["expect"]


def test_served_cases_show_every_reason_and_no_id_twice() -> None:
    """The table covers all declared reasons, and its ids name one row each."""
    shown = {case["expect"]["reason"] for case in SERVED}
    assert shown == {*VERIFIER.reasons, "invalid_ground_truth"}
    assert len({case["id"] for case in SERVED}) == len(SERVED)


def test_handed_cases_hold(shared: Path) -> None:
    """Every handed numeric case has its expected verdict, the ambiguous ones included."""
    lines = (shared / "cases" / "answers" / "cases.jsonl").read_text(encoding="utf-8").splitlines()
    cases = [case for case in map(json.loads, lines) if case["verifier"] == "numeric"]
    wrong = [
        case["id"]
        for case in cases
        if verify_numeric_answer(case["response"], case["ground_truth"]) != case["expected"]
    ]
    assert len(cases) > 80
    assert wrong == []


def test_gsm8k_labels_agree(shared: Path) -> None:
    """On 1,200 responses of models to GSM8K problems the verdict is the label."""
    agree = []
    for line in (shared / "data" / "gsm8k_model_solutions.jsonl").read_text(encoding="utf-8").splitlines():
        problem = json.loads(line)
        gold = problem["ground_truth"].rpartition("A:")[2].strip()
        for solution in problem.values():
            if isinstance(solution, dict):
                verdict = verify_numeric_answer(solution["solution"], gold)
                agree.append(verdict == solution["is_correct"])
    assert len(agree) == 1200
    assert all(agree)


@pytest.mark.parametrize(
    ("response", "gold", "expected"),
    [
        (r"\\boxed{3/7}", "0.428571", 1),
        (r"wrong 42, final \\boxed{41}", "42", 0),
        ("1,000", "1000", 1),
        (r"\\boxed{42}", "42", 1),
        (r"\boxed{42}", "42", 1),
        ("answer: 1/2", "0.5", 1),
        ("1e3", "1000", 1),
        (r"\\boxed{1/0}", "0", 0),
        ("no answer", "1", 0),
        ("42 items minus 1 = 41", "42", 0),
    ],
)
def test_course_example_holds(response: str, gold: str, expected: int) -> None:
    """The examples by which the course defines the function."""
    assert verify_numeric_answer(response, gold) == expected
