"""Words and signs around a number: what measures or names it, and what says something else."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verifiers.numeric.answer import read_answer
from verifiers.numeric.verifier import find_answer
from verifiers.numeric.words import NO_LABEL, NO_UNIT, SHORT_UNITS, is_no_unit

MEASURED = [
    # words set off by a space
    "42 apples", "42 dollars", "42 dollars per day", "42 dollars a day", "42 square meters",
    "42 cubic feet", "42 more apples", "42 people are left", "42 miles per hour", "42 light-years",
    "42 boys' hats", "42 dozen", "42 quarters", "42 seconds", "42 times", "42 times.", "42 min",
    "42 mins", "42 sec", "42 degrees Celsius", "42 sq. ft.", "42 in.", "42 points", "42 percent",
    "42 USD", "42 meters squared", "42 parts", "42 x", "42 m", "42 C", "42 N m", "42 m s^{-1}",
    "42 cm^2", "42 cm^{-1}", "42 m²", "42 s⁻¹", "42 km / h", "42 m/s", "42 m/s^2", "42 kWh",
    "42 minutes of walking", "42 ways", "42 billiards", "42 millionaires", "42 medallions", "42 mm",
    "42 mA", "42 Ω", "42 kΩ", "42 µm", "42 км", "42 штук", "42 años", "42 Stück", "42 élèves",
    # glued
    "42cm", "42kg", "42km", "42ml", "42ft", "42mm", "42mg", "42hr", "42km/h", "42min", "42lbs", "42%",
    "42USD", "42mph", "42pts", "42km²", "42eggs", "42dollars", "42rd", "42°", "42°C", "42个", "42元",
    "42個", "42개",
    # commands
    r"42\text{ square meters}", r"42\text{m}", r"42 \text{ cm}^2", r"42 \text{ km/h}",
    r"42\text{ m/s}^2", r"42\,\mathrm{m}\cdot\mathrm{s}^{-1}", r"42\text{ N·m}",
    r"42 \text{ dollars per day}", r"42\text{ \$}", r"42\text{ cm}^{2}", r"42\,\text{m}/\text{s}",
    r"42\mathrm{~kg}", r"42\text{ people.}", r"42^\circ", r"42^\circ\text{C}", r"42^{\circ} F", r"42\%",
    r"42\text{%}", r"42\text{ \%}", r"42\text{}", r"42\text{.}", r"42\frac{\text{m}}{\text{s}}",
    r"42\operatorname{cm}", r"42\text{ min}", r"\text{42 apples}", r"\$42",
    # characters of no width
    "42\ufe0f", "4\ufe0f", "\u206042\u2060", "42\u200d", "42\ufe0f\ufe0f", "\u061c42", "42\u180e",
]  # fmt: skip
"""Each is the number it begins with."""

NOT_MEASURED = [
    # signs that are no units
    r"2\text{½}", r"2\text{·½}", r"2\text{²}", r"2\text{!}", r"2\text{√}", r"2 \text{π}", r"2\text{三}",
    r"2\text{Ⅳ}", r"2\text{*x}", r"2\text{(x)}", r"2\text{-x}", r"2\text{ / three}", r"2\text{/x}",
    r"2\text{^2}", r"2\text{ ^2}", r"2\text{₂}", r"2\text{⅓}", r"2\text{+x}", r"2\text{=x}",
    r"2\text{:x}", r"2\text{∞}", r"2\text{‰½}", r"2\text{①}", r"2\text{, x}", r"2\text{×y}",
    r"2\text{÷y}", r"2\text{cm(x)}", r"2 π", r"2 √", r"2\text{ II}", r"2 iv", r"2 x^2", r"2\text{x}^2",
    "2 x y", "2 x/y", "2 cm/x", "2 a b", "2 αβ xy", "2 cm + x", "2° x", "2 m x",
    # products
    "3xy", "3ab", "3pq", "3xyz", "3abc", "3XY", "3x", "3AB", "3mn", "3αβ", "3pq^2", "3xy/z",
    # hedges
    r"2\text{, or three}", r"2\text{ vs. three}", r"42 \text{ but perhaps forty-three}",
    "42 but maybe forty three", "42 apples or so", "42 or more", "42 apples and pears", "42 maybe",
    "42 cm maybe", "42 perhaps", "42 not", "42 apples, not pears", "42 approximately",
    r"42\text{ approx.}", "42 at least", "42 at most", "42 I guess", "42 ish", "42ish",
    "42 apples versus pears", "42 to forty-three", "42 is wrong", "42 isn't it", "42 if lucky",
    "42 unless", "42 apples rather", "42 probably", "42 possibly", "42 wait", "42 hmm", "42 oder mehr",
    "42 ou plus", "42 или больше", "42或", "42 nicht", "42 apples minus some", "42 times x", "42 plus x",
    "42 over x", "42 divided by x", "42 below zero", "42 apples except one", "42 nor", "42 about",
    "42 apples then forty",
    # scales and parts
    "42 quadrillion", "42 bn", "42 mio", "42 Mrd", "42 mil", "42 tenths", "3 halves", "42 half",
    "42 million", "42 millions", "42 Millionen", "42 milliard", "42 trillion", "42 thousand",
    "42 Tausend", "42 hundred", "42 hundredths", "42 thousandths", "42 mln", "42 lakh", "42 lakhs",
    "42 crore", "42 crores", "42 grand", "42 zillion", "42 billionths", "42 millones", "42 milhões",
    "42 млн", "42 тысяч", "42 миллионов", "42万", "42亿", "42 億", "42만", "42 억", "42千",
    r"42\text{ million}", r"42\text{ bn}", r"42\text{ Mio.}", "42 thirds", "42 fifths", "42 Drittel",
    "42 viertel", "42 demi", "42 tiers", "42半", "42倍", "42bn", "42tn", "42mn", "42mio", "42mil",
    "42 million dollars", "42 half-hours", "42 dozen million", "42 squared", "42 cubed",
    # number words, functions
    "2 three", "2 point five", "42 one", "42 forty-three", "2 drei", "2 deux", "2 два", "2 arctan",
    "2 sinh", "42 max", r"42 \operatorname{arctan}", r"42\operatorname{max}", r"42\operatorname{min}",
    "2 tan", "2 ln", "2 log", "2 lim", r"2\arctan", r"2\min", r"2\lim", r"2\text{ sin}", "2 mod", "2 pi",
    "2 factorial", "2 sqrt", "2 choose", "2 base", "2 infinity", "2 recurring", "5 remainder", "2 exp",
    "2 gcd", "2 sup", r"2\operatorname{sec}",
]  # fmt: skip
"""None is the number it begins with."""

NAMED = [
    "x = 42", "= 42", "Answer: 42", "the answer is 42", r"\text{Total cost} = 42", r"\text{Answer: }42",
    "f(x) = 42", "x_1 = 42", r"\theta = 42", "The sum of x and y = 42", "area under the curve = 42",
    "greater number: 42", "the smaller is 42", "least common multiple = 42", "My guess: 42",
    r"x \approx 42", "more apples: 42", "maximum = 42", "the third side is 42", "x' = 42",
]  # fmt: skip
MISNAMED = [
    "not = 42", "anything but = 42", "less than: 42", "more than is 42", "negative is 42", r"\ne 42",
    r"x \ne 42", r"x\neq 42", "at most = 42", "at least: 42", "about = 42", "about: 42",
    "approximately is 42", "never is 42", "isn't = 42", r"\text{not }= 42", r"\text{less than} = 42",
    "the answer is not = 42", "none: 42", "neither = 42", "x != 42", "x <> 42", "x > 42", "x < 42",
    r"x \ge 42", "minus: 42", "roughly: 42", "maybe: 42", "perhaps is 42", "wrong: 42",
    "incorrect answer: 42", "false = 42", "if x = 42", "unless x = 42", "greater than = 42", "half = 42",
    "twice x is 42", "x or y = 42", "nicht = 42", "not x: 42", "nothing but is 42", "cannot = 42",
    "other than: 42", "can't be: 42", "ain't = 42", "almost = 42", "around: 42", "no = 42",
    r"\neg x = 42", "x == 42", r"\not= 42", "The answer is approximately 42", "2x = 42", "-x = 42",
    "x + y = 42", r"\log x = 42", "Not: 42",
]  # fmt: skip


@pytest.mark.parametrize("text", MEASURED)
def test_units_measure_the_number(text: str) -> None:
    """An ordinary unit or noun leaves the number as it is."""
    digits = "4" if text == "4\ufe0f" else "42"
    assert read_answer(text) == (int(digits), 1)


@pytest.mark.parametrize("text", NOT_MEASURED)
def test_what_is_no_unit_is_refused(text: str) -> None:
    """A number beside anything but a unit is not that number."""
    assert read_answer(text) in ("not_a_number", "several_values")


@pytest.mark.parametrize("text", NAMED)
def test_labels_name_the_number(text: str) -> None:
    """A label says what the number is of."""
    assert read_answer(text) == (42, 1)


@pytest.mark.parametrize("text", MISNAMED)
def test_labels_that_deny_or_compare_are_refused(text: str) -> None:
    """A label that denies, doubts, compares or changes the number leaves no answer."""
    assert read_answer(text) == "not_a_number"


PROSE_READ = [
    "It weighs 42kg", "It takes 42 min", "It is 42km/h now", "He has 42 quarters", "the 42nd",
    "it costs 42USD", "42 third graders came", "It is 42 log cabins", "42mph it is",
    r"It is 42\text{ cm}", "It is $42$ dollars", "It is **42** apples", "42 or maybe more", "42 mL",
    "4\ufe0f it is", "It is 42\ufe0f", r"$42 \text{ km/h}$",
]  # fmt: skip
PROSE_REFUSED = [
    "so we get 3xy", "so it is 3ab.", "it is 42 quadrillion", "it is 42 bn", "it is 3 halves",
    "it is 42 Mrd", "it is 42bn", "it is 42-million", "it is $42$ million", "it is **42** million",
    r"it is 42\text{ million}", r"it is 2\text{½x}", r"it is 2 \text{π}", "it is 2 squared",
    "it is 2 arctan", r"it is 2\sinh x", r"it is 2\operatorname{arctan} x", "it is 5^", "5^", "$5^$",
    "it is 5^{", r"it is 2\max", "it is 42 tenths", "42 млн", "it is 2pi", "42 half", r"2\text{²}",
    r"2\text{*x}", "it is 5million", r"it is 42~\text{thousand}", "42 hundred", "42万", "it is 2 sin x",
    r"2\,\text{√}",
]  # fmt: skip


@pytest.mark.parametrize("text", PROSE_READ)
def test_units_in_running_text(text: str) -> None:
    """In running text too an ordinary word after the number leaves it as it is."""
    assert find_answer(text).value == ((4, 1) if text[1] == "\ufe0f" else (42, 1))


@pytest.mark.parametrize("text", PROSE_REFUSED)
def test_continued_numbers_in_running_text_are_unreadable(text: str) -> None:
    """A scale, a part, a power, a function or a product is no number on its own."""
    assert find_answer(text).value == "not_a_number" or find_answer(text).start > text.index("2")


@given(
    st.sampled_from(sorted(NO_UNIT)),
    st.sampled_from(["{}", "apples {}", "{} apples", "square {} meters", "apples per {}"]),
    st.sampled_from(["42 {}", r"42\text{{ {}}}", r"42~\mathrm{{{}}}"]),
    st.sampled_from([str.lower, str.upper, str.title]),
)
@settings(max_examples=50)
def test_no_unit_holds_such_a_word(word: str, phrase: str, place: str, case: object) -> None:
    """Words that are no unit are found wherever they stand in one, however they are written."""
    assert callable(case)
    assert isinstance(read_answer(place.format(case(phrase.format(word)))), str)


@given(st.sampled_from(sorted(NO_LABEL)), st.sampled_from(["{} = 42", "the {} x is 42", r"\text{{{}}}: 42"]))
@settings(max_examples=50)
def test_no_label_holds_such_a_word(word: str, label: str) -> None:
    """Words that deny or change a number are found wherever they stand in a label."""
    assert isinstance(read_answer(label.format(word)), str)


def test_short_units_are_units() -> None:
    """No word is both a unit and none."""
    assert [word for word in SHORT_UNITS if is_no_unit(word)] == []
    assert all(read_answer(f"42{word}") == (42, 1) for word in SHORT_UNITS)
