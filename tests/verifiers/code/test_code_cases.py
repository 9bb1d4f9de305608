"""The served contract cases, the handed cases and HumanEval, all on the real sandbox."""

from __future__ import annotations

import asyncio
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from outcomes import Judge, as_row, fenced, reason_of

from verifiers.code import CodeVerifier
from verifiers.literals import read_json
from verifiers.types import MISSING, Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")

SERVED = read_json(files("verifiers.code").joinpath("cases.json").read_text("utf-8"))["cases"]
FILLED_IN_BY_DRIVER = ("{{CANARY", "{{SERVICE_PORT", "{{DRIVER_PID")


@pytest.mark.parametrize("case", SERVED, ids=[case["id"] for case in SERVED])
async def test_served_case_holds(case: dict[str, Any], judge: Judge) -> None:
    """Each row of the served table is what the verifier says."""
    request = case["request"]
    outcome = await judge(
        request["response"], request.get("ground_truth", MISSING), **request.get("options", {})
    )
    assert as_row(outcome) == case["expect"]


async def test_served_cases_show_every_reason(verifier: CodeVerifier) -> None:
    """The table covers all declared reasons and the failures that a ground truth or language can cause."""
    shown = {case["expect"]["reason"] for case in SERVED}
    assert shown == {
        *verifier.reasons,
        "invalid_ground_truth",
        "unsupported_tests",
        "language_unavailable",
    }
    assert len({case["id"] for case in SERVED}) == len(SERVED)


@pytest.mark.parametrize("case", SERVED, ids=[case["id"] for case in SERVED])
async def test_schema_admits_what_is_scored(case: dict[str, Any], verifier: CodeVerifier) -> None:
    """The published JSON schema accepts every ground truth that leads to a verdict."""
    if case["expect"]["status"] == "scored":
        jsonschema.validate(case["request"]["ground_truth"], verifier.ground_truth_schema)


def _expanded(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"parts"}:
            return "".join(text * count for text, count in value["parts"])
        return {key: _expanded(item) for key, item in value.items()}
    return [_expanded(item) for item in value] if isinstance(value, list) else value


def _runs_here(case: dict[str, Any]) -> bool:
    """False for cases that look at the host around the service, or that only show how long a loop may run."""
    text = json.dumps(case["response"])
    if any(mark in text for mark in FILLED_IN_BY_DRIVER):
        return False
    return not ("timeout" in case["expected"]["outcome"] and case["limits"]["time_s"] > 1)


async def test_handed_cases_hold(shared: Path, judge: Judge, verifier: CodeVerifier) -> None:
    """Every handed case has its expected verdict, number of passed tests and reason."""
    wrong: list[str] = []
    run = 0
    for path in sorted((shared / "cases" / "code").glob("*.json")):
        for case in map(_expanded, read_json(path.read_text("utf-8"))):
            if not _runs_here(case):
                continue
            run += 1
            options = {"language": case["language"], "limits": case["limits"], **case.get("options", {})}
            outcome = await judge(case["response"].replace("{{TAG}}", "tag"), case["tests"], **options)
            if not _is_expected(outcome, case["expected"]):
                wrong.append(f"{case['id']}: {outcome}")
    assert run > 60
    assert wrong == []


def _is_expected(outcome: Any, expected: dict[str, Any]) -> bool:
    if not isinstance(outcome, Verdict) or outcome.correct is not expected["passed"]:
        return False
    counted = expected["tests_passed"] in (None, outcome.detail["tests_passed"])
    allowed = expected["outcome"].split("|")
    return counted and (
        outcome.reason in allowed or ("any_failure" in allowed and outcome.reason != "passed")
    )


@pytest.fixture(scope="module")
def human_eval(shared: Path) -> list[dict[str, str]]:
    """The 164 problems."""
    lines = (shared / "data" / "humaneval.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


async def _judged(judge: Judge, problems: list[dict[str, str]], body: str | None, whole: bool) -> list[str]:
    """Reasons for the canonical solutions (body None) or for one body in all of them."""

    async def reason(problem: dict[str, str]) -> str:
        code = problem["canonical_solution"] if body is None else body
        response = fenced(problem["prompt"] + code) if whole else code
        tests = {
            "type": "asserts",
            "setup": problem["prompt"],
            "code": problem["test"],
            "entry_point": problem["entry_point"],
        }
        return reason_of(await judge(response, tests))

    return await asyncio.gather(*map(reason, problems))


async def test_humaneval_canonical_solutions_pass(human_eval: list[dict[str, str]], judge: Judge) -> None:
    """All 164 canonical solutions are accepted, and as bare bodies too (a sample here)."""
    assert await _judged(judge, human_eval, None, True) == ["passed"] * 164
    assert set(await _judged(judge, human_eval[::8], None, False)) == {"passed"}


async def test_humaneval_empty_bodies_fail(human_eval: list[dict[str, str]], judge: Judge) -> None:
    """None of the 164 problems is passed by returning None, nor (a sample) by other empty bodies."""
    reasons = await _judged(judge, human_eval, "    return None\n", False)
    assert len(reasons) == 164
    for body in ("    pass\n", "    return 0\n", "    return []\n", "    return True\n"):
        reasons += await _judged(judge, human_eval[::16], body, True)
    assert set(reasons) <= {"wrong_answer", "runtime_error"}
