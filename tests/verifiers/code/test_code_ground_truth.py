"""Ground truths in every shape become tests, or are refused with words on what and where."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.types import Call
from verifiers.code.ground_truth import read_tests
from verifiers.code.tests import (
    AssertTests,
    FunctionCase,
    FunctionTests,
    InvalidTestsError,
    StdinCase,
    StdinTests,
    TestsError,
    UnsupportedTestsError,
)
from verifiers.types import MISSING

IO = {"stdin": "1", "stdout": "2"}
CALL = {"args": [1], "expected": 2}
FUNCTION = {"type": "function_call", "entry_point": "f"}

READ: list[tuple[Any, Any]] = [
    (
        {"type": "stdin_stdout", "cases": [IO], "hidden_cases": [{"stdin": "", "stdout_any": ["a", "b"]}]},
        StdinTests((StdinCase("1", ("2",)),), (StdinCase("", ("a", "b")),)),
    ),
    (
        {"type": "stdin_stdout", "cases": [IO], "hidden_cases": None, "compare": "exact"},
        StdinTests((StdinCase("1", ("2",)),), compare="exact"),
    ),
    (
        {
            "type": "function_call",
            "entry_point": "f",
            "cases": [{**CALL, "kwargs": {"k": []}}],
            "setup": "x = 1",
        },
        FunctionTests("f", (FunctionCase(Call((1,), {"k": []}), 2),), setup="x = 1"),
    ),
    (
        {"type": "function_call", "entry_point": "ﬁ", "cases": [CALL], "compare": "float"},
        FunctionTests("fi", (FunctionCase(Call((1,)), 2),), compare="float"),
    ),
    ({"type": "asserts", "code": "assert f()"}, AssertTests(("assert f()",))),
    (
        {"type": "asserts", "code": ["assert f()", "assert g()"], "setup": None, "entry_point": "f"},
        AssertTests(("assert f()", "assert g()"), entry_point="f"),
    ),
    (
        {"inputs": ["1\n", ["2", "3"]], "outputs": ["a", ["b", "c"]], "difficulty": "hard"},
        StdinTests((StdinCase("1\n", ("a",)), StdinCase("2\n3", ("b\nc",)))),
    ),
    (
        {"inputs": ["1"], "outputs": [["a"]], "fn_name": None, "compare": "float"},
        StdinTests((StdinCase("1", ("a",)),), compare="float"),
    ),
    (
        {"fn_name": "f", "inputs": [[1, [2]], [3, 4]], "outputs": [[5], [[6]]]},
        FunctionTests("f", (FunctionCase(Call((1, [2])), 5), FunctionCase(Call((3, 4)), [6]))),
    ),
    (
        {"fn_name": "f", "inputs": [[1], [2]], "outputs": [[5], [6, 7]]},
        FunctionTests("f", (FunctionCase(Call((1,)), [5]), FunctionCase(Call((2,)), [6, 7]))),
    ),
    (
        {"fn_name": "f", "inputs": ['"a"\n[1, 2]\n'], "outputs": ["[3]"]},
        FunctionTests("f", (FunctionCase(Call(("a", [1, 2])), [3]),)),
    ),
    ({"assert_case": ["assert f(1)", "assert f(2)"]}, AssertTests(("assert f(1)", "assert f(2)"))),
    ({"inputs": ["", ""], "outputs": [None], "assert_case": ["assert f(1)"]}, AssertTests(("assert f(1)",))),
]


@pytest.mark.parametrize(("ground_truth", "tests"), READ, ids=range(len(READ)))
def test_shapes(ground_truth: Any, tests: Any) -> None:
    """Every shape is read, as an object and as JSON text."""
    assert read_tests(ground_truth) == tests
    assert read_tests(json.dumps(ground_truth)) == tests


REFUSED: list[tuple[Any, str]] = [
    (MISSING, "missing"),
    (None, "null"),
    (7, "a number"),
    ([IO], "a list"),
    ("gASVCwAAAAAAAABdlA==", "pickled, base64"),
    ("[" * 100_000, "JSON"),
    ('{"a": NaN}', "NaN"),
    ({}, "type: missing"),
    ({"type": "regex"}, "type: 'regex'"),
    ({"type": ["asserts"]}, "type: a list"),
    ({"type": "stdin_stdout"}, "cases: null is not a list"),
    ({"type": "stdin_stdout", "cases": []}, "cases: there is no case"),
    ({"type": "stdin_stdout", "cases": [IO] * 10_001}, "cases: 10001 cases"),
    ({"type": "stdin_stdout", "cases": [IO, 3]}, "cases[1]: a number"),
    ({"type": "stdin_stdout", "cases": [{"stdin": 1, "stdout": "2"}]}, "cases[0].stdin: a number"),
    ({"type": "stdin_stdout", "cases": [{"stdout": "2"}]}, "cases[0].stdin: null"),
    ({"type": "stdin_stdout", "cases": [{"stdin": ""}]}, "cases[0]: exactly one"),
    ({"type": "stdin_stdout", "cases": [{**IO, "stdout_any": ["2"]}]}, "cases[0]: exactly one"),
    ({"type": "stdin_stdout", "cases": [{"stdin": "", "stdout_any": []}]}, "cases[0].stdout_any"),
    ({"type": "stdin_stdout", "cases": [{**IO, "stdut": ""}]}, "cases[0].stdut: unknown"),
    ({"type": "stdin_stdout", "cases": [IO], "compar": "exact"}, "compar: unknown"),
    ({"type": "stdin_stdout", "cases": [IO], "compare": "set"}, "compare: 'set'"),
    ({"type": "stdin_stdout", "cases": [IO], "hidden_cases": [4]}, "hidden_cases[0]"),
    ({"type": "function_call", "cases": [CALL]}, "entry_point: null"),
    ({"type": "function_call", "entry_point": "a.b", "cases": [CALL]}, "entry_point: 'a.b'"),
    ({"type": "function_call", "entry_point": "class", "cases": [CALL]}, "entry_point: 'class'"),
    ({**FUNCTION, "cases": [{"args": [1]}]}, "cases[0].expected: missing"),
    ({**FUNCTION, "cases": [{"expected": 1}]}, "cases[0].args: null"),
    ({**FUNCTION, "cases": [{**CALL, "kwargs": []}]}, "cases[0].kwargs"),
    (
        {**FUNCTION, "cases": [CALL], "compare": "tokens"},
        "compare: 'tokens'",
    ),
    ({**FUNCTION, "cases": [CALL], "setup": 1}, "setup: a number"),
    ({"type": "asserts"}, "code: null"),
    ({"type": "asserts", "code": []}, "code: holds no test"),
    ({"type": "asserts", "code": [" ", "\n"]}, "code: holds no test"),
    ({"type": "asserts", "code": ["assert 1", 2]}, "code: a list"),
    ({"type": "asserts", "code": "assert 1", "entry_point": ""}, "entry_point: ''"),
    ({"inputs": ["1"]}, "outputs: null"),
    ({"inputs": [], "outputs": []}, "inputs: there is no case"),
    ({"inputs": ["1"], "outputs": ["1", "2"]}, "1 inputs but 2 outputs"),
    ({"inputs": [1], "outputs": ["1"]}, "inputs[0]: a number"),
    ({"inputs": [["1", 2]], "outputs": ["1"]}, "inputs[0][1]: a number"),
    ({"fn_name": "a b", "inputs": [[1]], "outputs": [1]}, "fn_name: 'a b'"),
    ({"fn_name": "f", "inputs": ["not json"], "outputs": ["1"]}, "inputs[0]: not JSON"),
    ({"fn_name": "f", "inputs": ["1"], "outputs": ["[1"]}, "outputs[0]: not JSON"),
    ({"fn_name": "f", "inputs": [3], "outputs": [1]}, "inputs[0].args: a number"),
    ({"inputs": ["1"], "outputs": ["1"], "assert_case": ["assert 1"]}, "assert_case"),
    ({"assert_case": "  "}, "assert_case: holds no test"),
]


@pytest.mark.parametrize(("ground_truth", "words"), REFUSED, ids=range(len(REFUSED)))
def test_malformed_is_named(ground_truth: Any, words: str) -> None:
    """Each fault is invalid_ground_truth, and its message says what and where."""
    with pytest.raises(InvalidTestsError) as caught:
        read_tests(ground_truth)
    assert words in str(caught.value)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        10**100_010,
        -(10**100_010),
        float("inf"),
        _nested(300),
        ["x"] * 1_000_001,
        "x" * (17 << 20),
        object(),
        {1},
    ],
    ids=["integer", "negative", "infinite", "deep", "many", "long", "object", "set"],
)
def test_values_over_the_caps_are_refused(value: Any) -> None:
    """In arguments as in expected values."""
    for case in ({"args": [value], "expected": 1}, {"args": [], "expected": value}):
        with pytest.raises(InvalidTestsError):
            read_tests({**FUNCTION, "cases": [case]})


def test_integers_are_exact_up_to_the_cap() -> None:
    """100,000 digits, past Python's own limit on reading them."""
    tests = read_tests('{"fn_name": "f", "inputs": [[' + "9" * 100_000 + ']], "outputs": [1]}')
    assert isinstance(tests, FunctionTests)
    assert tests.cases[0].call.args == (10**100_000 - 1,)
    with pytest.raises(InvalidTestsError):
        read_tests('{"fn_name": "f", "inputs": [[' + "9" * 100_001 + ']], "outputs": [1]}')


@pytest.mark.parametrize(
    "ground_truth",
    [
        {"type": "stdin_stdout", "cases": [IO], "checker": "int main() {}"},
        {"type": "stdin_stdout", "cases": [IO], "interactive": True},
        {"type": "interactive", "cases": [IO]},
        {"type": "stdin_stdout", "cases": [IO], "compare": "checker"},
        {"inputs": ["1"], "outputs": ["1"], "special_judge": True},
    ],
)
def test_checkers_are_unsupported(ground_truth: Any) -> None:
    """Judging by a program of the task's own is not done, and not taken for a malformed ground truth."""
    with pytest.raises(UnsupportedTestsError):
        read_tests(ground_truth)


NAMES = "type cases stdin stdout stdout_any args expected compare entry_point setup code inputs outputs"
TYPES = ["stdin_stdout", "function_call", "asserts", "f", "float"]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(TYPES)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES.split()), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(ANYTHING | st.builds(json.dumps, ANYTHING) | st.text())
@settings(max_examples=50)
def test_anything_is_read_or_refused(ground_truth: Any) -> None:
    """No value raises anything but the one error that becomes `unscorable`."""
    try:
        tests = read_tests(ground_truth)
    except TestsError:
        return
    assert isinstance(tests, StdinTests | FunctionTests | AssertTests)
