"""Ground truths as data sets store them: `inputs`, `outputs`, `fn_name`, `assert_case` (RULES R16)."""

from __future__ import annotations

from typing import Any, get_args

from verifiers.code.fields import (
    as_text,
    check_count,
    choice_field,
    function_case,
    read_code,
    read_entry_point,
    shown,
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
    ValueCompare,
)
from verifiers.literals import read_json


def read_data_set(fields: Fields) -> Tests:
    """Read an object without a `type`; fields that say nothing about tests are ignored."""
    asserts = fields.get("assert_case")
    if asserts:
        if _says_something(fields.get("inputs")) or _says_something(fields.get("outputs")):
            raise InvalidTestsError("assert_case: stands beside inputs and outputs; which of them to run?")
        return AssertTests(read_code(asserts, "assert_case"))
    if "inputs" not in fields and "outputs" not in fields:
        raise InvalidTestsError("type: missing, and there are no inputs and outputs")
    inputs, outputs = _pairs(fields)
    name = fields.get("fn_name")
    if name is None or name == "":
        text_compare: TextCompare = choice_field(fields, "compare", get_args(TextCompare))
        cases = tuple(map(_stdin_case, range(len(inputs)), inputs, outputs))
        return StdinTests(cases, compare=text_compare)
    compare: ValueCompare = choice_field(fields, "compare", get_args(ValueCompare))
    calls = tuple(map(_function_case, range(len(inputs)), inputs, _unwrapped(outputs)))
    return FunctionTests(read_entry_point(name, "fn_name"), calls, compare=compare)


def _says_something(value: Any) -> bool:
    """False for nothing, and for lists of nothing: what stands beside `assert_case` to fill the columns."""
    return any(_says_something(item) for item in value) if isinstance(value, list) else bool(value)


def _pairs(fields: Fields) -> tuple[list[Any], list[Any]]:
    inputs, outputs = _column(fields, "inputs"), _column(fields, "outputs")
    if len(inputs) != len(outputs):
        raise InvalidTestsError(f"inputs, outputs: {len(inputs)} inputs but {len(outputs)} outputs")
    check_count(len(inputs), "inputs")
    return inputs, outputs


def _column(fields: Fields, name: str) -> list[Any]:
    column = fields.get(name)
    if not isinstance(column, list):
        raise InvalidTestsError(f"{name}: {shown(column)} is not a list")
    return column


def _stdin_case(index: int, stdin: Any, stdout: Any) -> StdinCase:
    return StdinCase(_lines(stdin, f"inputs[{index}]"), (_lines(stdout, f"outputs[{index}]"),))


def _lines(value: Any, where: str) -> str:
    if isinstance(value, list):
        return "\n".join(as_text(line, f"{where}[{i}]") for i, line in enumerate(value))
    return as_text(value, where)


def _unwrapped(outputs: list[Any]) -> list[Any]:
    """Outputs out of their one extra list, if every one is in such a list."""
    if all(isinstance(output, list) and len(output) == 1 for output in outputs):
        return [output[0] for output in outputs]
    return outputs


def _function_case(index: int, given: Any, output: Any) -> FunctionCase:
    """A list of arguments and a value; or lines of JSON, and then the output is JSON too."""
    if isinstance(given, str):
        lines = [line for line in given.split("\n") if line.strip()]
        args = [_json(line, f"inputs[{index}]") for line in lines]
        if isinstance(output, str):
            output = _json(output, f"outputs[{index}]")
    else:
        args = given
    return function_case(args, {}, output, f"inputs[{index}]")


def _json(text: str, where: str) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise InvalidTestsError(f"{where}: not JSON ({error})") from None
