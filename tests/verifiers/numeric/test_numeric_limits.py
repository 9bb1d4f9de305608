"""Bounds on the work and memory that any response costs, and what stands beyond them."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import pytest

from verifiers.numeric import NumericOptions, NumericVerifier, answer, extract
from verifiers.numeric.answer import MAX_LENGTH, read_answer
from verifiers.numeric.extract import UNDECIDED, find_box
from verifiers.numeric.verifier import find_answer
from verifiers.types import Task, Verdict

SIZE = 4 * 2**20
"""The largest response that the service takes, in bytes."""
MOST_MEMORY = 2 * 2**20
MOST_STEPS = 3 * 2**15
"""Matches, of whatever expression, that one verdict may step through."""

PIECES = [
    r"\boxed{", r"\boxed{1}", r"\boxed{\}", r"\boxed{{}", "boxed", "boxed ", "fbox ", "box ", "{", "}",
    "{}", "{}1", "\\", r"\{", r"\}", r"\$", "1", "1,", "1, ", "1 ", "a1", "1\u200b", "\u200b", "é", "½",
    "²", "٤", "٤ ", "😀", "三", "H2 ", "H2\n", "x ", "a", "a'", "a-", "m/", " ", "\n", r"\,", "1e9",
    " 000", ",000", r"\frac{", r"\frac{1}{", r"\text{", r"\text{a} cm ", "-", "-(", "(", "^", "_", "$",
    "*", "<think>", "</think>", "<thin", "1 x ", "±", "=", "x=", "is ", "a:", "[1]", "!", "%", r"^\circ",
    "·", r"\cdot", "cm^2 ", "USD ", "`", ".", "1.", "1/", "1 1/2 ", r"\sqrt", r"\pi ", "million ",
    r"\text",
]  # fmt: skip
AROUND = [("", ""), (r"\boxed{", "}"), (r"\boxed{1 ", "}"), (r"\boxed{{", "}}"), ("1", ""), ("", "1")]


def filled(piece: str, before: str, after: str) -> str:
    """`piece` over and over, to the size of the largest response."""
    room = SIZE - len((before + after).encode())
    return before + piece * (room // len(piece.encode())) + after


class Counting:
    """An expression that counts the matches it hands out and the calls it takes."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self.steps = 0

    def finditer(self, *place: Any) -> Any:
        for match in self._pattern.finditer(*place):
            self.steps += 1
            yield match

    def findall(self, text: str) -> list[str]:
        found: list[str] = self._pattern.findall(text)
        self.steps += len(found)
        return found

    def match(self, *place: Any) -> re.Match[str] | None:
        self.steps += 1
        return self._pattern.match(*place)

    def search(self, *place: Any) -> re.Match[str] | None:
        self.steps += 1
        return self._pattern.search(*place)

    def fullmatch(self, text: str, *place: Any) -> re.Match[str] | None:
        self.steps += 1
        assert (place[1] - place[0] if place else len(text)) <= MAX_LENGTH
        return self._pattern.fullmatch(text, *place)


@pytest.fixture
def counters(monkeypatch: pytest.MonkeyPatch) -> list[Counting]:
    """Every expression of the two modules that search, counting."""
    counters = []
    for module in (extract, answer):
        for name, value in vars(module).copy().items():
            if isinstance(value, re.Pattern):
                counters.append(Counting(value))
                monkeypatch.setattr(module, name, counters[-1])
    return counters


@pytest.mark.parametrize("piece", PIECES)
def test_any_large_response_costs_bounded_steps(piece: str, counters: list[Counting]) -> None:
    """However 4 MiB are filled, the matches stepped through do not grow with them."""
    for before, after in AROUND:
        for counter in counters:
            counter.steps = 0
        find_answer(filled(piece, before, after))
        assert sum(counter.steps for counter in counters) <= MOST_STEPS


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize(
    "piece", ["a1", "1\u200b", "1", "1, ", r"\boxed{", "{}", r"\$", "٤ ", "½", "H2 ", r"\text{a} cm ", "^"]
)
def test_any_large_response_costs_bounded_memory(piece: str, around: tuple[str, str]) -> None:
    """However 4 MiB are filled, a verdict takes less memory than a part of them."""
    verifier, task = NumericVerifier(), Task(filled(piece, *around), "7", NumericOptions())
    tracemalloc.start()
    try:
        outcome = verifier.judge(task)
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()
    assert isinstance(outcome, Verdict)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("9" * (MAX_LENGTH + 1), "number_too_large"),
        ("-1" + ",000" * MAX_LENGTH, "number_too_large"),
        ("$ 1." + "3" * MAX_LENGTH, "number_too_large"),
        (r"\text{1" + "0" * MAX_LENGTH, "number_too_large"),
        ("42" + " " * MAX_LENGTH, "not_a_number"),
        (" " * MAX_LENGTH + "42", "not_a_number"),
        (" " * (MAX_LENGTH + 1), "not_a_number"),
        ("a1" * MAX_LENGTH, "not_a_number"),
        ("1\u200b" * MAX_LENGTH, "not_a_number"),
        ("1, " * MAX_LENGTH, "several_values"),
        ("0" * MAX_LENGTH + "7", "not_a_number"),
    ],
    ids=[
        "digits",
        "groups",
        "places",
        "text",
        "end",
        "start",
        "blank",
        "letters",
        "no width",
        "list",
        "zeros",
    ],
)
def test_long_texts_are_refused_by_their_beginning(content: str, reason: str) -> None:
    """A text beyond the limit has no value, and a reason that its first characters give."""
    assert read_answer(content) == reason


def test_texts_up_to_the_limit_are_read() -> None:
    """The limit itself is within."""
    assert read_answer("42" + " " * (MAX_LENGTH - 2)) == (42, 1)
    assert find_answer(r"\boxed{" + "0" * (MAX_LENGTH - 1) + "7}").value == (7, 1)


@pytest.mark.parametrize(
    "after",
    [r"\boxed{" * 500_000, "{" * SIZE, "box " * 1_000_000, r"\boxed{{}" * 500, "}" * 1_000, r"\}" * 1_000],
    ids=["openings", "braces", "words", "open groups", "closing", "escaped"],
)
def test_last_complete_box_is_found_before_hopeless_ones(after: str) -> None:
    """Unclosed boxes, words and braces after the last complete box do not hide it."""
    assert find_box(r"\boxed{42}" + after) == (7, 9)


def test_box_behind_too_many_braces_is_not_guessed() -> None:
    """Beyond the limit there is no answer, neither the last number nor an earlier box."""
    assert find_box(r"\boxed{42}" + "box " * 1_000_000 + "}") == UNDECIDED
    for response in (r"\boxed{42}" + r"\boxed{{}" * 20_000 + "42", r"\boxed{" + "{}" * 50_000 + "42}"):
        found = find_answer(response)
        assert (found.value, found.source) == ("not_a_number", None)


def test_last_digit_outside_ascii_is_looked_for_near_the_end() -> None:
    """Within 262,144 characters it is found, wherever windows begin; digits of ASCII everywhere."""
    for distance in (0, 1, 4_095, 4_096, 4_097, 250_000):
        assert find_answer("5 ٤٢" + "é" * distance).value == (42, 1)
    assert find_answer("٤٢" + " é" * 150_000).value == "no_answer"
    assert find_answer("42" + " é" * 150_000).value == (42, 1)
