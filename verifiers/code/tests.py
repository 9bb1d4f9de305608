"""What a ground truth asks of a program, in one form whatever shape it was written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sandbox.languages.all import can_call
from sandbox.types import Call

TextCompare = Literal["tokens", "exact", "float"]
ValueCompare = Literal["exact", "float"]


@dataclass(frozen=True, slots=True)
class StdinCase:
    """Standard input, and the outputs of which one is expected."""

    stdin: str
    accepted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StdinTests:
    """Run as a script; compare what it prints."""

    cases: tuple[StdinCase, ...]
    hidden: tuple[StdinCase, ...] = ()
    compare: TextCompare = "tokens"


@dataclass(frozen=True, slots=True)
class FunctionCase:
    """One call and the value it is to return, plain JSON data."""

    call: Call
    expected: Any


@dataclass(frozen=True, slots=True)
class FunctionTests:
    """Call the entry point; compare what it returns."""

    entry_point: str
    cases: tuple[FunctionCase, ...]
    hidden: tuple[FunctionCase, ...] = ()
    setup: str = ""
    compare: ValueCompare = "exact"


@dataclass(frozen=True, slots=True)
class AssertTests:
    """Run test code against the program."""

    code: tuple[str, ...]
    setup: str = ""
    entry_point: str | None = None


Tests = StdinTests | FunctionTests | AssertTests

Fields = Mapping[str, Any]


class TestsError(Exception):
    """No verdict can be reached with this ground truth; the message says what is wrong and where."""

    __test__ = False
    kind: Literal["invalid_ground_truth", "unsupported_tests"]


class InvalidTestsError(TestsError):
    """It is malformed."""

    kind = "invalid_ground_truth"


class UnsupportedTestsError(TestsError):
    """It asks for what this verifier does not do."""

    kind = "unsupported_tests"


def check_language(tests: Tests, language: str) -> None:
    """Raise UnsupportedTestsError if these tests cannot be run on programs in this language."""
    if isinstance(tests, AssertTests) and language != "python":
        raise UnsupportedTestsError(f"asserts are Python; they cannot test a program in {language}")
    if isinstance(tests, FunctionTests) and language != "python":
        if not can_call(language):
            raise UnsupportedTestsError(
                f"functions of {language} programs cannot be called; use stdin_stdout"
            )
        if any(case.call.kwargs for case in (*tests.cases, *tests.hidden)):
            raise UnsupportedTestsError(f"{language} has no keyword arguments")
