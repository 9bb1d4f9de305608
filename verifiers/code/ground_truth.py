"""Ground truths of this service's own shapes -> tests (contract section 4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, get_args

from verifiers.code.data_sets import read_data_set
from verifiers.code.fields import (
    CHECKERS,
    allow_only,
    as_object,
    as_text,
    check_count,
    choice_field,
    function_case,
    read_code,
    read_entry_point,
    shown,
    text_field,
)
from verifiers.code.tests import (
    AssertTests,
    Fields,
    FunctionCase,
    FunctionTests,
    InvalidTestsError,
    StdinCase,
    StdinTests,
    Tests,
    TextCompare,
    UnsupportedTestsError,
    ValueCompare,
)
from verifiers.literals import read_json
from verifiers.types import MISSING

CaseT = TypeVar("CaseT", StdinCase, FunctionCase)


def read_tests(ground_truth: Any) -> Tests:
    """Read a ground truth; raises InvalidTestsError or UnsupportedTestsError."""
    fields = _fields(ground_truth)
    asked = sorted(name for name in CHECKERS if fields.get(name))
    if asked:
        raise UnsupportedTestsError(f"{asked[0]}: special checkers and interactive problems are not judged")
    if "type" not in fields:
        return read_data_set(fields)
    kind = fields["type"]
    reader = _READERS.get(kind) if isinstance(kind, str) else None
    if reader is not None:
        return reader(fields)
    if isinstance(kind, str) and kind in CHECKERS:
        raise UnsupportedTestsError(f"type: {kind!r} problems are not judged")
    raise InvalidTestsError(f"type: {shown(kind)} is none of {', '.join(_READERS)}")


def _fields(ground_truth: Any) -> Fields:
    if ground_truth is MISSING:
        raise InvalidTestsError("the ground truth is missing")
    if isinstance(ground_truth, str):
        try:
            ground_truth = read_json(ground_truth)
        except ValueError as error:
            raise InvalidTestsError(
                f"the ground truth is a text, but not JSON ({error}); "
                "pickled, base64 or compressed tests are refused"
            ) from None
    if not isinstance(ground_truth, dict):
        raise InvalidTestsError(f"the ground truth is {shown(ground_truth)}, not an object")
    return ground_truth


def _read_stdin(fields: Fields) -> StdinTests:
    allow_only(fields, "", "type", "cases", "hidden_cases", "compare")
    compare: TextCompare = choice_field(fields, "compare", get_args(TextCompare))
    return StdinTests(*_all_cases(fields, _stdin_case), compare)


def _stdin_case(fields: Fields, where: str) -> StdinCase:
    allow_only(fields, where, "stdin", "stdout", "stdout_any")
    if ("stdout" in fields) == ("stdout_any" in fields):
        raise InvalidTestsError(f"{where}: exactly one of stdout and stdout_any is needed")
    accepted: Any = fields.get("stdout_any", [fields.get("stdout")])
    if not isinstance(accepted, list) or not accepted:
        raise InvalidTestsError(f"{where}.stdout_any: not a list of texts")
    return StdinCase(
        text_field(fields, "stdin", where), tuple(as_text(text, f"{where}.stdout") for text in accepted)
    )


def _read_function(fields: Fields) -> FunctionTests:
    allow_only(fields, "", "type", "cases", "hidden_cases", "compare", "entry_point", "setup")
    entry_point = read_entry_point(fields.get("entry_point"), "entry_point")
    compare: ValueCompare = choice_field(fields, "compare", get_args(ValueCompare))
    cases, hidden = _all_cases(fields, _function_case)
    return FunctionTests(entry_point, cases, hidden, text_field(fields, "setup", default=""), compare)


def _function_case(fields: Fields, where: str) -> FunctionCase:
    allow_only(fields, where, "args", "kwargs", "expected")
    if "expected" not in fields:
        raise InvalidTestsError(f"{where}.expected: missing")
    kwargs = fields.get("kwargs", {})
    if kwargs is None:
        kwargs = {}
    if not isinstance(kwargs, dict):
        raise InvalidTestsError(f"{where}.kwargs: not an object")
    return function_case(fields.get("args"), kwargs, fields["expected"], where)


def _read_asserts(fields: Fields) -> AssertTests:
    allow_only(fields, "", "type", "code", "setup", "entry_point")
    code = fields.get("code")
    entry_point = fields.get("entry_point")
    return AssertTests(
        read_code(code, "code"),
        text_field(fields, "setup", default=""),
        None if entry_point is None else read_entry_point(entry_point, "entry_point"),
    )


def _all_cases(
    fields: Fields, read: Callable[[Fields, str], CaseT]
) -> tuple[tuple[CaseT, ...], tuple[CaseT, ...]]:
    hidden = fields.get("hidden_cases")
    return (
        _cases(fields.get("cases"), "cases", read),
        _cases(hidden, "hidden_cases", read) if hidden else (),
    )


def _cases(items: Any, where: str, read: Callable[[Fields, str], CaseT]) -> tuple[CaseT, ...]:
    if not isinstance(items, list):
        raise InvalidTestsError(f"{where}: {shown(items)} is not a list")
    check_count(len(items), where)
    return tuple(read(as_object(item, f"{where}[{i}]"), f"{where}[{i}]") for i, item in enumerate(items))


_READERS: dict[str, Callable[[Fields], Tests]] = {
    "stdin_stdout": _read_stdin,
    "function_call": _read_function,
    "asserts": _read_asserts,
}
