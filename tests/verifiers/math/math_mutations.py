"""Random answers and responses for the fuzz and metamorphic tests, reproducible from a seed."""

from __future__ import annotations

import random

PIECES = [
    "x",
    "y",
    "n",
    "k",
    "a",
    "b",
    "0",
    "1",
    "2",
    "10",
    "0.5",
    "1,000",
    "3/4",
    "\\frac{1}{2}",
    "\\frac12",
    "\\sqrt{2}",
    "\\sqrt[3]{x}",
    "\\pi",
    "e",
    "i",
    "\\infty",
    "+",
    "-",
    "*",
    "/",
    "^",
    "_",
    "!",
    "%",
    "'",
    "(",
    ")",
    "[",
    "]",
    "\\{",
    "\\}",
    "{",
    "}",
    "|",
    ",",
    ";",
    ":",
    ".",
    "=",
    "<",
    ">",
    "\\le",
    "\\ge",
    "\\ne",
    "\\in",
    "\\cup",
    "\\setminus",
    "\\pm",
    "\\mp",
    "\\times",
    "\\cdot",
    "\\sin",
    "\\ln",
    "\\log_2",
    "\\text{and}",
    "\\text{",
    "cm}",
    "\\mathbb{R}",
    "\\mathbb{Z}",
    "\\ldots",
    "\\begin{pmatrix}",
    "\\end{pmatrix}",
    "&",
    "\\\\",
    "\\begin{cases}",
    "\\end{cases}",
    "\\boxed{",
    "$",
    "\\left(",
    "\\right)",
    "\\overline{3}",
    "^\\circ",
    "\\sum_{k=1}^{n}",
    "\\int_0^1",
    "dx",
    "\\pmod{7}",
    "where",
    "for",
    "or",
    "and",
    "yes",
    "no",
    "solution",
    "(A)",
    "12:30",
    "9^{9^9}",
    "100!",
    "\\binom{5}{2}",
    "f(x)",
    "x_1",
    "cm",
    "km/h",
    "\\$",
    "€",
    "²",
    "√",
    "½",
    "−",
    "×",
    "∞",
    "∪",
    "\u200b",
    "４",
    "10^{400}",
    "1e5",
    "<answer>",
    "</answer>",
    "####",
    "**7**",
    "<think>",
    "</think>",
    "\\frac{1}{0}",
    "\\sqrt{-1}",
    "\\arcsin(2)",
    "a^b",
]

_CHARACTERS = "".join(PIECES) + "abcXYZ0123456789 \t\n\\{}[]()^_$&#%~\u0000\ud800é漢"


def answer(rng: random.Random) -> str:
    """A string of pieces of mathematics, mostly nonsense."""
    return rng.choice(("", " ")).join(rng.choice(PIECES) for _ in range(rng.randint(1, 14)))


def expression(rng: random.Random, depth: int = 3) -> str:
    """A well-formed expression."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("x", "y", "n", "2", "3", "7", "0.5", "\\pi", "e", "i", "12", "\\frac{2}{3}"))
    a, b = expression(rng, depth - 1), expression(rng, depth - 1)
    forms = (
        f"{a}+{b}", f"{a}-{b}", f"({a})({b})", f"\\frac{{{a}}}{{{b}}}", f"({a})^{{{b}}}", f"\\sqrt{{{a}}}",
        f"\\sin({a})", f"\\ln({a})", f"|{a}|", f"({a})!", f"\\sqrt[3]{{{a}}}", f"e^{{{a}}}", f"\\arctan({a})",
        f"\\lfloor {a} \\rfloor", f"\\log_{{2}}({a})", f"\\sum_{{k=1}}^{{5}} ({a})k",
    )  # fmt: skip
    return rng.choice(forms)


def structure(rng: random.Random) -> str:
    """A well-formed answer of any kind."""
    a, b, c = (expression(rng, 2) for _ in range(3))
    forms = (
        a, f"\\{{{a}, {b}\\}}", f"({a}, {b})", f"[{a}, {b})", f"{a}, {b}, {c}", f"x = {a}",
        f"{a} < x \\le {b}",
        f"x = {a} \\text{{ or }} x = {b}", f"(-\\infty, {a}) \\cup [{b}, \\infty)", f"{a} : {b}",
        f"\\begin{{pmatrix}} {a} & {b} \\\\ {c} & 1 \\end{{pmatrix}}", f"{a} \\pm {b}", f"{a} \\text{{ cm}}",
        f"x \\equiv {a} \\pmod{{{b}}}", f"{a} + 2k\\pi, k \\in \\mathbb{{Z}}", f"y = {a}x + {b}",
        f"{a}x^2 + {b} = {c}",
        f"(a) {a} (b) {b}", f"\\begin{{cases}} {a} & x > 0 \\\\ {b} & x \\le 0 \\end{{cases}}", f"{a}\\%",
        f"{a}^\\circ",
    )  # fmt: skip
    return rng.choice(forms)


def mutated(rng: random.Random, text: str) -> str:
    """`text` with a few characters or pieces put in, taken out, doubled or swapped."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(5):
            case 0:
                text = text[:at] + rng.choice(_CHARACTERS) + text[at:]
            case 1:
                text = text[:at] + text[at + 1 :]
            case 2:
                text = text[:at] + rng.choice(PIECES) + text[at:]
            case 3:
                text = text[:at] + text[at : at + 8] * rng.randint(1, 3) + text[at + 8 :]
            case 4:
                text = text[at:] + text[:at]
    return text


def response(rng: random.Random) -> str:
    """A whole response around an answer."""
    maker = rng.choice((answer, expression, structure))
    text = maker(rng)
    if rng.random() < 0.5:
        text = mutated(rng, text)
    wrapped = (
        f"\\boxed{{{text}}}", f"The answer is ${text}$.", text, f"<answer>{text}</answer>", f"#### {text}",
        f"so **{text}**", f"\\boxed{{{text}}} and \\boxed{{{text}}}", f"<think>hm {text}",
    )  # fmt: skip
    return rng.choice(wrapped)


def truth(rng: random.Random) -> str:
    """A ground truth, mostly well formed."""
    return rng.choice((structure, structure, expression, answer))(rng)
