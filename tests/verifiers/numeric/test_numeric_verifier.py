"""The verifier as a whole: options, ground truths, detail, and that nothing raises."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from verifiers.literals import FloatLiteral
from verifiers.numeric import NumericOptions, NumericVerifier, verify_numeric_answer
from verifiers.types import MISSING, Task, Unscorable, Verdict

VERIFIER = NumericVerifier()
DETAIL_KEYS = {"extracted", "source", "span", "parsed", "expected", "error", "tolerance"}


def judge(response: str, ground_truth: Any, **options: Any) -> Verdict:
    """The verdict on one response whose ground truth is usable."""
    outcome = VERIFIER.judge(Task(response, ground_truth, NumericOptions(**options)))
    assert isinstance(outcome, Verdict)
    return outcome


def test_detail_shows_what_was_compared() -> None:
    """The example of the contract, to the letter."""
    verdict = judge(r"3 of 7 parts, so \boxed{3/7}", "0.428571")
    assert (verdict.correct, verdict.reason, verdict.score) == (True, "within_tolerance", 1.0)
    assert verdict.detail == {
        "extracted": "3/7",
        "source": "boxed",
        "span": [24, 27],
        "parsed": "3/7",
        "expected": "428571/1000000",
        "error": "3/7000000",
        "tolerance": "1.001e-06",
    }


def test_detail_has_its_keys_without_an_answer() -> None:
    """All keys are there, null where nothing was found."""
    detail = judge("none", "42").detail
    assert detail == dict.fromkeys(DETAIL_KEYS) | {"expected": "42", "tolerance": "4.2001e-05"}


def test_detail_levels() -> None:
    """`none` leaves everything out, `summary` cuts what was extracted, `full` does not."""
    response = r"\boxed{" + "x" * 5000 + "}"
    assert judge(response, "1", detail="none").detail == {}
    assert len(judge(response, "1").detail["extracted"]) == 512
    assert judge(response, "1", detail="full").detail["extracted"] == "x" * 5000


@pytest.mark.parametrize("gold", [42, "42", "042", r"\boxed{42}", "$42", FloatLiteral("42.0"), 42.0])
def test_ground_truth_may_be_text_or_number(gold: object) -> None:
    """The same number in any form accepts the same answer and no other."""
    assert judge("42", gold, rtol=0, atol=0).correct
    assert not judge("43", gold, rtol=0, atol=0).correct


@pytest.mark.parametrize(
    "gold", [10**4299, -(10**4299), 2**300, FloatLiteral("1e400")], ids=["4300", "-4300", "91", "float"]
)
def test_large_json_numbers_are_exact(gold: float) -> None:
    """Numbers beyond floats and beyond the cache are compared digit by digit."""
    value = 10**400 if isinstance(gold, FloatLiteral) else int(gold)
    assert judge(f"{value}", gold, rtol=0, atol=0).correct
    assert not judge(f"{value + 1}", gold, rtol=0, atol=0).correct


UNUSABLE = [
    MISSING, None, True, False, [], {}, [42], {"value": 42}, "", " ", "forty-two", "1, 2", "42 or 43", "inf",
    "nan", "1/0",
    "1e10001", "9" * 4301, 10**4300, math.inf, math.nan, "A: 42", "the total 42", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("gold", UNUSABLE, ids=range(len(UNUSABLE)))
@pytest.mark.parametrize("response", ["42", "no answer", ""])
def test_unusable_ground_truth_is_unscorable(response: str, gold: object) -> None:
    """Whatever the response says, the item is unscorable with a short message; in process it is 0."""
    outcome = VERIFIER.judge(Task(response, gold, NumericOptions()))
    assert isinstance(outcome, Unscorable)
    assert outcome.kind == "invalid_ground_truth"
    assert 0 < len(outcome.message) < 700
    assert verify_numeric_answer(response, gold) == 0  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"rtol": -1}, {"atol": -1e-9}, {"rtol": math.nan}, {"atol": math.inf}, {"rtol": True},
        {"rtol": "0.1"},
        {"rtol": None}, {"tolerance_mode": "loose"}, {"reasoning": "drop"}, {"detail": "all"}, {"tol": 1},
        {"rtol": FloatLiteral("1e-99999")}, {"rtol": [0.1]},
    ],
)  # fmt: skip
def test_bad_options_are_refused(options: dict[str, Any]) -> None:
    """Bad options are the caller's fault and never reach a verdict."""
    with pytest.raises(ValidationError) as refusal:
        NumericOptions.model_validate(options)
    assert [error["loc"] for error in refusal.value.errors()] == [tuple(options)]


def test_tolerances_are_the_decimals_written() -> None:
    """0.1 is one tenth, not the float next to it, and a literal longer than a float keeps its digits."""
    assert judge("1.1", "1", rtol=0, atol=0.1).correct
    assert not judge("1.1", "1", rtol=0, atol=FloatLiteral("0.0999999999999999999999999")).correct
    assert judge("1.1", "1", rtol=FloatLiteral("1e-1"), atol=0).correct
    assert judge("43", "42", rtol=0, atol=1).correct


@pytest.mark.parametrize("name", ["rtol", "atol"])
@pytest.mark.parametrize("value", [-1, -1e-300, math.nan, math.inf, -math.inf])
def test_bad_tolerance_in_process(name: str, value: float) -> None:
    """Negative and non-finite tolerances are a `ValueError`."""
    with pytest.raises(ValueError, match="must be a finite number"):
        verify_numeric_answer("1", "1", **{name: value})


@pytest.mark.parametrize("response", [None, b"42", 42, ["42"]])
def test_response_must_be_text_in_process(response: Any) -> None:
    """Anything but a string is a `TypeError`."""
    with pytest.raises(TypeError, match="response must be a string"):
        verify_numeric_answer(response, "42")


def test_numpy_tolerances_are_read_like_floats() -> None:
    """NumPy's floats, whose `repr` is no decimal, are read as the float they are."""
    numpy = pytest.importorskip("numpy")
    assert verify_numeric_answer("1.1", "1", rtol=numpy.float64(0.1), atol=numpy.float64(0)) == 1


PIECES = [
    r"\boxed{", r"\fbox{", "}", "{", "\\", "1", "42", "0", "/", r"\frac", r"\text{", ",", ".", "e", "10^",
    "-", "+", "$",
    " ", "\n", "<think>", "</think>", "½", "²", "\u200b", "٤", "\ud800", "\x00", "é", "万", "[1]", "%", "x",
    "=", "±",
]  # fmt: skip
ANY_TEXT = st.text(st.characters(codec=None)) | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)


@given(ANY_TEXT | st.binary().map(lambda data: data.decode("utf-8", "surrogateescape")), ANY_JSON)
@settings(max_examples=50)
def test_no_input_raises_or_leaves_the_range(response: str, gold: object) -> None:
    """Any text against any JSON is judged or unscorable; verdicts have a declared reason and 0 or 1."""
    outcome = VERIFIER.judge(Task(response, gold, NumericOptions(detail="full")))
    if isinstance(outcome, Unscorable):
        assert outcome.kind == "invalid_ground_truth"
        return
    assert outcome.reason in VERIFIER.reasons
    assert outcome.correct == (outcome.reason == "within_tolerance") == (outcome.score == 1.0)
    assert outcome.score in VERIFIER.reward_range
    assert outcome.detail.keys() == DETAIL_KEYS
    if outcome.detail["span"]:
        assert response[slice(*outcome.detail["span"])] == outcome.detail["extracted"]


NOTATIONS = [
    "{0}", "{0:,}", "{0}.0", "{0}e0", "{0}0e-1", "{0}/1", r"\frac{{{0}}}{{1}}", r"{0}\times10^{{0}}",
    r"\text{{{0}}}", "${0}$",
    r"\${0:,}.00", r"{0}\text{{ cm}}", "00{0}", "+{0}", r"-\frac{{-{0}}}{{1}}", "{0}%", "{0} 0/1", "({0})",
    "**{0}**",
]  # fmt: skip
PLACES = [
    r"\boxed{{{}}}",
    r"I guess 5, no: $\\boxed{{{}}}$, in 30 seconds",
    "The answer is {}",
    "7 or 8? It is {}.\n",
    "= {}",
]


@given(st.integers(0, 10**12), st.sampled_from(NOTATIONS), st.sampled_from(PLACES))
@settings(max_examples=50)
def test_every_notation_of_the_right_number_is_right(number: int, notation: str, place: str) -> None:
    """However and wherever the right number is written it earns the reward, and its neighbour never does."""
    response = place.format(notation.format(number))
    options = {"rtol": 0, "atol": 0}
    assert judge(response, number, **options).correct
    assert not judge(response, number + 1, **options).correct
    assert not judge(response, f"{number}.{'0' * 30}1", **options).correct


def test_declared_contract_is_complete() -> None:
    """What is served about the verifier names every reason and option."""
    for word in (*VERIFIER.reasons, *NumericOptions.model_fields):
        assert f"`{word}" in VERIFIER.contract or word == "detail"
    schema = NumericOptions.model_json_schema()
    assert schema["properties"]["rtol"]["type"] == "number"
    assert set(VERIFIER.environment()) == {"python", "max_digits", "max_exponent"}
