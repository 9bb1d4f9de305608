"""The zero test modulo primes: what it decides where expansion is over its budget, and what it leaves."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.math.compare import budget
from verifiers.math.compare.errors import TooCostly
from verifiers.math.compare.modular import modular_difference
from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.math.read.answer import read_answer
from verifiers.types import Verdict

LETTERS = ("x", "y", "z")


@pytest.fixture(autouse=True)
def _new_budget() -> None:
    """Every test begins a comparison of its own."""
    budget.renew()


@pytest.mark.parametrize(
    ("truth", "response", "differs"),
    [
        ("(x+1)^{60}(y-2)^{40}(x+y+z)^{30}", "(1+x)^{60}(2-y)^{40}(z+x+y)^{30}", False),
        ("(x+1)^{60}(y-2)^{40}(x+y+z)^{30}", "(1+x)^{60}(2-y)^{40}(z+x+y)^{30}+1", True),
        ("(x+1)^{60}(y-2)^{40}(x+y+z)^{30}", "(1+x)^{60}(2-y)^{41}(z+x+y)^{30}", True),
        ("(x+1)^{5000}", "(x+1)^{4999}(1+x)", False),
        ("x", "x+10^{-5000}", True),
        ("x", "\\frac{x^2-xy}{x-y}", False),
        ("x^{-3}", "\\frac{1}{x^3}", False),
        ("(x+\\sin y)^{2}", "x^2+2x\\sin y+(\\sin y)^2", False),
        ("\\binom{5}{2}x", "10x", False),
        ("\\sin^2 x+\\cos^2 x", "1", None),
        ("\\sqrt{x}\\sqrt{x}", "x", None),
        ("2", "3", None),
        ("x", "\\frac{1}{x-x}", None),
        ("x^{10^{30}}", "x^{10^{30}}+1", None),
        ("x^{9^{9^{9}}}", "x", None),
    ],
)
def test_what_the_residues_say(truth: str, response: str, differs: bool | None) -> None:
    """Rational functions are told apart; related generators, constants and huge degrees are left alone."""
    assert modular_difference(read_answer(truth), read_answer(response)) is differs
    assert modular_difference(read_answer(response), read_answer(truth)) is differs


def test_no_answer_hides_behind_the_primes_of_another_pair() -> None:
    """What a product of primes is off by shows, though it vanishes modulo every one of them."""
    product = 1
    for prime in (2305843009213693951, 2305843009213693967, 2305843009213693973):
        product *= prime
    assert modular_difference(read_answer("x"), read_answer(f"x+{product}")) is True


def test_residues_are_charged_for() -> None:
    """The step ends with the budget of its comparison, like every other."""
    budget.spend(budget.UNITS)
    with pytest.raises(TooCostly):
        budget.spend(1)
    assert modular_difference(read_answer("x+1"), read_answer("1+x")) is None


def _factors(rng: random.Random) -> list[tuple[str, int]]:
    """Powers of linear forms whose product is far too long to be expanded."""
    signs = [rng.choice((-1, 1)) * rng.randint(1, 9) for _ in range(9)]
    return [
        (
            "+".join(f"({c}){letter}" for c, letter in zip(signs[i * 3 :], LETTERS, strict=False))
            + f"+{i + 2}",
            rng.randint(30, 60),
        )
        for i in range(3)
    ]


def _written(rng: random.Random, factors: list[tuple[str, int]]) -> str:
    """The product with its factors shuffled, powers split, and terms in another order."""
    parts = []
    for base, exponent in factors:
        terms = base.split("+")
        cut = rng.randint(1, exponent - 1)
        for times in (cut, exponent - cut):
            rng.shuffle(terms)
            parts.append(f"({'+'.join(terms)})^{{{times}}}")
    rng.shuffle(parts)
    return "".join(parts)


def _judged(truth: str, response: str) -> tuple[bool, object, tuple[str, ...]]:
    outcome = judge(f"\\boxed{{{response}}}", truth, MathOptions())
    assert isinstance(outcome, Verdict), outcome
    return outcome.correct, outcome.detail["route"], tuple(outcome.flags)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_long_products_rewritten_stay_right_and_near_misses_wrong(seed: int) -> None:
    """Rewriting keeps the verdict; a changed exponent, coefficient, sign or an added constant turns it."""
    rng = random.Random(seed)
    factors = _factors(rng)
    truth = _written(rng, factors)
    assert _judged(truth, _written(rng, factors)) == (True, "polynomial_modular", ("unproven",))
    which = rng.randrange(3)
    base, exponent = factors[which]
    changed = {
        "exponent": [*factors[:which], (base, exponent + 1), *factors[which + 1 :]],
        "coefficient": [*factors[:which], (base + "+x", exponent), *factors[which + 1 :]],
        "constant": [*factors[:which], (base + "+1", exponent), *factors[which + 1 :]],
    }
    misses = {kind: _written(rng, near) for kind, near in changed.items()}
    misses["sign"] = "-" + _written(rng, factors)
    misses["added"] = _written(rng, factors) + f"+{rng.randint(1, 9)}\\cdot 10^{{-{rng.randint(1, 300)}}}"
    for kind, response in misses.items():
        assert _judged(truth, response) == (False, "polynomial_modular", ()), kind


def test_undefined_points_are_not_looked_for_in_long_products() -> None:
    """A factor that cancels is flagged by the exact route only: here finding its zeros costs too much."""
    truth = _written(random.Random(3), _factors(random.Random(3)))
    cancelled = f"\\frac{{(x-1){truth}}}{{x-1}}"
    assert _judged(truth, cancelled) == (True, "polynomial_modular", ("unproven",))
    assert _judged("x+1", "\\frac{(x-1)(x+1)}{x-1}") == (True, "polynomial", ("domain_differs",))
