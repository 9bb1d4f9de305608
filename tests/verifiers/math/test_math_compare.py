"""The ladder: which step decides, what is proven, what is too costly; and pairs rewritten in equivalent
ways."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import math_mutations as mutations
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from math_pairs import pairs, respelled

from verifiers.math.compare import budget
from verifiers.math.compare.answers import Comparer
from verifiers.math.compare.errors import ComparisonError, TooCostly
from verifiers.math.compare.policy import Policy
from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.math.read.answer import read_answer
from verifiers.math.read.errors import ReadError
from verifiers.types import Unscorable, Verdict

DEFAULT = MathOptions()


@pytest.fixture(autouse=True)
def _new_budget() -> None:
    """Every test begins a comparison of its own."""
    budget.renew()


@pytest.mark.parametrize(
    ("truth", "response", "equal", "route"),
    [
        ("9^{9^{9^9}}", "9^{9^{9^9}}", True, "identical"),
        ("0.3", "0.1+0.2", True, "exact"),
        ("10^{400}", "10^{400}+1", False, "exact"),
        ("\\frac{x+2}{7}", "\\frac x7+\\frac27", True, "polynomial"),
        ("(a+b)^{3}", "a^3+b^3", False, "polynomial"),
        ("3\\ln 2", "\\ln 8", True, "polynomial"),
        ("\\frac{\\sqrt2}{2}", "\\frac{1}{\\sqrt2}", True, "polynomial"),
        ("1+\\tan^2 x", "\\sec^2 x", True, "polynomial"),
        ("|x|", "x", False, "enclosure"),
        ("\\pi", "3.14159265358979323846264338327950288", False, "enclosure"),
        ("0", "\\sin^2x+\\cos^2x-1+e^{-1000}", False, "enclosure"),
        ("\\sin x", "\\sin(x+10^{-200})", False, "enclosure"),
        ("\\sqrt{7+4\\sqrt3}", "2+\\sqrt3", True, "root_bound"),
        ("\\cos\\frac{\\pi}{5}", "\\frac{1+\\sqrt5}{4}", True, "root_bound"),
        ("-1", "e^{i\\pi}", True, "root_bound"),
        ("4^n", "2^{2n}", True, "numeric_agreement"),
        ("1", "\\lim_{x\\to0}\\frac{\\sin x}{x}", True, "sympy"),
        ("\\frac{\\pi^2}{6}", "\\sum_{n=1}^{\\infty}\\frac{1}{n^2}", True, "sympy"),
        ("2", "\\sum_{n=1}^{\\infty}\\frac{1}{2^n}", False, "sympy"),
        ("\\sqrt\\pi", "\\int_{-\\infty}^{\\infty}e^{-x^2}\\,dx", True, "sympy"),
    ],
)
def test_step_of_the_ladder_that_decides(truth: str, response: str, equal: bool, route: str) -> None:
    """Each kind of pair is decided by the strongest step that can."""
    outcome = Comparer(Policy()).compare(read_answer(truth), read_answer(response))
    assert (outcome.equal, outcome.route) == (equal, route)
    assert ("unproven" in outcome.flags) == (equal and route in {"numeric_agreement", "sympy"})


@pytest.mark.parametrize(
    "response",
    ["5^{5^{5^{5^5}}}", "((100!)!)!", "\\sum_{k=1}^{10^9} k^2", "9^{9^{9}}+1-9^{9^9}", "e^{e^{e^{10}}}",
     "(10^{10^{10}})!", "\\prod_{k=1}^{2000}(k!)!", "\\sum_{n=1}^{\\infty}2^{-n^{1000}}",
     "\\int_0^\\infty\\frac{\\sin(x^3+x)e^{\\cos x}}{\\ln(x+2)}\\,dx"],
)  # fmt: skip
def test_costly_responses_are_refused_by_their_cost(response: str) -> None:
    """A bomb costs its own verdict, by a budget that knows no clock."""
    with pytest.raises(TooCostly):
        Comparer(Policy()).compare(read_answer("1"), read_answer(response))


_ANGLE = f"\\frac{{\\pi}}{{{(10**90 + 289) * (10**91 + 3)}}}"
"""Its denominator has no small factors."""


@pytest.mark.parametrize(
    ("truth", "response", "equal"),
    [
        ("y^{\\frac{23^{49}}{3^{150}}}", "\\ln y", False),
        ("y^{\\frac{23^{49}}{3^{150}}}", "(y^{\\frac{23^{49}}{3^{149}}})^{\\frac13}", True),
        ("y^{\\frac{1}{3^{90}}}", "(y^{\\frac{2}{3^{90}}})^{\\frac12}", False),
        ("(-2)^{\\frac{1}{3^{90}}}", "-2^{\\frac{1}{3^{90}}}", True),
        ("x\\equiv 1\\pmod{3}", "1+k\\cdot 110^{400}", False),
        ("1+k\\cdot 110^{400}", "x\\equiv 1\\pmod{3}", False),
        ("1", f"1+\\sin({_ANGLE})-\\cos(\\frac\\pi2-{_ANGLE})", True),
        ("1", f"2-\\sin({_ANGLE})+\\cos(\\frac\\pi2-{_ANGLE})", False),
    ],
)  # fmt: skip
def test_numbers_beyond_a_word_of_the_machine(truth: str, response: str, equal: bool) -> None:
    """Indices, steps and orders of any size are compared, neither converted to a word nor factored."""
    outcome = judge(f"\\boxed{{{response}}}", truth, DEFAULT)
    assert isinstance(outcome, Verdict), outcome
    assert outcome.correct == equal, outcome


@pytest.mark.parametrize("truth", ["y^{(\\frac23+7)^{49}}", "y^{7^{49}}"])
def test_powers_too_large_are_too_costly_ground_truths(truth: str) -> None:
    """A huge exponent is refused whether it is whole or a fraction."""
    outcome = judge("\\boxed{\\ln y}", truth, DEFAULT)
    assert isinstance(outcome, Unscorable)
    assert outcome.kind == "invalid_ground_truth"


def _verdict(truth: str, response: str, options: MathOptions = DEFAULT) -> bool:
    outcome = judge(f"\\boxed{{{response}}}", truth, options)
    assert isinstance(outcome, Verdict), outcome
    return outcome.correct


@pytest.mark.parametrize("seed", range(4))
def test_rewritten_answers_stay_right_and_near_misses_wrong(seed: int) -> None:
    """Thousands of generated pairs of all kinds: the verdict is what the pair was made for."""
    rng = random.Random(seed)
    wrong = [
        pair for pair in pairs(750, seed) if _verdict(pair.truth, respelled(rng, pair.answer)) != pair.equal
    ]
    assert wrong == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(2))
def test_swapping_both_sides_gives_the_same_verdict(seed: int) -> None:
    """Ground truth and answer of one kind can change places."""
    wrong = [pair for pair in pairs(400, 100 + seed) if _verdict(pair.answer, pair.truth) != pair.equal]
    assert wrong == [], f"seed {seed}"


@pytest.mark.parametrize("seed", range(2))
def test_every_readable_answer_equals_itself(seed: int) -> None:
    """The comparison is reflexive, whatever the answer costs to evaluate."""
    rng = random.Random(seed)
    seen = Counter[str]()
    for _ in range(300):
        text = mutations.structure(rng)
        try:
            node = read_answer(text)
        except ReadError:
            seen["unread"] += 1
            continue
        seen["equal"] += 1
        assert Comparer(Policy()).compare(node, read_answer(text)).equal, text
    assert seen["equal"] > 200


@settings(max_examples=100)
@given(st.fractions(max_denominator=60), st.fractions(max_denominator=60))
def test_sums_of_fractions_agree_with_python(a: Fraction, b: Fraction) -> None:
    """Exact arithmetic is exact."""
    total = a + b
    text = f"\\frac{{{a.numerator}}}{{{a.denominator}}}+\\frac{{{b.numerator}}}{{{b.denominator}}}"
    assert _verdict(f"{total.numerator}/{total.denominator}", text)
    assert not _verdict(f"{total.numerator + total.denominator}/{total.denominator}", text)


@settings(max_examples=50)
@given(st.lists(st.integers(-5, 5), min_size=1, max_size=4), st.integers(-6, 6))
def test_polynomials_agree_with_their_values(coefficients: list[int], x: int) -> None:
    """A polynomial at a number has Horner's value."""
    value = 0
    for coefficient in coefficients:
        value = value * x + coefficient
    degree = len(coefficients) - 1
    text = "+".join(f"({c})\\cdot({x})^{{{degree - i}}}" for i, c in enumerate(coefficients))
    if x == 0:
        text = text.replace("(0)^{0}", "1")
    assert _verdict(str(value), text)
    assert not _verdict(str(value + 1), text)


def test_random_trees_never_raise_but_for_a_comparison_error() -> None:
    """Comparing any two readable answers ends in a verdict or a `ComparisonError`."""
    rng = random.Random(11)
    ended = Counter[str]()
    for _ in range(400):
        budget.renew()
        try:
            outcome = Comparer(Policy()).compare(
                read_answer(mutations.structure(rng)), read_answer(mutations.structure(rng))
            )
            ended[str(outcome.equal)] += 1
        except (ReadError, ComparisonError) as fault:
            ended[type(fault).__name__] += 1
    assert ended["False"] > 200


def test_fuzzed_responses_are_judged() -> None:
    """Random and mutated responses end in a verdict or a refusal of the ground truth."""
    rng = random.Random(23)
    ended = Counter(type(judge(mutations.response(rng), mutations.truth(rng), DEFAULT)) for _ in range(800))
    assert set(ended) == {Verdict, Unscorable}
