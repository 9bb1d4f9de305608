"""The names the grammar knows: functions, constants, Greek letters, connectives."""

from __future__ import annotations

from typing import Literal

FUNCTIONS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "tg": "tan", "cot": "cot", "ctg": "cot", "cotg": "cot",
    "sec": "sec", "csc": "csc", "cosec": "csc", "arcsin": "asin", "asin": "asin", "arccos": "acos",
    "acos": "acos", "arctan": "atan", "arctg": "atan", "atan": "atan", "arccot": "acot", "acot": "acot",
    "arcsec": "asec", "asec": "asec", "arccsc": "acsc", "acsc": "acsc", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "coth": "coth", "sech": "sech", "csch": "csch", "arsinh": "asinh", "arcsinh": "asinh",
    "asinh": "asinh", "arcosh": "acosh", "arccosh": "acosh", "acosh": "acosh", "artanh": "atanh",
    "arctanh": "atanh", "atanh": "atanh", "ln": "ln", "log": "log", "lg": "lg", "exp": "exp", "erf": "erf",
    "sqrt": "sqrt", "cbrt": "cbrt", "abs": "abs", "floor": "floor", "ceil": "ceil", "ceiling": "ceil",
    "sgn": "sign", "sign": "sign", "gcd": "gcd", "lcm": "lcm", "min": "min", "max": "max", "det": "det",
    "Re": "re", "Im": "im", "factorial": "factorial", "binom": "binomial", "binomial": "binomial",
    "conj": "conjugate", "arg": "arg", "tr": "trace", "cis": "cis",
}  # fmt: skip

INVERSES = {
    "sin": "asin", "cos": "acos", "tan": "atan", "cot": "acot", "sec": "asec", "csc": "acsc",
    "sinh": "asinh", "cosh": "acosh", "tanh": "atanh",
}  # fmt: skip

CONSTANTS: dict[str, Literal["pi", "e", "i", "oo"]] = {
    "pi": "pi", "e": "e", "i": "i", "infty": "oo", "infinity": "oo", "inf": "oo", "oo": "oo", "imath": "i",
}  # fmt: skip

GREEK = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "vartheta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "varrho",
        "sigma",
        "varsigma",
        "tau",
        "upsilon",
        "phi",
        "varphi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
        "ell",
        "hbar",
        "aleph",
        "partial",
        "nabla",
    ]
)

GREEK_SPELLINGS = {"varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho"}

SETS = {
    "R": "R", "Z": "Z", "N": "N", "Q": "Q", "C": "C", "reals": "R", "integers": "Z",
    "Reals": "R", "Integers": "Z", "rationals": "Q", "naturals": "N",
}  # fmt: skip

CONNECTIVES = {"and": "and", "or": "or", "And": "and", "Or": "or", "AND": "and", "OR": "or"}

CONDITION_WORDS = frozenset(
    ["where", "for", "if", "when", "with", "given", "while", "whenever", "provided", "such", "assuming", "in"]
)

FILLER_WORDS = frozenset(
    [
        "that",
        "is",
        "are",
        "an",
        "a",
        "the",
        "all",
        "any",
        "every",
        "each",
        "some",
        "both",
        "either",
        "be",
        "let",
        "any",
    ]
)
"""Words inside a condition that carry nothing: `for all x > 0`, `where n is an integer`."""

HEDGES = frozenset(
    [
        "not",
        "maybe",
        "perhaps",
        "probably",
        "possibly",
        "approximately",
        "about",
        "roughly",
        "unless",
        "except",
        "wrong",
        "incorrect",
        "guess",
        "than",
        "otherwise",
        "but",
        "however",
        "instead",
    ]
)
"""Words behind a value that take it back or leave it open: no answer."""

PART_WORDS = frozenset((
    "halves", "thirds", "fourths", "fifths", "sixths", "sevenths", "eighths", "ninths", "tenths",
    "hundredths", "thousandths", "squared", "cubed",
))  # fmt: skip
"""Words behind a number that make it another one."""

DOMAIN_WORDS = {
    "integer": "Z", "integers": "Z", "real": "R", "reals": "R", "rational": "Q", "natural": "N",
    "positive": "+", "negative": "-", "nonnegative": "0+", "nonzero": "*", "number": "", "numbers": "",
    "odd": "odd", "even": "even", "non": "non", "arbitrary": "", "constant": "constant",
    "constants": "constant",
    "whole": "N", "complex": "C",
}  # fmt: skip

FUNCTION_LETTERS = frozenset("fghFGH")
"""Letters that are functions when a bracket follows them directly: f(x)."""
