"""The served table of `words`, and properties of any text."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifiers.types import Task, Unscorable, Verdict
from verifiers.words import WordsOptions, WordsVerifier

VERIFIER = WordsVerifier()
SERVED = json.loads(files("verifiers.words").joinpath("cases.json").read_bytes())["cases"]


@pytest.mark.parametrize("case", SERVED, ids=[case["id"] for case in SERVED])
def test_served_case_holds(case: dict[str, Any]) -> None:
    """Each row of the served table is what the verifier says."""
    request = case["request"]
    options = WordsOptions.model_validate(request.get("options", {}))
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
    assert options == set(WordsOptions.model_fields) - {"detail"}
    assert len({case["id"] for case in SERVED}) == len(SERVED)


@given(st.text(alphabet="ABCabc ()[]{}\\\\$*.,:<>/answertxboxed", max_size=80))
def test_any_response_is_judged(response: str) -> None:
    """No text raises; a verdict's span lies in the response."""
    verdict = VERIFIER.judge(Task(response, "B", WordsOptions()))
    assert isinstance(verdict, Verdict)
    if (span := verdict.detail["span"]) is not None:
        assert 0 <= span[0] <= span[1] <= len(response)


@pytest.mark.parametrize("piece", ["\\boxed{", "\\text{", "the answer is ", "(", "A, ", " ", "**"])
def test_megabytes_of_one_piece_are_judged(piece: str) -> None:
    """A search that went over the text once for every piece would run into the timeout of the suite."""
    verdict = VERIFIER.judge(Task(piece * (1_000_000 // len(piece)), "B", WordsOptions()))
    assert isinstance(verdict, Verdict)
    assert not verdict.correct


def test_detail_can_be_left_out() -> None:
    """`detail: none` leaves the verdict without one."""
    verdict = VERIFIER.judge(Task("\\boxed{B}", "B", WordsOptions(detail="none")))
    assert isinstance(verdict, Verdict)
    assert verdict.detail == {}
