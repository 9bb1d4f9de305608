"""One response against its ground truth: extract, read, compare. Runs in the worker processes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from verifiers.math.compare import budget
from verifiers.math.compare.answers import Comparer
from verifiers.math.compare.enclosure import Evaluator
from verifiers.math.compare.errors import ComparisonError, NotComparable, TooCostly, Unclear, Undefined
from verifiers.math.compare.points import points
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.values import COARSE, is_complex
from verifiers.math.describe import describe
from verifiers.math.extract import Candidate, candidates, is_prose
from verifiers.math.options import SOURCES, MathOptions
from verifiers.math.read import phrases
from verifiers.math.read.answer import read_answer
from verifiers.math.read.errors import ReadError, TooLarge, UnsupportedKind
from verifiers.math.tree import (
    EXPRESSIONS,
    Choice,
    Listing,
    Node,
    Set,
    SetOperation,
    Special,
    Text,
    Tuple,
    children,
    free_symbols,
)
from verifiers.types import Outcome as Judgement
from verifiers.types import Unscorable, Verdict

_GROUPED = re.compile(r"\d,\d{3}(?!\d)")
_ESCAPED_TWICE = re.compile(r"\\\\(?=[a-zA-Z]|[()\[\]{}])")
_ESCAPED_ONCE = re.compile(r"(?<!\\)\\[a-zA-Z]")
_WHOLE_LENGTH = 2_000
_REASON = {TooCostly: "too_costly", Undefined: "undefined_value"}
MAX_TRUTHS = 64
"""Alternatives in a list of ground truths."""


class InvalidGroundTruth(Exception):  # noqa: N818
    """The ground truth is no answer that could be compared with."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A ground truth as read; with commas between digits it may have a second reading, as a list."""

    readings: tuple[Node, ...]
    text: str


def judge(response: str, ground_truth: Any, options: MathOptions) -> Judgement:
    """The verdict on `response`. `ground_truth` is a string, a number's literal, or a list of alternatives."""
    alternatives = ground_truth if isinstance(ground_truth, list) else [ground_truth]
    if not 1 <= len(alternatives) <= MAX_TRUTHS or not all(isinstance(text, str) for text in alternatives):
        return Unscorable(
            "invalid_ground_truth", "a ground truth is a text, a number, or a list of 1 to 64 texts"
        )
    verdict: Judgement | None = None
    for text in alternatives:
        try:
            truth = _truth(text, options.kind)
        except InvalidGroundTruth as fault:
            return Unscorable("invalid_ground_truth", str(fault))
        verdict = _judge_one(response, truth, options)
        if isinstance(verdict, Unscorable) or verdict.correct:
            return verdict
    assert verdict is not None
    return verdict


def _judge_one(response: str, truth: Truth, options: MathOptions) -> Judgement:
    try:
        found = find_answer(
            response,
            options,
            wants_choice=isinstance(truth.readings[0], Choice),
            wants_words=_is_words(truth),
        )
    except TooLarge:
        return _refused("too_costly", truth)
    except UnsupportedKind:
        return _refused("unsupported_kind", truth)
    except ReadError:
        return _refused("unparsable", truth)
    if found is None:
        return _refused("no_answer", truth)
    candidate, answers = found
    policy = _policy(options, truth.readings[0])
    outcome = _compare(truth, answers, policy)
    if isinstance(outcome, Unscorable):
        return outcome
    detail = {
        "extracted": candidate.text[:2000],
        "source": candidate.source,
        "span": [candidate.start, candidate.end],
        "parsed": describe(answers[0]),
        "expected": describe(truth.readings[0]),
        "route": outcome.route,
    }
    reason = "equal" if outcome.equal else outcome.reason or "different"
    return Verdict(
        outcome.equal,
        reason,
        float(outcome.equal),
        detail,
        tuple(sorted(outcome.flags)) if outcome.equal else (),
    )


def _refused(reason: str, truth: Truth) -> Verdict:
    return Verdict(False, reason, 0.0, {"expected": describe(truth.readings[0])})


def find_answer(
    response: str, options: MathOptions, *, wants_choice: bool = False, wants_words: bool = False
) -> tuple[Candidate, tuple[Node, ...]] | None:
    """The first candidate that can be read, with its readings; None when there is none.

    A box alone decides: when it cannot be read, `ReadError` is raised. Only a ground truth that is a choice
    letter passes over sources that hold none.
    """
    fault: ReadError | None = None
    words: tuple[Candidate, tuple[Node, ...]] | None = None
    for candidate in candidates(response, options):
        try:
            if candidate.loose and is_prose(candidate.text):
                continue
            nodes = _readings(candidate.text, options.kind)
        except ReadError as error:
            if candidate.source in {"boxed", "tags"} and not wants_choice:
                raise
            if not candidate.loose and candidate.source != "text":
                fault = fault or error
            continue
        if wants_choice and not isinstance(nodes[0], Choice):
            words = words or (candidate, nodes)
            continue
        if (
            isinstance(nodes[0], Text | Special)
            and candidate.source not in {"boxed", "tags", "hash"}
            and not wants_words
        ):
            words = words or (candidate, nodes)
            continue
        return candidate, nodes
    if words is None and fault is not None:
        raise fault
    return words


def _is_words(truth: Truth) -> bool:
    return isinstance(truth.readings[0], Text | Special)


def _readings(text: str, kind: str) -> tuple[Node, ...]:
    text = _unescaped(text)
    if kind == "text":
        return (phrases.words(phrases.plain(text)),)
    node = _as_kind(read_answer(text), kind)
    if _GROUPED.search(text) and ",0" not in text.replace(",000", ""):
        try:
            other = _as_kind(read_answer(text, grouped=False), kind)
        except ReadError:
            return (node,)
        if other != node:
            return (node, other)
    return (node,)


def _as_kind(node: Node, kind: str) -> Node:
    match kind, node:
        case "choice", _ if not isinstance(node, Choice):
            raise ReadError("no choice letter")
        case "interval", Tuple((_, _)):
            return SetOperation("union", (node,))
        case "tuple", Listing(items):
            return Tuple(items)
        case "set", Listing(items):
            return Set(items)
        case "number", _ if free_symbols(node) or not isinstance(node, EXPRESSIONS):
            raise ReadError("no number")
    return node


def _unescaped(text: str) -> str:
    """LaTeX that went through JSON twice, so that every backslash is doubled, as it was meant."""
    if "\\\\" in text and _ESCAPED_TWICE.search(text) and not _ESCAPED_ONCE.search(text):
        return _ESCAPED_TWICE.sub(r"\\", text)
    return text


@lru_cache(maxsize=4096)
def _truth(text: str, kind: str) -> Truth:
    """Read a ground truth: the whole text, or the answer in it. Raises `InvalidGroundTruth`."""
    if len(text) <= _WHOLE_LENGTH and "boxed" not in text:
        try:
            nodes = _readings(text, kind)
            return Truth(nodes, text)
        except ReadError as fault:
            first: ReadError | None = fault
    else:
        first = None
    options = MathOptions(kind=kind, sources=tuple(source for source in SOURCES if source != "text"))  # type: ignore[arg-type]
    try:
        found = find_answer(text, options)
    except ReadError as fault:
        raise InvalidGroundTruth(f"the ground truth cannot be read: {fault}") from None
    if found is None:
        raise InvalidGroundTruth(f"the ground truth cannot be read: {first or 'no answer in it'}")
    return Truth(found[1], text)


def _policy(options: MathOptions, truth: Node) -> Policy:
    return Policy(
        complex_letters=is_complex(truth),
        log_base=options.log_base,
        assume=tuple(sorted(options.assume.items())),
        rounded=options.decimals == "rounded",
        units=options.units,
        percent=options.percent,
        order=options.order,
    )


@lru_cache(maxsize=4096)
def _compare(truth: Truth, answers: tuple[Node, ...], policy: Policy) -> Outcome | Unscorable:
    """The best outcome over the readings of both sides."""
    budget.renew()
    outcome: Outcome | None = None
    for expected in truth.readings:
        for answer in answers:
            try:
                found = Comparer(policy).compare(expected, answer)
            except ComparisonError as fault:
                blamed = _blame(expected, policy)
                if blamed is not None:
                    return Unscorable("invalid_ground_truth", blamed)
                found = Outcome(equal=False, route="none", reason=_REASON.get(type(fault), "not_comparable"))
            if found.equal:
                return found
            outcome = outcome or found
    assert outcome is not None
    return outcome


def _blame(truth: Node, policy: Policy) -> str | None:
    """Why the ground truth itself cannot be compared with anything; None when the response is to blame."""
    if isinstance(truth, EXPRESSIONS):
        return _no_value(truth, policy)
    for child in children(truth):
        if (fault := _blame(child, policy)) is not None:
            return fault
    return None


def _no_value(node: Node, policy: Policy) -> str | None:
    budget.renew()
    evaluator = Evaluator(complex_values=is_complex(node) or policy.complex_letters, log_base=policy.log_base)
    fault: str | None = "the ground truth has no value at any point"
    for point in points(
        sorted(free_symbols(node)), dict(policy.assume), complex_letters=policy.complex_letters
    ):
        try:
            evaluator.at(node, point, COARSE)
            return None
        except (Undefined, Unclear):
            continue
        except TooCostly as costly:
            return f"the ground truth is too costly: {costly}"
        except NotComparable as unknown:
            return f"the ground truth cannot be compared: {unknown}"
    return fault
