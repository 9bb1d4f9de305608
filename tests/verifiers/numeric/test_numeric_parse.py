"""Text to exact numbers: tables of notations, and a slow reference over generated ones."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.numeric.answer import read_answer
from verifiers.numeric.grammar import SUPERSCRIPT, VULGAR
from verifiers.numeric.parse import MAX_DIGITS, MAX_EXPONENT

READ: dict[str, int | str] = {
    " 42 ": 42, "+42": 42, "\u221242": -42, "\u20135": -5, "- 5": -5, "-(5)": -5, r"\left(5\right)": 5,
    "{{42}}": 42,
    r"\text{ 42 }": 42, r"{\bf 42}": 42, r"\mathbf{-42}": -42, r"-\mathbf{42}": -42,
    r"\textcolor{red}{42}": 42,
    r"\displaystyle\frac{1}{2}": "1/2", "**42**": 42, '"42"': 42, r"\(42\)": 42, "$42$": 42,
    r"\boxed{42}": 42,
    "007": 7, ".5": "0.5", "5.": 5, "0.5.": "0.5", "1,000.5": "1000.5", r"1\,234.5": "1234.5", "1~000": 1000,
    "1\u2019000": 1000, "1\u00a0000": 1000, "12,34,567": 1234567, "1{,}000{,}000": 1000000,
    r"1{,}\!000": 1000,
    "1.2E+3": 1200, "1.2e-3": "0.0012", "1.e5": 100000, r"1.2\times 10^{ 3 }": 1200,
    r"3 \times {10}^{8}": 300000000,
    "3*10**8": 300000000,
    "3 x 10^(-2)": "0.03", "1.2·10⁻³": "0.0012", "1e0000000005": 100000,
    r"\\frac{1}{2}": "1/2", r"\frac 1 2": "1/2", r"\frac1{2}": "1/2", r"\frac{1}2": "1/2",
    r"\frac{1}{-2}": "-1/2",
    r"\frac{\text{1}}{2}": "1/2", r"\frac{{1,000}}{{3}}": "1000/3", r"\frac{1.5}{2}": "3/4", "1 / 2": "1/2",
    "1/-2": "-1/2",
    "1 1/2": "3/2", r"-2\frac{1}{2}": "-5/2", "2 ½": "5/2", "1 100/200": "3/2", "1⁄2": "1/2",
    r"-\$5": -5, r"\$-5": -5, r"US\$42": 42, "Rs. 500": 500, r"\text{\$}42": 42, r"\mathrm{USD}~42": 42,
    "42 USD": 42,
    "5€": 5, r"3.50\$": "3.5", "x = -5": -5, "f(x) = 5": 5, "x_1 = 5": 5, r"\theta \approx 5": 5, "= 5": 5,
    r"\angle ABC = 45^\circ": 45, r"\text{Area = }5": 5, r"\text{Answer: }42": 42, "The answer is 42": 42,
    "42cm": 42, "42 m": 42, r"42\,m": 42, r"42\text{m}": 42, r"42 \mathrm{~m/s^2}": 42, "42 cm^{2}": 42,
    "42 cm²": 42,
    "42 square feet": 42, r"42^{\circ}\text{C}": 42, "42°C": 42, "42%": 42, r"\frac{3}{7}\%": "3/7",
    "42 percent.": 42, r"5\frac{\text{m}}{\text{s}}": 5, "42元": 42, "42 км": 42, "3 x": 3,
    "1e3 m": 1000,
    "４２": 42, "٤٢": 42, "۴۲": 42, "४२": 42, "𝟒𝟐": 42, "−１，０００．５": "-1000.5",
}  # fmt: skip
UNREADABLE = {
    "no_answer": ["", " ", r"\ ", "$$", r"\text{}", "\u200b", "{}", "**"],
    "not_a_number": [
        "x", "five", r"\text{none}", "inf", "-inf", "nan", "NaN", r"\infty", "i", "3i", "3k", "3x", "5e",
        "1e+", "1.5e3.5",
        "1,0000", "1,00", "0,123", ",5", "1.000,5", "1.000.000", "1_000", "1,5", "0x1F", "42,", "10^5",
        "2^{100000}", "100!",
        r"\sqrt{2}", r"3\sqrt{2}", r"2\pi", r"2 \pi", "2π", "2pi", "5 squared", "5 million",
        r"5\text{ hundred}", "3万",
        "3 and a half", "5 or more", "--5", "+-5", "-(-5)", r"-\$-5", "[42]", r"\{42\}", "(42", "42)", "4²",
        "④", "4\u200b2",
        r"\frac{a}{b}", r"\frac{\frac{1}{2}}{3}", r"\frac{1}{2}x", r"2\frac{5}{2}", "3 10/2", "1/2/3", "5-6",
        "5 - 6", "5+3",
        "2+3=5", "3:4", "12:30", "05/06/2024", r"x \ne 5", "x != 5", r"x \not= 5", "x >= 5", "a:5",
        r"\text{-}42",
        r"\text{less than }42", r"0.\overline{3}", "0.333...", "#### 42", "42 - cm", "{42", "1\u200b000",
        "√2", "１½²",
    ],
    "several_values": ["41 or 42", r"41 \text{ or } 42", "1, 2", "(1, 2)", "1;2", "1 2", "1 to 2", r"\pm 5",
    "±5", "x=5, y=7"],
    "zero_denominator": ["1/0", "0/0", r"\frac{1}{0}", "1/0.0", "1 1/0", "-1/0"],
    "number_too_large": ["9" * (MAX_DIGITS + 1), "1e10001", "1e-10001", "1e" + "9" * 9999,
    r"\frac{1}{" + "9" * 5000 + "}"],
}  # fmt: skip


@pytest.mark.parametrize(("text", "value"), READ.items())
def test_notation_is_read(text: str, value: int | str) -> None:
    """Each accepted notation has its value."""
    number = read_answer(text)
    assert not isinstance(number, str), number
    assert Fraction(*number) == Fraction(value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [(text, reason) for reason, texts in UNREADABLE.items() for text in texts],
    ids=lambda value: value[:30],
)
def test_anything_else_is_refused_with_its_reason(text: str, reason: str) -> None:
    """What is not one number has a reason and no value."""
    assert read_answer(text) == reason


@pytest.mark.parametrize(
    ("text", "numerator", "denominator"),
    [
        ("9" * MAX_DIGITS, 10**MAX_DIGITS - 1, 1),
        ("0" * 9000 + "7", 7, 1),
        ("0." + "3" * (MAX_DIGITS - 1), (10 ** (MAX_DIGITS - 1) - 1) // 3, 10 ** (MAX_DIGITS - 1)),
        (f"1e{MAX_EXPONENT}", 10**MAX_EXPONENT, 1),
        (f"1e-{MAX_EXPONENT}", 1, 10**MAX_EXPONENT),
        ("9" * MAX_DIGITS + "/" + "7" * MAX_DIGITS, 9, 7),
    ],
    ids=["digits", "leading zeros", "places", "exponent", "negative exponent", "fraction"],
)
def test_large_numbers_are_exact(text: str, numerator: int, denominator: int) -> None:
    """Up to the limits nothing is rounded."""
    number = read_answer(text)
    assert not isinstance(number, str), number
    assert number[0] * denominator == numerator * number[1]


# A slow reference: texts made together with the `Fraction` they mean.
Written = tuple[str, Fraction]
SMALL = st.integers(0, 10**7)
GROUPING = st.sampled_from([",", "{,}", r"\,", r",\!", "'", " ", "\u202f", "~"])


def grouped(number: int, separator: str) -> str:
    """`number` with its thousands set off by `separator`."""
    return f"{number:,}".replace(",", separator)


INTEGERS: st.SearchStrategy[Written] = SMALL.map(lambda n: (str(n), Fraction(n))) | st.builds(
    lambda n, separator: (grouped(n, separator), Fraction(n)), SMALL, GROUPING
)
DECIMALS: st.SearchStrategy[Written] = st.builds(
    lambda whole, part: (f"{whole[0]}.{part}", whole[1] + Fraction(int(part), 10 ** len(part))),
    INTEGERS,
    st.text("0123456789", min_size=1, max_size=8),
)
POWERS = [
    "e{}", "E{}", r"\times10^{{{}}}", r" \cdot 10^{{{}}}", "×10^{}", " x 10^{}", "*10**{}", "·10^({})",
]  # fmt: skip
SCIENTIFIC: st.SearchStrategy[Written] = st.builds(
    lambda mantissa, power, form: (mantissa[0] + form.format(power), mantissa[1] * Fraction(10) ** power),
    DECIMALS,
    st.integers(-30, 30),
    st.sampled_from(POWERS),
) | st.builds(
    lambda mantissa, power: (
        f"{mantissa[0]}×10{str(power).translate({value: key for key, value in SUPERSCRIPT.items()})}",
        mantissa[1] * Fraction(10) ** power,
    ),
    DECIMALS,
    st.integers(-9, 9),
)
FRACTIONS: st.SearchStrategy[Written] = st.builds(
    lambda n, d, form: (form.format(n, d), Fraction(n, d)),
    SMALL,
    st.integers(1, 999),
    st.sampled_from(
        ["{}/{}", "{} / {}", r"\frac{{{}}}{{{}}}", r"\dfrac {{{}}} {{{}}}", r"\\tfrac{{{{{}}}}}{{{}}}"]
    ),
) | st.sampled_from([(text, Fraction(*value)) for text, value in VULGAR.items()])
MIXED: st.SearchStrategy[Written] = st.builds(
    lambda whole, n, over, form: (form.format(whole, n, n + over), whole + Fraction(n, n + over)),
    st.integers(0, 999),
    st.integers(1, 99),
    st.integers(1, 99),
    st.sampled_from(["{} {}/{}", r"{}\frac{{{}}}{{{}}}", r"{} \dfrac{{{}}}{{{}}}"]),
)
NUMBERS = INTEGERS | DECIMALS | SCIENTIFIC | FRACTIONS | MIXED
SIGNS = st.sampled_from([("", 1), ("+", 1), ("-", -1), ("\u2212", -1)])
SIGNED: st.SearchStrategy[Written] = st.builds(
    lambda sign, number: (sign[0] + number[0], sign[1] * number[1]), SIGNS, NUMBERS
)
AROUND = [
    "{}", " {} ", "{{{}}}", r"\text{{{}}}", r"\mathbf{{ {} }}", "${}$", "({})", r"\({}\)", "**{}**",
    "\u200b{}\ufeff",
    "{}.", r"{}\%", r"{} \text{{ cm}}", "{} km/h", "{} m", r"\${}", "x = {}", r"\text{{The answer is }} {}",
    r"{}^\circ",
]  # fmt: skip


@given(SIGNED, st.sampled_from(AROUND))
@settings(max_examples=50)
def test_reading_equals_the_reference(number: Written, around: str) -> None:
    """Any number of the grammar, in any surroundings, has the value it was written from."""
    text, value = number
    read = read_answer(around.format(text))
    assert not isinstance(read, str), read
    assert Fraction(*read) == value


@given(
    NUMBERS,
    NUMBERS,
    st.sampled_from(["+", "-", "^", " + ", "!", ":", "_", "\u200b", r"\sqrt", r"\pi", "=", "?"]),
)
@settings(max_examples=50)
def test_two_numbers_are_never_one(one: Written, other: Written, between: str) -> None:
    """Two numbers with something between that is no grammar are not read as any number."""
    assert isinstance(read_answer(one[0] + between + other[0]), str)
