"""Cheap flags: what raises them, where they point, and in which order they stand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from serving import Client, verify

from app.flags import Flagger, evidence, flags_of
from rollouts.stop import resolve_stop
from verifiers.choice.verifier import ChoiceVerifier
from verifiers.numeric.verifier import NumericVerifier
from verifiers.types import Task, Verdict

NUMERIC = NumericVerifier()
FLAGGER = Flagger(NUMERIC)
LOOP = "so we add one more, "


def judged(
    response: str, truth: str = "5", stop: str | None = "stop", **options: Any
) -> tuple[Task, Verdict]:
    """A numeric task and its verdict."""
    task = Task(response, truth, NUMERIC.Options(**options))
    verdict = NUMERIC.judge(task)
    assert isinstance(verdict, Verdict)
    return task, verdict


def flags(response: str, truth: str = "5", stop: str | None = "stop", **options: Any) -> tuple[str, ...]:
    """The flags of a numeric verdict."""
    task, verdict = judged(response, truth, stop, **options)
    return FLAGGER.flags(task, verdict, resolve_stop(stop, engine="vllm"), ())


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("so \\boxed{5}", ()),
        ("", ("empty_response",)),
        (" \n\u3000", ("empty_response",)),
        ("\\boxed{4} no, \\boxed{5}", ("several_boxes",)),
        ("\\boxed{5}, that is \\boxed{ 5 }", ()),
        ("\\boxed{\\frac{10}{2}} = \\boxed {5}", ("several_boxes",)),
        ("\\boxed{4 and then \\boxed{5}", ()),
        ("\\boxed{5} and the open \\boxed{6", ()),
        ("<think>it is 5</think>", ("answer_in_reasoning",)),
        ("<think>it is \\boxed{5}</think> Done.", ("answer_in_reasoning",)),
        ("<think>it is 5", ("answer_in_reasoning",)),
        ("<think>it is 4</think> 5", ()),
        ("4 < 6, so it is 5", ()),
        ("I guess it is \\boxed{5}", ("hedged_answer",)),
        ("MAYBE 5", ("hedged_answer",)),
        ("the probability is 5", ()),
        ("neither, so 5", ()),
        ("it is 4 or 5", ("hedged_answer",)),
        ("\\boxed{5} or \\boxed{6}", ("several_boxes", "hedged_answer")),
        ("maybe" + " and so on" * 20 + " 5", ()),
        (LOOP * 4 + LOOP[:7], ("repetitive_response",)),
        (LOOP * 3, ()),
        ("x" * 64, ("repetitive_response",)),
        ("x" * 63, ()),
        ("5 " * 40, ("repetitive_response",)),
        (LOOP * 10 + "the answer is 5", ()),
    ],
)
def test_what_raises_a_flag(response: str, expected: tuple[str, ...]) -> None:
    """Each flag by texts that raise it and texts beside them that do not."""
    assert flags(response) == expected


@pytest.mark.parametrize(
    ("answer", "near"),
    [
        ("5", False),
        ("5.2", False),
        ("5.25", False),
        ("5.26", True),
        ("4.5", True),
        ("5.5", True),
        ("5.6", False),
    ],
)
def test_tolerance_edge(answer: str, near: bool) -> None:
    """Accepted with more than half of the tolerance used, exactly; what is rejected is no edge."""
    assert flags(answer, rtol=0, atol=0.5) == (("tolerance_edge",) if near else ())


def test_half_of_the_tolerance_is_not_beyond_it() -> None:
    """The bound is exact where floats are not: a third of a third is compared as a fraction."""
    assert flags("1/18", "0", rtol=0, atol=0.1) == ("tolerance_edge",)
    assert flags("1/20", "0", rtol=0, atol=0.1) == ()


@pytest.mark.parametrize(
    ("response", "stop", "expected"),
    [
        ("it is 5", "length", ("truncated_accept",)),
        ("it is 4", "length", ()),
        ("it is 5", "stop", ()),
        ("it is 5", None, ()),
    ],
)
def test_truncated_accept(response: str, stop: str | None, expected: tuple[str, ...]) -> None:
    """Only an accept is suspicious for being cut off, and only where that is known."""
    assert flags(response, stop=stop) == expected


@pytest.mark.parametrize("reasoning", ["strip", "require"])
def test_drafts_in_reasoning_are_not_read(reasoning: str) -> None:
    """Where only what follows the reasoning is read, boxes inside it are drafts."""
    assert flags("<think>\\boxed{4}</think>\\boxed{5}", reasoning=reasoning) == ()
    assert flags("<think>\\boxed{4}</think>\\boxed{5}") == ("several_boxes",)


@pytest.mark.parametrize(
    ("response", "flag", "shown"),
    [
        ("\\boxed{4} no, \\boxed{5}", "several_boxes", ["4", "5"]),
        ("I guess, maybe, \\boxed{5}", "hedged_answer", ["guess", "maybe"]),
        ("it is 4 or 5", "hedged_answer", ["or"]),
        (LOOP * 5, "repetitive_response", [LOOP]),
        ("<think>it is 5</think>", "answer_in_reasoning", ["5"]),
        ("a\ufffd\ufffdb\ufffd 5", "replaced_characters", ["\ufffd\ufffd", "\ufffd"]),
        ("  ", "empty_response", ["  "]),
        ("4.6", "tolerance_edge", ["4.6"]),
    ],
)
def test_evidence_points_at_it(response: str, flag: str, shown: list[str]) -> None:
    """Evidence is spans of the response, in code points."""
    text = evidence(flag, *judged(response, rtol=0, atol=0.5))
    assert text is not None
    assert [response[start:end] for start, end in json.loads(text)] == shown


PIECES = st.sampled_from(
    ["\\boxed{", "}", "{", "5", " or ", "maybe", "<think>", "</think>", "\ufffd", "\\", "é𝟝", " ", "so ", "İ"]
)


@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 9))
def test_any_text(piece: str, copies: int) -> None:
    """Whatever the text: known flags, most telling first, none twice, evidence inside the response."""
    response = piece * copies
    task, verdict = judged(response)
    found = FLAGGER.flags(task, verdict, resolve_stop("length", engine="vllm"), ("replaced_characters",))
    assert list(found) == [flag for flag in flags_of(NUMERIC) if flag in found]
    for flag in found:
        for start, end in json.loads(evidence(flag, task, verdict) or "[]"):
            assert 0 <= start <= end <= len(response)


@given(st.text(st.sampled_from("ab \n"), min_size=1, max_size=60), st.integers(1, 8), st.text(max_size=20))
def test_repetitive_as_defined(piece: str, copies: int, before: str) -> None:
    """Flagged exactly when the end of the text is four or more copies that fill 64 characters."""
    response = before + piece * copies
    size = len(response)

    def ends_in_copies(period: int) -> bool:
        filled = max(4 * period, 64)
        return filled <= size and response[size - filled : -period] == response[size - filled + period :]

    if "repetitive_response" in flags(response):
        assert any(ends_in_copies(period) for period in range(1, size))
    if copies >= 5 and len(piece) * (copies - 1) >= 64 and not response.isspace():
        assert "repetitive_response" in flags(response)


@pytest.mark.parametrize(
    "unit", ["\\boxed{", "\\boxed{}", "\\boxed{{x}", "{\\boxed{1}", "</think>", "maybe ", "<"]
)
def test_hostile_texts_are_no_work(unit: str) -> None:
    """A megabyte made to be searched in vain is judged and flagged all the same."""
    response = unit * (1_000_000 // len(unit)) + " 5"
    task, verdict = judged(response)
    for flag in FLAGGER.flags(task, verdict, resolve_stop("stop", engine="vllm"), ()):
        evidence(flag, task, verdict)


def test_flags_of_verifiers_stand_between() -> None:
    """A verifier's own flags come after the strongest signs and before the weakest, in its own order."""
    assert flags_of(NUMERIC) == (
        "empty_response", "truncated_accept", "tolerance_edge", "several_boxes", "answer_in_reasoning",
        "hedged_answer", "repetitive_response", "replaced_characters",
    )  # fmt: skip
    assert "tolerance_edge" not in flags_of(ChoiceVerifier())


def test_flags_over_http(client: Client) -> None:
    """The reply lists them, the first names the stratum, and verdict and reward are as ever."""
    meta = {"run": "flags"}
    stop = {"reason": "length", "engine": "vllm"}
    reply = verify(
        client, verifier="numeric", response="maybe \\boxed{5}", ground_truth="5", stop=stop, meta=meta
    )
    assert reply["audit"]["flags"] == ["truncated_accept", "hedged_answer"]
    assert reply["audit"]["stratum"] == "accept/truncated_accept"
    assert (reply["reward"], reply["verdict"]["correct"]) == (1.0, True)
    reply = verify(client, verifier="numeric", response="maybe \\boxed{4}", ground_truth="5", meta=meta)
    assert reply["audit"]["stratum"] == "reject/hedged_answer"
    catalog = client.get("/v1/verifiers/numeric").json()
    assert catalog["flags"] == list(flags_of(NUMERIC))
