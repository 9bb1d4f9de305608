"""Ground truths that no honest response reaches: whatever accepts one has found a way around the verifier."""

from __future__ import annotations

import ast
import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, Literal, NamedTuple

from app.auditor.mutation import mutated_texts, mutated_values
from verifiers.code import compare
from verifiers.code.ground_truth import read_tests
from verifiers.code.tests import AssertTests, FunctionTests, StdinCase, StdinTests, Tests, TestsError
from verifiers.math.judge import judge
from verifiers.math.options import MathOptions
from verifiers.math.verifier import as_text
from verifiers.types import Verdict

TestsHow = Literal["flip", "contradict"]

_NUMBER: Final = re.compile(r"(?<![\w^.{_\\])\d+(?:\.\d+)?(?![\w.}])")
_LETTERS: Final = "QVWXYZ"
_BESIDE: Final = 'assert not ({test}), "no program passes this and the test before"'


class NoCanaryError(ValueError):
    """Nothing unreachable can be made of this ground truth; the message says why."""


class Canary(NamedTuple):
    """An unreachable ground truth, and what was done to make it so."""

    ground_truth: Any
    explanation: str


def make_canary(verifier: str, ground_truth: Any, draw: random.Random, how: TestsHow = "flip") -> Canary:
    """An unreachable ground truth of the same kind. Raises `NoCanaryError`.

    draw: decides all that is left to chance. how: of tests, one expected value is made another (`flip`), or a
    case is repeated with another expected value (`contradict`).
    """
    if verifier == "code":
        return _of_tests(ground_truth, draw, how)
    if verifier == "choice":
        letter = draw.choice(_LETTERS)
        return Canary(letter, f"the letter {letter}, which no choice has")
    if verifier == "words":
        word = "".join(draw.choices("bcdfghjklmnpqrstvwxz", k=12))
        return Canary(word, f"the word {word}, which there is not")
    return _of_text(verifier, ground_truth, draw)


def _of_text(verifier: str, ground_truth: Any, draw: random.Random) -> Canary:
    text = as_text(ground_truth)
    original = text[0] if isinstance(text, list) and text else text
    if not isinstance(original, str):
        raise NoCanaryError("the ground truth is neither a text nor a number")
    number = f"{draw.randrange(10**5, 10**6)}.{draw.randrange(10**7, 10**8)}7"
    candidates = [number]
    if verifier == "math":
        if places := list(_NUMBER.finditer(original)):
            last = places[-1]
            candidates.insert(0, original[: last.start()] + number + original[last.end() :])
        candidates.insert(-1, f"{original} + {number}")
    for candidate in candidates:
        if _is_unreachable(original, candidate):
            return Canary(candidate, f"{original[:80]} became {candidate[:80]}")
    raise NoCanaryError("the ground truth cannot be read")


def _is_unreachable(original: str, candidate: str) -> bool:
    """Whether `original` is rejected by a ground truth that accepts itself, and not 0."""
    options = MathOptions()
    texts = (candidate, original, "0")
    verdicts = [judge(f"\\boxed{{{text}}}", candidate, options) for text in texts]
    # None: unscorable, so that no response could be told from the right one.
    found = [verdict.correct if isinstance(verdict, Verdict) else None for verdict in verdicts]
    return found == [True, False, False]


def _of_tests(ground_truth: Any, draw: random.Random, how: TestsHow) -> Canary:
    try:
        tests = read_tests(ground_truth)
    except TestsError as error:
        raise NoCanaryError(str(error)) from None
    if isinstance(tests, AssertTests):
        return Canary(_contract_form(_contradicting_asserts(tests)), "a test is followed by its contrary")
    place = draw.randrange(len(tests.cases))
    mutation = next(_noticed(tests, place), None)
    if mutation is None:
        raise NoCanaryError(f"case {place}: no other expected value can be told from the right one")
    cases: list[Any] = list(tests.cases)
    if how == "flip":
        cases[place] = mutation
        explanation = f"case {place}: another expected value"
    else:
        cases.insert(place + 1, mutation)
        explanation = f"case {place} stands there twice, with two expected values"
    changed: Tests = replace(tests, cases=tuple(cases))  # type: ignore[arg-type] # of the kind they were
    return Canary(_contract_form(changed), explanation)


def _noticed(tests: StdinTests | FunctionTests, place: int) -> Iterator[Any]:
    """Mutations of a case that what it expected before does not pass."""
    case = tests.cases[place]
    if isinstance(tests, StdinTests) and isinstance(case, StdinCase):
        outputs = [text.encode("utf-8", "replace") for text in case.accepted]
        for mutation in mutated_texts(case):
            if not any(compare.text_matches(output, mutation.accepted, tests.compare) for output in outputs):
                yield mutation
    elif isinstance(tests, FunctionTests) and not isinstance(case, StdinCase):
        for changed in mutated_values(case):
            if not compare.value_matches(case.expected, changed.expected, tests.compare == "float"):
                yield changed


def _contradicting_asserts(tests: AssertTests) -> AssertTests:
    """The last assert of the test code, followed by its contrary."""
    for place in range(len(tests.code) - 1, -1, -1):
        try:
            tree = ast.parse(tests.code[place])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Assert)]
        if not found:
            continue
        last = max(found, key=lambda node: node.lineno)
        lines = tests.code[place].split("\n")
        end = last.end_lineno or last.lineno
        indent = lines[last.lineno - 1][: last.col_offset]
        if indent.strip():
            continue  # it does not begin its line
        lines.insert(end, indent + _BESIDE.format(test=ast.unparse(last.test)))
        code = [*tests.code[:place], "\n".join(lines), *tests.code[place + 1 :]]
        return replace(tests, code=tuple(code))
    raise NoCanaryError("the test code holds no assert that could be contradicted")


def _contract_form(tests: Tests) -> dict[str, Any]:
    """Tests as a ground truth of the service's own shape."""
    if isinstance(tests, AssertTests):
        fields = {"type": "asserts", "code": list(tests.code), "setup": tests.setup}
        return fields if tests.entry_point is None else {**fields, "entry_point": tests.entry_point}
    if isinstance(tests, StdinTests):
        cases, hidden = (
            [{"stdin": case.stdin, "stdout_any": list(case.accepted)} for case in some]
            for some in (tests.cases, tests.hidden)
        )
        made: dict[str, Any] = {"type": "stdin_stdout", "compare": tests.compare, "cases": cases}
    else:
        cases, hidden = (
            [
                {"args": list(case.call.args), "kwargs": dict(case.call.kwargs), "expected": case.expected}
                for case in some
            ]
            for some in (tests.cases, tests.hidden)
        )
        made = {"type": "function_call", "entry_point": tests.entry_point, "setup": tests.setup}
        made |= {"compare": tests.compare, "cases": cases}
    return {**made, "hidden_cases": hidden} if hidden else made
