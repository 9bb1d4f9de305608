"""The `numeric` verifier: one number in the response, compared with the ground truth exactly."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

from pydantic import Field, PlainValidator, WithJsonSchema

from verifiers.base import BaseOptions
from verifiers.literals import FloatLiteral
from verifiers.numeric.answer import MAX_LENGTH, read_answer
from verifiers.numeric.compare import (
    Rule,
    Target,
    difference,
    is_near,
    make_rule,
    make_target,
    number_text,
    read_tolerance,
    within,
)
from verifiers.numeric.extract import UNDECIDED, find_box, find_last_number
from verifiers.numeric.parse import MAX_DIGITS, MAX_EXPONENT, Rational, Unreadable, read_number
from verifiers.types import Outcome, Task, Unscorable, Verdict

Reasoning = Literal["keep", "strip", "require"]

EDGE: Final = "tolerance_edge"
"""Flag: accepted, and off by more than half of what is allowed."""

_CLIP = 512
"""Code points of response text in a summary: at most 2 KiB of UTF-8."""
_CACHED_LENGTH = 256
"""Ground truths longer than this are read anew each time, so that the cache stays small."""


def _read_tolerance(value: object) -> FloatLiteral:
    """A JSON number, kept as the decimal that was written."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("a tolerance must be a number")  # noqa: TRY004 - pydantic reports ValueErrors only
    literal = FloatLiteral(written(value))
    read_tolerance(literal.text)
    return literal


def written(value: float) -> str:
    """The decimal that a number was written as; `float.__repr__` because NumPy's floats have another one."""
    if isinstance(value, FloatLiteral):
        return value.text
    return str(value) if isinstance(value, int) else float.__repr__(value)


Tolerance = Annotated[
    FloatLiteral, PlainValidator(_read_tolerance), WithJsonSchema({"type": "number", "minimum": 0})
]


class NumericOptions(BaseOptions):
    """How far off an answer may be, and what part of the response is read."""

    rtol: Tolerance = Field(1e-6, validate_default=True, description="relative part of the tolerance")
    atol: Tolerance = Field(1e-9, validate_default=True, description="absolute part of the tolerance")
    tolerance_mode: Literal["absolute_floor", "relative"] = Field(
        "absolute_floor", description="rtol counts times max(1, abs(g)), or times abs(g)"
    )
    reasoning: Reasoning = Field(
        "keep",
        description="read everything; strip: what follows the last </think>, and nothing after an unclosed "
        "<think>; require: the same, and nothing without a </think>",
    )

    @cached_property
    def rule(self) -> Rule:
        """The tolerances, exactly."""
        return make_rule(self.rtol.text, self.atol.text, relative=self.tolerance_mode == "relative")


class Answer(NamedTuple):
    """What the response answers: where it stands, and its value or why it has none."""

    value: Rational | Unreadable
    source: Literal["boxed", "last_number"] | None = None
    start: int = 0
    end: int = 0


def find_answer(response: str, reasoning: Reasoning = "keep") -> Answer:
    """The one answer of a response: its last complete box, else its last number."""
    begin = _end_of_reasoning(response, reasoning)
    if begin < 0:
        return Answer("no_answer")
    box = find_box(response, begin)
    if box is UNDECIDED:
        return Answer("not_a_number")
    if box:
        start, end = box
        return Answer(read_answer(response[start : min(end, start + MAX_LENGTH + 1)]), "boxed", start, end)
    last = find_last_number(response, begin)
    if last is None:
        return Answer("no_answer")
    value: Rational | Unreadable = "not_a_number" if last.core is None else read_number(last.core)
    if last.negative and not isinstance(value, str):
        value = (-value[0], value[1])
    return Answer(value, "last_number", last.start, last.end)


def _end_of_reasoning(response: str, reasoning: Reasoning) -> int:
    """Where the part to be read starts; -1 if there is none."""
    if reasoning == "keep":
        return 0
    close = response.rfind("</think>")
    if close < 0 and reasoning == "require":
        return -1
    begin = close + len("</think>") if close >= 0 else 0
    return begin if response.find("<think>", begin) < 0 else -1


def read_ground_truth(ground_truth: Any, rule: Rule) -> Target | str:
    """The target that a string or JSON number sets, or a message that says why it is unusable."""
    if isinstance(ground_truth, str):
        text = ground_truth
    elif isinstance(ground_truth, bool) or not isinstance(ground_truth, int | float):
        return f"the ground truth must be a string or a number, not {_kind(ground_truth)}"
    elif isinstance(ground_truth, int) and ground_truth.bit_length() > _CACHED_LENGTH:
        if abs(ground_truth) >= 10**MAX_DIGITS:
            return "the ground truth is no usable number: number_too_large"
        return make_target((ground_truth, 1), rule)
    else:
        text = written(ground_truth)
    return _cached_target(text, rule) if len(text) <= _CACHED_LENGTH else _target(text, rule)


def _kind(value: object) -> str:
    names = {type(None): "null", bool: "a boolean", list: "an array", dict: "an object"}
    return names.get(type(value), "missing")


def _target(text: str, rule: Rule) -> Target | str:
    value = read_answer(text)
    if isinstance(value, str):
        return f"the ground truth {text[:80]!r} is no usable number: {value}"
    return make_target(value, rule)


_cached_target = lru_cache(maxsize=16_384)(_target)


class NumericVerifier:
    """See `contract.md`, which is served as the contract in words."""

    name = "numeric"
    version = "1.0.0"
    Options: type[NumericOptions] = NumericOptions
    reasons: tuple[str, ...] = ("within_tolerance", "outside_tolerance", *get_args(Unreadable))
    flags: tuple[str, ...] = (EDGE,)
    reward_range = (0.0, 1.0)
    ground_truth_schema: Mapping[str, Any] = {
        "type": ["string", "number"],
        "description": "One number, written as in a box, or a JSON number, read as its literal.",
        "examples": ["42", "3/7", "1,000", "-1.5e-3", 0.25],
    }
    contract = (Path(__file__).parent / "contract.md").read_text(encoding="utf-8")

    def environment(self) -> Mapping[str, str]:
        """The interpreter and the limits on what is read exactly."""
        return {
            "python": ".".join(platform.python_version_tuple()[:2]),
            "max_digits": str(MAX_DIGITS),
            "max_exponent": str(MAX_EXPONENT),
        }

    def judge(self, task: Task) -> Outcome:
        """Judge one response; linear in its length, never raises for what response or ground truth hold."""
        options: NumericOptions = task.options
        target = read_ground_truth(task.ground_truth, options.rule)
        if isinstance(target, str):
            return Unscorable("invalid_ground_truth", target)
        answer = find_answer(task.response, options.reasoning)
        if isinstance(answer.value, str):
            correct, reason, error = False, str(answer.value), None
        else:
            error = difference(answer.value, target.value)
            correct = within(error, target.tolerance)
            reason = "within_tolerance" if correct else "outside_tolerance"
        detail = {} if options.detail == "none" else _detail(task.response, answer, target, error, options)
        flags = (EDGE,) if correct and error and is_near(error, target.tolerance) else ()
        span = (answer.start, answer.end) if answer.source else None
        return Verdict(correct, reason, 1.0 if correct else 0.0, detail, flags, span)


def _detail(
    response: str, answer: Answer, target: Target, error: Rational | None, options: NumericOptions
) -> dict[str, Any]:
    """What was compared with what; all numbers as texts, all keys always there."""
    start, end = answer.start, answer.end
    cut = end - start > _CLIP and options.detail != "full"
    extracted = response[start : start + _CLIP - 1] + "…" if cut else response[start:end]
    return {
        "extracted": extracted if answer.source else None,
        "source": answer.source,
        "span": [start, end] if answer.source else None,
        "parsed": None if isinstance(answer.value, str) else number_text(answer.value),
        "expected": target.expected,
        "error": None if error is None else number_text(error),
        "tolerance": target.tolerance_text,
    }
