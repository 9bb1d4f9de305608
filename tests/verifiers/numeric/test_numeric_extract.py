"""Where the answer stands: boxes, running text, and growth with the length of the response."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.numeric.extract import find_box, find_last_number
from verifiers.numeric.verifier import find_answer


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{42}", "42"),
        (r"boxed{42}", "42"),
        (r"\\\\boxed{42}", "42"),
        (r"\fbox{42}", "42"),
        ("\\boxed \t\n{42}", "42"),
        (r"\boxed{}", ""),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\{1\}}", r"\{1\}"),
        (r"\boxed{1 \\}", r"1 \\"),
        (r"\boxed{1}\boxed{2}", "2"),
        (r"\boxed{1}\boxed{2", "1"),
        (r"\boxed{1 \boxed{2}", "2"),
        (r"\boxed{1}\fbox{2}\boxed{3", "2"),
        (r"\boxed{\boxed{1}}", "1"),
        (r"\boxed{1} \boxed 2", "1"),
        (r"\boxed{\text{3 boxes}} or boxes", r"\text{3 boxes}"),
        (r"\boxed{3 box \boxed{4} box} boxed", "4"),
        (r"\boxed{1} unboxed{2} mybox{3} box{4} \fboxed{5}", "1"),
        (r"\boxed{1\}", None),
        (r"\boxed{1", None),
        (r"\boxed", None),
        ("three boxes { of } eggs", None),
        ("", None),
    ],
)
def test_last_complete_box(text: str, content: str | None) -> None:
    """The last box whose braces close is found, with its content."""
    span = find_box(text)
    assert (text[slice(*span)] if span else None) == content


BOX_PIECES = ["boxed", "fbox", "box", "f", "ed", "{", "}", "{1}", "\\", "\\{", "\\}", " ", "x", "3"]


def slow_box(text: str) -> tuple[int, int] | None:
    """The last complete box, by trying every opening and counting its braces."""
    for opening in reversed(list(re.finditer(r"(?<![A-Za-z])(?:boxed|fbox)[ ]*\{", text))):
        depth = 1
        for sign in re.finditer(r"\\.|[{}]", text[opening.end() :]):
            depth += {"{": 1, "}": -1}.get(sign[0], 0)
            if depth == 0:
                return opening.end(), opening.end() + sign.start()
    return None


@given(st.lists(st.sampled_from(BOX_PIECES), max_size=25).map("".join))
@settings(max_examples=50)
def test_box_search_equals_the_reference(text: str) -> None:
    """The linear search from the end finds what trying every opening finds."""
    assert find_box(text) == slow_box(text)


PROSE = {
    # plain
    "The answer is 42.": 42, "The answer is **$42**.": 42, r"It is \(42\).": 42, "<answer>42</answer>": 42,
    '{"answer": -42}': -42, "A:42": 42, "_42_": 42, "_-5_": -5, "'-5'": -5, "42...": 42, "42<|im_end|>": 42,
    r"42 \\": 42, "答案是42。": 42, "costs $1,234.50 today": Fraction("1234.5"), "$.50": Fraction(1, 2),
    "(-5)": -5, "-{5}": -5, r"-\text{5}": -5, "-(5)": -5, "€-5": -5, "-US$5": -5, "USD5": 5, "USD -5": -5,
    "= - 5": -5, "- 5": 5, "text--5": 5, "a 42-year plan": 42, "5th": 5, "Step 3: 42": 42, "5 dozen": 5,
    "1, 2, 3": 3, "5 - 6": 6, "2024 100": 100, "42[1]": 42, "42!": 42, "60km/h": 60, "45°": 45,
    r"45^\circ": 45,
    "10 20 300": 20300, "5-3=2": 2, "x=1,y=2": 2, "٤٢": 42, "42.\n\nThank you!\n": 42,
    # fractions and powers of ten
    r"-\frac{3}{4}": Fraction(-3, 4), "7 / 8": Fraction(7, 8), "2½": Fraction(5, 2), "3 1/2": Fraction(7, 2),
    r"1.2 \times 10^{-3}": Fraction("0.0012"), "5x10^3": 5000, "1.2·10⁻³": Fraction("0.0012"),
    r"so it is 1.2\, \times 10^3": 1200, "of the 7, 8, as I said, 9": 9,
    # passed over
    "42 cm^2": 42, r"42 \text{cm}^2": 42, "42 m/s^2": 42, "42 mL of H2O, as in GPT-4": 42,
    "x = 5, not x_2": 5,
    # unreadable
    "3,14": None, "1.234,56": None, "1.5.2": None, "12:30": None, "3 : 4": None, "2024-05-06": None,
    "05/06/2024": None, "5-6": None, "5–6": None, "$5-$6": None, r"\$5-\$6": None, "2+3": None, "2 + 3": None,
    "3 × 4": None, "12 ÷ 4": None, "12÷4": None, "1.e5": 100000, "42 ± 1": None, "3 x 4": None, "2^10": None,
    "2 ^ 10": None, "10^5": None, r"\times 10^5": None,
    "4²": None,
    r"\sqrt{2}": None, r"\sqrt[3]{8}": None, "√2": None, r"2\sqrt 3": None, r"2 \pi": None, "2π": None,
    "±5": None,
    r"\pm 5": None, "f(2)": None, "5(x+1)": None, "(3)^2": None, "(2x)-3": None, "x+5": None,
    r"\frac{x}{2}": None,
    r"\frac{2}{x}": None, r"\frac{1}{\frac{1}{2}}": None, r"\frac{x+1}{2}": None, r"\frac123": None,
    "3k": None,
    "1.2e": None, "$100!$": None, "3 million": None, "5 and a half": None, "3万": None, "--5": None,
    "+-5": None,
    "-(-5)": None, "1_000": None, "4\u200b2": None, "0x1F": None, "1/2/3": None, r"\binom{5}{2}": None,
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), PROSE.items())
def test_last_number_of_running_text(text: str, value: int | Fraction | None) -> None:
    """The last number is read whole, or is unreadable."""
    answer = find_answer(text)
    assert (answer.value if isinstance(answer.value, str) else Fraction(*answer.value)) == (
        "not_a_number" if value is None else value
    )


@pytest.mark.parametrize(
    "text", ["", "none", "AB42", "x^2", "x_{12}", "H2O", r"\text{cm}^2", "https://a.b/42"]
)
def test_no_number_in_running_text(text: str) -> None:
    """Words that hold digits are no numbers."""
    assert find_last_number(text) is None


def test_numbers_are_looked_for_within_reach() -> None:
    """Words with digits hide a number only if there are more than 16,384 characters of them."""
    assert find_last_number("42 " + "H2 " * 5_000) is not None
    assert find_last_number("42 " + "H2 " * 6_000) is None
    assert find_last_number("word " * 20_000 + "42" + " word" * 20_000) is not None


PIECES = [
    "42", "7", "1,000", "0.5", "3/4", r"\frac{1}{2}", "1e3", "-", "+", "$", " ", "  ", "\n", ".", ",", ":",
    "=", "(", ")",
    "{", "}", "^", "_", "*", "**", "/", "!", "%", "cm", "x", "the answer is ", r"\text{", r"\times", "10^",
    "½", "²", "π",
    "√", "\u2212", "\u200b", "٤", "€", "USD ", "\\", r"\boxed{", "million", "[1]",
]  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(TEXTS)
@settings(max_examples=50)
def test_what_stands_on_earlier_lines_does_not_matter(text: str) -> None:
    """Lines without a number before a text move the answer and change nothing."""
    before = "We think about it.\nThen we write:\n"
    answer, moved = find_answer(text), find_answer(before + text)
    assert moved.value == answer.value
    if answer.source:
        assert (moved.start, moved.end) == (answer.start + len(before), answer.end + len(before))


@given(TEXTS)
@settings(max_examples=50)
def test_short_cut_for_plain_numbers_changes_nothing(text: str) -> None:
    """A zero-width character at the end, which disables the short cut, leaves the value as it was."""
    assert find_answer(text + "\u200b").value == find_answer(text).value


@given(TEXTS)
@settings(max_examples=50)
def test_unicode_minus_is_a_minus(text: str) -> None:
    """U+2212 reads like the ASCII minus."""
    assert find_answer(text.replace("-", "\u2212")).value == find_answer(text).value


HOSTILE: dict[str, Callable[[int], str]] = {
    "unclosed boxes": lambda n: r"\boxed{" * n,
    "boxes": lambda n: r"\boxed{1}" * n,
    "words like box": lambda n: "box boxed fbox " * n,
    "spaces after boxed": lambda n: ("boxed" + " " * 50) * (n // 10),
    "braces": lambda n: "{" * n + "1" + "}" * n,
    "braces in a box": lambda n: r"\boxed{" + "{" * n + "1" + "}" * n + "}",
    "commas": lambda n: "1," * n,
    "list": lambda n: "1, " * n,
    "list in a box": lambda n: r"\boxed{" + "1, " * n + "}",
    "digits": lambda n: "1" * n,
    "digits and a letter": lambda n: "1" * n + "x",
    "digits in a box": lambda n: r"\boxed{" + "1" * n + "}",
    "groups in a box": lambda n: r"\boxed{1" + ",000" * n + "}",
    "groups with spaces": lambda n: "1" + " 000" * n,
    "points": lambda n: "1." * n,
    "exponent": lambda n: "1e" + "9" * n,
    "fences": lambda n: "```\n" * n + "1",
    "backslashes": lambda n: "\\" * n + "1" + "\\" * n,
    "backslashes in a box": lambda n: r"\boxed{1" + "\\\\" * n + "}",
    "spaces": lambda n: "1" + " " * n + "1" + " " * n,
    "fractions": lambda n: r"\frac{1}{" * n + "2" + "}" * n,
    "fraction with braces": lambda n: r"\frac" + "{" * n + "1",
    "fonts in a box": lambda n: r"\boxed{" + r"\text{" * n + "1" + "}" * n + "}",
    "units in a box": lambda n: r"\boxed{1 " + r"\text{a} cm " * n + "}",
    "label in a box": lambda n: r"\boxed{" + "x " * n + "=1}",
    "words with digits": lambda n: "H2 " * n,
    "lines with digits": lambda n: "H2\n" * n,
    "letters": lambda n: "a" * n + "1",
    "signs": lambda n: "-" * n + "1",
    "signs and brackets": lambda n: "-(" * n + "1",
    "carets": lambda n: "^" * n + "1",
    "products": lambda n: "1 x " * n,
    "thoughts": lambda n: "<think>" * n + "</think>" * n + "1",
    "zero-width": lambda n: "4\u200b2" * n,
    "other digits": lambda n: "٤ " * n,
    "other characters": lambda n: "é" * n + "²" * n,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_repetition_is_answered(kind: str) -> None:
    """100,000 repetitions end: anything quadratic would run into the time limit of the suite."""
    answer = find_answer(HOSTILE[kind](100_000))
    assert answer.source or answer.value in ("no_answer", "not_a_number")
