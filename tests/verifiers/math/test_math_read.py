"""Reading: one answer's text to its tree."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.math.describe import describe
from verifiers.math.read.answer import read_answer
from verifiers.math.read.errors import ReadError, TooLarge, UnsupportedKind
from verifiers.math.traverse import children, rebuild, walk


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("\\frac12", "(1)/(2)"),
        ("\\frac{1}2x", "(1)/(2)*x"),
        ("-x^2", "-1*(x)^(2)"),
        ("2^{-1}", "(2)^(-1)"),
        ("2^10", "(2)^(10)"),
        ("2^3^2", "(2)^((3)^(2))"),
        ("x**2", "(x)^(2)"),
        ("1/2x", "(1)/(2)*x"),
        ("a/b/c", "((a)/(b))/(c)"),
        ("\\sqrt2+\\sqrt[3]{x}", "(root(2, 2) + root(x, 3))"),
        ("√2", "root(2, 2)"),
        ("\\sin 2x\\cos y", "sin(2*x)*cos(y)"),
        ("\\sin^2 x", "(sin(x))^(2)"),
        ("\\sin^{-1} x", "asin(x)"),
        ("sinx", "sin(x)"),
        ("\\log_2 8", "log(8, 2)"),
        ("\\ln|x|", "ln(abs(x))"),
        ("|x|+2|y|", "(abs(x) + 2*abs(y))"),
        ("||x|-1|", "abs((abs(x) + -1))"),
        ("f(x+1)", "f((x + 1))"),
        ("n(n+1)", "n*(n + 1)"),
        ("5!", "factorial(5)"),
        ("\\binom{5}{2}", "binomial(5, 2)"),
        ("3\\frac12", "(3 + (1)/(2))"),
        ("3 1/2", "(3 + (1)/(2))"),
        ("2\\frac{x}{3}", "2*(x)/(3)"),
        ("0.1\\overline{6}", "1/6"),
        ("0.(3)", "1/3"),
        ("1{,}234{,}567.5", "2469135/2"),
        ("1,234", "1234"),
        ("1,23", "1, 23"),
        ("(1,234)", "(1, 234)"),
        ("32, 349", "32, 349"),
        ("101_2", "5"),
        ("1.5e-3", "3/2000"),
        ("3 x 10^8", "3*(10)^(8)"),
        ("1\\pm\\sqrt2", "(1 + +-root(2, 2))"),
        ("(1,2]", "(1, 2]"),
        ("]0,1[", "(0, 1)"),
        ("\\{1,2\\}\\cup\\{3\\}", "{1, 2} union {3}"),
        ("\\{x \\mid x>0\\}", "{x | x > 0}"),
        ("\\mathbb{R}\\setminus\\{0\\}", "R difference {0}"),
        ("x\\ne3", "x != 3"),
        ("1<x\\le 2", "1 < x <= 2"),
        ("x\\equiv3\\pmod 7", "x = 3 mod 7"),
        ("x \\equiv 3 (\\text{mod } 7)", "x = 3 mod 7"),
        ("k\\pi, k\\in\\mathbb{Z}", "k*pi where k in Z"),
        ("5\\text{ cm}^2", "5 cm^2"),
        ("90 km/h", "90 km h^-1"),
        ("10\\text{ square feet}", "10 feet^2"),
        ("\\$1,250.50", "2501/2 USD"),
        ("-\\$5", "-5 USD"),
        ("28\\%", "28 %"),
        ("30^\\circ", "30 deg"),
        ("5\\text{ red apples}", "5 red apples"),
        ("1:2:3", "1:2:3"),
        ("2:05 pm", "14:05:00"),
        ("2024-02-29", "2024-02-29"),
        ("\\text{(C)}", "C"),
        ("\\textbf{(B) } \\frac{12}{35}", "(B) (12)/(35)"),
        ("\\text{no real solutions}", "empty"),
        ("forty-two", "42"),
        ("\\text{Total cost} = 5", "total cost = 5"),
        ("(a) 3, (b) 5", "(a) 3 (b) 5"),
        ("1,2,\\ldots,n", "1, 2, ..., n"),
        ("p=5,q=2;p=7,q=2", "(p = 5, q = 2), (p = 7, q = 2)"),
        ("\\begin{cases}1 & x>0\\\\ 0 & \\text{otherwise}\\end{cases}", "1 if x > 0; 0 if otherwise"),
        ("\\begin{pmatrix}1&2\\\\3&4\\end{pmatrix}", "[1, 2; 3, 4]"),
        ("\\sum_{i=1}^{n} i^2", "sum(i: 1, n; (i)^(2))"),
        ("\\int_0^1 x^2\\,dx", "int(x: 0, 1; (x)^(2))"),
        ("４²", "(4)^(2)"),
        ("½", "(1)/(2)"),
        ("x₁+x₂", "(x_1 + x_2)"),
    ],
)  # fmt: skip
def test_text_is_read_as_this_tree(text: str, tree: str) -> None:
    """Every spelling has one reading."""
    assert describe(read_answer(text)) == tree


@pytest.mark.parametrize(
    "text",
    ["", "(", "1+", "\\frac{1}", "x=", "(1,2", "4\u200b2", "@", "3.14159\\ldots", "5 if x>0, otherwise 6",
     "42 not", "\\begin{pmatrix}1&2\\\\3\\end{pmatrix}", "[1)", "12_2", "import os; 1", "0.5e5\\overline{3}",
     "1.5e3(2)", "binom(5)", "binom{5}", "log(1,2,3)"],
)  # fmt: skip
def test_what_is_no_answer_is_refused(text: str) -> None:
    """Nothing is read into text outside the grammar, hedges included."""
    with pytest.raises(ReadError):
        read_answer(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("(" * 500 + "1" + ")" * 500, TooLarge),
        ("\\frac{1}{" * 300 + "1" + "}" * 300, TooLarge),
        ("x" + "!" * 500, TooLarge),
        ("1" + "/2" * 500, TooLarge),
        ("x" + "^2" * 500, TooLarge),
        ("1" * 5_000, TooLarge),
        ("1e99999", TooLarge),
        ("1+" * 20_000 + "1", TooLarge),
        ("2H_2 + O_2 \\rightarrow 2H_2O", UnsupportedKind),
        ("the claim holds for all graphs because every edge has two ends and so on", UnsupportedKind),
    ],
)
def test_limits_and_refused_kinds_have_their_own_faults(text: str, fault: type[ReadError]) -> None:
    """Too large and unsupported are told apart from unreadable."""
    with pytest.raises(fault):
        read_answer(text)


_PIECES = st.sampled_from(
    [
        "x",
        "1",
        "2.5",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "\\{",
        "\\}",
        "|",
        ",",
        ";",
        ":",
        "+",
        "-",
        "*",
        "/",
        "^",
        "_",
        "=",
        "<",
        "\\le",
        "\\frac",
        "\\sqrt",
        "\\sin",
        "\\text{",
        "a}",
    ]
)


@settings(max_examples=200)
@given(st.one_of(st.text(max_size=60), st.lists(_PIECES, max_size=20).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text raises anything but `ReadError`."""
    try:
        node = read_answer(text)
    except ReadError:
        return
    assert describe(node)


@settings(max_examples=100)
@given(st.lists(_PIECES, max_size=12).map(" ".join))
def test_rebuilding_with_nothing_changed_gives_the_same_tree(text: str) -> None:
    """`rebuild` and `children` see every part of every kind."""
    try:
        node = read_answer(text)
    except ReadError:
        return
    assert rebuild(node, lambda child: child) == node
    assert len(walk(node)) == 1 + sum(len(walk(child)) for child in children(node))


@pytest.mark.parametrize("text", ["0.5 . (2", "0.5.(3)", "1.2.\\overline{3}", "0.5.\\overline{3}"])
def test_number_with_a_second_point_is_refused(text: str) -> None:
    """Two points make no number, whatever comes after them."""
    with pytest.raises(ReadError):
        read_answer(text)
