"""Generated pairs of ground truth and answer, with whether they are equal, for every kind. Reproducible.

An equal pair writes one thing in two ways; a near miss changes a sign, coefficient, exponent, bracket or
order.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple


class Pair(NamedTuple):
    """A ground truth, an answer to it, and whether the answer is right."""

    kind: str
    truth: str
    answer: str
    equal: bool


def pairs(count: int, seed: int) -> Iterator[Pair]:
    """`count` pairs, the kinds in turn, equal and unequal ones mixed."""
    rng = random.Random(seed)
    makers = list(_MAKERS.items())
    for index in range(count):
        kind, maker = makers[index % len(makers)]
        yield maker(rng)._replace(kind=kind)


def _pair(truth: str, answer: str, *, equal: bool) -> Pair:
    return Pair("", truth, answer, equal)


def _nonzero(rng: random.Random, most: int = 9) -> int:
    return rng.choice((-1, 1)) * rng.randint(1, most)


def _rational(rng: random.Random) -> Fraction:
    return Fraction(_nonzero(rng, 60), rng.randint(2, 12))


def _written(rng: random.Random, value: Fraction) -> str:
    """`value` in one of its spellings."""
    a, b = value.numerator, value.denominator
    scale = rng.randint(2, 5)
    sign, top = ("-" if a < 0 else ""), abs(a)
    forms = [
        f"{a}/{b}",
        f"\\frac{{{a}}}{{{b}}}",
        f"{sign}\\dfrac{{{top}}}{{{b}}}",
        f"\\frac{{{a * scale}}}{{{b * scale}}}",
    ]
    if b == 1:
        forms = [str(a), f"{a}.0", f"{sign} {top}", f"\\frac{{{a * scale}}}{{{scale}}}"]
    elif top > b:
        forms.append(f"{sign}{top // b}\\frac{{{top % b}}}{{{b}}}" if top % b else str(a // b))
    if b in {2, 4, 5, 8, 10}:
        forms.append(str(float(value)))
    return rng.choice(forms)


def _number(rng: random.Random) -> Pair:
    value = _rational(rng)
    other = (
        value
        if rng.random() < 0.5
        else rng.choice((-value, value + Fraction(1, 7), 1 / value + 1, value * 10))
    )
    return _pair(_written(rng, value), _written(rng, other), equal=value == other)


def _big(rng: random.Random) -> Pair:
    digits = str(rng.randint(10**6, 10**12))
    groups = f"{int(digits):,}"
    spelled = rng.choice((groups, groups.replace(",", "{,}"), groups.replace(",", "\\,"), digits))
    equal = rng.random() < 0.5
    return _pair(digits if equal else str(int(digits) + 1), spelled, equal=equal)


def _term(coefficient: int, power: int, letter: str = "x") -> str:
    factor = {0: "", 1: letter}.get(power, f"{letter}^{{{power}}}" if power > 9 else f"{letter}^{power}")
    if power == 0:
        return str(coefficient)
    return {1: factor, -1: f"-{factor}"}.get(coefficient, f"{coefficient}{factor}")


def _sum(terms: list[str]) -> str:
    return "+".join(terms).replace("+-", "-")


def _polynomial(rng: random.Random) -> Pair:
    """A product of linear factors against its expansion."""
    roots = [_nonzero(rng) for _ in range(rng.randint(2, 3))]
    coefficients = [1]
    for root in roots:
        coefficients = [a - root * b for a, b in zip([*coefficients, 0], [0, *coefficients], strict=True)]
    factors = [f"(x{-root:+d})" for root in roots]
    rng.shuffle(factors)
    equal = rng.random() < 0.5
    if not equal:
        place = rng.randrange(1, len(coefficients))
        coefficients[place] = -coefficients[place] if coefficients[place] else 1
    terms = [_term(c, len(coefficients) - 1 - i) for i, c in enumerate(coefficients) if c]
    if rng.random() < 0.5:
        rng.shuffle(terms)
    return _pair("".join(factors), _sum(terms), equal=equal)


def _rational_function(rng: random.Random) -> Pair:
    a, b, c, d = (_nonzero(rng) for _ in range(4))
    equal = rng.random() < 0.5
    truth = f"\\frac{{{a}}}{{x{b:+d}}}+\\frac{{{c}}}{{y{d:+d}}}"
    miss = 0 if equal else rng.choice((1, -2))
    answer = f"\\frac{{{a}(y{d:+d})+{c}(x{b:+d}){miss:+d}}}{{(x{b:+d})(y{d:+d})}}"
    return _pair(truth, answer, equal=equal)


def _radical(rng: random.Random) -> Pair:
    outside, inside = rng.randint(2, 9), rng.choice((2, 3, 5, 6, 7, 10))
    equal = rng.random() < 0.5
    square = outside * outside * inside if equal else outside * inside
    answer = rng.choice(
        (f"\\sqrt{{{square}}}", f"\\frac{{{square}}}{{\\sqrt{{{square}}}}}", f"{square}^{{1/2}}")
    )
    return _pair(f"{outside}\\sqrt{{{inside}}}", answer, equal=equal)


def _transcendental(rng: random.Random) -> Pair:
    a, b = rng.randint(2, 9), rng.randint(2, 9)
    forms = (
        (f"\\ln {a ** b}", f"{b}\\ln {a}", f"{b}\\ln {a + 1}"),
        (f"\\sin({a}x)\\cos({a}x)", f"\\frac{{\\sin({2 * a}x)}}{{2}}", f"\\frac{{\\sin({2 * a}x)}}{{3}}"),
        (f"1+\\tan^2({a}x)", f"\\sec^2({a}x)", f"\\sec^2({b + a}x)"),
        (f"e^{{{a}x}}e^{{{b}}}", f"e^{{{a}x+{b}}}", f"e^{{{a}x-{b}}}"),
        (f"{a}^{{n+{b}}}", f"{a ** b}\\cdot {a}^n", f"{a * b + 1}\\cdot {a}^n"),
        (f"\\log_{{{a}}} {a ** b}", str(b), str(b + 1)),
        (f"\\arctan({a})+\\arctan(\\frac{{1}}{{{a}}})", "\\frac{\\pi}{2}", "\\frac{\\pi}{3}"),
    )  # fmt: skip
    truth, right, wrong = rng.choice(forms)
    equal = rng.random() < 0.5
    return _pair(truth, right if equal else wrong, equal=equal)


def _equation(rng: random.Random) -> Pair:
    a, b, c, k = (_nonzero(rng) for _ in range(4))
    equal = rng.random() < 0.5
    miss = 0 if equal else 1
    answer = rng.choice(
        (
            f"{a * k}x{b * k:+d}y={-(c + miss) * k}",
            f"y=\\frac{{{-a}x{-c - miss:+d}}}{{{b}}}",
            f"0={_term(a, 1)}{b:+d}y{c + miss:+d}",
        )
    )
    return _pair(f"{a}x{b:+d}y{c:+d}=0", answer, equal=equal)


def _interval(rng: random.Random) -> Pair:
    low = rng.randint(-20, 5)
    high = low + rng.randint(1, 20)
    left, right = rng.choice("(["), rng.choice(")]")
    other_left, other_right = left, right
    equal = rng.random() < 0.5
    if not equal:
        other_left = "(" if left == "[" else "["
    signs = ("<" if other_left == "(" else "\\le", "<" if other_right == ")" else "\\le")
    answer = rng.choice(
        (
            f"{other_left}{low},{high}{other_right}",
            f"x \\in \\left{other_left}{low}, {high}\\right{other_right}",
            f"{low} {signs[0]} x {signs[1]} {high}",
        )
    )
    truth = rng.choice((f"{left}{low},{high}{right}", f"x\\in{left}{low},{high}{right}"))
    return _pair(truth, answer, equal=equal)


def _union(rng: random.Random) -> Pair:
    a = rng.randint(-9, 0)
    b, c = a + rng.randint(1, 5), a + rng.randint(6, 12)
    equal = rng.random() < 0.5
    truth = f"(-\\infty,{a})\\cup({b},{c}]"
    answer = rng.choice((f"({b},{c}] \\cup (-\\infty,{a})", f"x<{a} \\text{{ or }} {b}<x\\le {c}"))
    return _pair(
        truth, answer if equal else answer.replace("\\cup", "\\cap").replace("\\le", "<"), equal=equal
    )


def _set(rng: random.Random) -> Pair:
    values = rng.sample(range(-30, 30), rng.randint(2, 5))
    other = list(values)
    rng.shuffle(other)
    equal = rng.random() < 0.5
    if not equal:
        other = rng.choice((other[1:], [*other, 99], [other[0] + 100, *other[1:]]))
    wrapped = rng.choice(("\\{%s\\}", "\\left\\{ %s \\right\\}", "%s")) % ", ".join(map(str, other))
    return _pair("\\{" + ",".join(map(str, values)) + "\\}", wrapped, equal=equal)


def _tuple(rng: random.Random) -> Pair:
    values = [_rational(rng) for _ in range(rng.randint(3, 4))]
    other = list(values)
    equal = rng.random() < 0.5
    if not equal:
        other = [other[1], other[0], *other[2:]] if other[0] != other[1] else [other[0] + 1, *other[1:]]
    spelled = [_written(rng, value) for value in other]
    return _pair(
        f"({', '.join(_written(rng, value) for value in values)})", f"({','.join(spelled)})", equal=equal
    )


def _plus_minus(rng: random.Random) -> Pair:
    a, b = _nonzero(rng), rng.choice((2, 3, 5, 7))
    equal = rng.random() < 0.5
    both = f"{a}+\\sqrt{{{b}}}, {a}-\\sqrt{{{b}}}"
    half = f"{a}+\\sqrt{{{b}}}"
    return _pair(f"{a}\\pm\\sqrt{{{b}}}", f"\\{{{both}\\}}" if equal else half, equal=equal)


def _matrix(rng: random.Random) -> Pair:
    rows = [[rng.randint(-9, 9) for _ in range(2)] for _ in range(2)]
    other = [list(row) for row in rows]
    equal = rng.random() < 0.5
    if not equal:
        other[0][rng.randrange(2)] += rng.choice((-1, 1))
    texts = [" \\\\ ".join(" & ".join(map(str, row)) for row in table) for table in (rows, other)]
    return _pair(
        f"\\begin{{pmatrix}} {texts[0]} \\end{{pmatrix}}",
        f"\\begin{{bmatrix}}{texts[1]}\\end{{bmatrix}}",
        equal=equal,
    )


def _quantity(rng: random.Random) -> Pair:
    value = rng.randint(1, 500)
    small, large, factor = rng.choice(
        (
            ("cm", "m", 100),
            ("minutes", "hours", 60),
            ("g", "kg", 1000),
            ("cents", "dollars", 100),
            ("mL", "L", 1000),
        )
    )
    equal = rng.random() < 0.5
    right = value * factor if equal else value * factor + 1
    return _pair(f"{value}\\text{{ {large}}}", f"{right}\\,\\text{{{small}}}", equal=equal)


def _family(rng: random.Random) -> Pair:
    a, b = rng.randint(1, 5), rng.choice((2, 3, 4, 6))
    equal = rng.random() < 0.5
    shift = rng.choice((-2, -1, 1, 2)) * b * 2
    truth = f"x=\\frac{{{a}\\pi}}{{{b}}}+2k\\pi, k\\in\\mathbb{{Z}}"
    step = "2n\\pi" if equal else "n\\pi"
    return _pair(truth, f"\\frac{{{a + shift}\\pi}}{{{b}}}+{step}, n \\in \\mathbb{{Z}}", equal=equal)


def _ratio(rng: random.Random) -> Pair:
    a, b, k = rng.randint(2, 9), rng.randint(10, 30), rng.randint(2, 5)
    equal = rng.random() < 0.5
    return _pair(f"{a}:{b}", f"{a * k}:{b * k}" if equal else f"{b * k}:{a * k}", equal=equal)


def _congruence(rng: random.Random) -> Pair:
    modulus = rng.randint(3, 30)
    residue = rng.randrange(modulus)
    equal = rng.random() < 0.5
    other = residue + modulus * rng.randint(1, 4) + (0 if equal else 1)
    return _pair(
        f"x \\equiv {residue} \\pmod{{{modulus}}}",
        f"x\\equiv{other}\\ (\\text{{mod }} {modulus})",
        equal=equal,
    )


def _assignments(rng: random.Random) -> Pair:
    x, y = rng.sample(range(-20, 20), 2)
    equal = rng.random() < 0.5
    first, second = (x, y) if equal else (y, x)
    answer = rng.choice(
        (f"y={second},\\ x={first}", f"(x,y)=({first},{second})", f"x={first} \\text{{ and }} y={second}")
    )
    return _pair(f"x={x}, y={y}", answer, equal=equal)


def _choice(rng: random.Random) -> Pair:
    letter, other = rng.sample("ABCDE", 2)
    equal = rng.random() < 0.5
    shown = letter if equal else other
    return _pair(
        letter,
        rng.choice((f"({shown})", f"\\text{{{shown}}}", f"\\textbf{{({shown})}} 17", f"{shown}.")),
        equal=equal,
    )


_MAKERS: dict[str, Callable[[random.Random], Pair]] = {
    "number": _number,
    "big number": _big,
    "polynomial": _polynomial,
    "rational function": _rational_function,
    "radical": _radical,
    "transcendental": _transcendental,
    "equation": _equation,
    "interval": _interval,
    "union": _union,
    "set": _set,
    "tuple": _tuple,
    "plus-minus": _plus_minus,
    "matrix": _matrix,
    "quantity": _quantity,
    "family": _family,
    "ratio": _ratio,
    "congruence": _congruence,
    "assignments": _assignments,
    "choice": _choice,
}


def respelled(rng: random.Random, text: str) -> str:
    """`text` with spaces, brackets and symbols written another way; its meaning stays."""
    changes: list[Callable[[str], str]] = [
        lambda t: t.replace("+", " + "),
        lambda t: t.replace("\\frac", rng.choice(("\\dfrac", "\\tfrac", "\\cfrac"))),
        lambda t: t.replace("-", "−"),
        lambda t: t.replace("\\sqrt", "\\sqrt "),
        lambda t: f"${t}$",
        lambda t: f"\\displaystyle {t}",
        lambda t: t.replace("\\cup", "∪").replace("\\pi", "π").replace("\\infty", "∞").replace("\\le ", "≤ "),
        lambda t: t.replace("\\left", "").replace("\\right", ""),
        lambda t: t.replace("=", " = "),
        lambda t: "{" + t + "}",
    ]
    for change in rng.sample(changes, rng.randint(1, 3)):
        text = change(text)
    return text if text.endswith(".") or rng.random() < 0.8 else text + "."
