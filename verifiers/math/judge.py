"""One response against its ground truth: extract, read, compare. Runs in the worker processes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from verifiers.math.cache import BoundedCache
from verifiers.math.compare import budget
from verifiers.math.compare.answers import Comparer
from verifiers.math.compare.blame import blame
from verifiers.math.compare.defined import is_undefined
from verifiers.math.compare.errors import ComparisonError, TooCostly, Undefined
from verifiers.math.compare.policy import Outcome, Policy
from verifiers.math.compare.values import is_complex
from verifiers.math.describe import describe
from verifiers.math.extract import Candidate, candidates
from verifiers.math.options import SOURCES, MathOptions
from verifiers.math.prose import is_prose
from verifiers.math.read import phrases
from verifiers.math.read.answer import read_answer
from verifiers.math.read.errors import ReadError, TooLarge, UnsupportedKind
from verifiers.math.read.tokens import MAX_CHARACTERS
from verifiers.math.traverse import free_symbols
from verifiers.math.tree import EXPRESSIONS, Choice, Listing, Node, Set, SetOperation, Special, Text, Tuple
from verifiers.math.wrapping import bare
from verifiers.types import Outcome as Judgement
from verifiers.types import Unscorable, Verdict

_GROUPED = re.compile(r"\d,\d{3}(?!\d)")
_WHOLE_LENGTH = 2_000
_REASON = {TooCostly: "too_costly", Undefined: "undefined_value"}
CLIP = 512
"""Characters of the response in a summary."""
MAX_TRUTHS = 64
"""Alternatives in a list of ground truths."""


class InvalidGroundTruth(Exception):
    """The ground truth is no answer that could be compared with."""


@dataclass(frozen=True, slots=True)
class Truth:
    """A ground truth as read; with commas between digits it may have a second reading, as a list."""

    readings: tuple[Node, ...]
    text: str


def judge(response: str, ground_truth: Any, options: MathOptions) -> Judgement:
    """The verdict on `response`. `ground_truth` is a string, a number's literal, or a list of
    alternatives."""
    alternatives = ground_truth if isinstance(ground_truth, list) else [ground_truth]
    if not 1 <= len(alternatives) <= MAX_TRUTHS or not all(isinstance(text, str) for text in alternatives):
        return Unscorable(
            "invalid_ground_truth", "a ground truth is a text, a number, or a list of 1 to 64 texts"
        )
    try:
        truths = [read_truth(text, options.kind) for text in alternatives]
    except InvalidGroundTruth as fault:
        return Unscorable("invalid_ground_truth", str(fault))
    verdict: Judgement = _judge_one(response, truths[0], options)
    for truth in truths[1:]:
        if isinstance(verdict, Unscorable) or verdict.correct:
            break
        verdict = _judge_one(response, truth, options)
    return verdict


def _judge_one(response: str, truth: Truth, options: MathOptions) -> Judgement:
    found = find_answer(response, options, wants=truth.readings[0])
    if isinstance(found.answer, ReadError):
        return _refused(found, found.answer, truth, options)
    outcome = _compared(truth, found, _policy(options, truth.readings[0]))
    if isinstance(outcome, Unscorable):
        return outcome
    reason = "equal" if outcome.equal else outcome.reason or "different"
    shown = {"parsed": describe(found.answer[0]), "route": outcome.route}
    flags = tuple(sorted(outcome.flags)) if outcome.equal else ()
    detail = _detail(found, truth, options, shown)
    return Verdict(outcome.equal, reason, float(outcome.equal), detail, flags, _span(found))


def _refused(found: Found, fault: ReadError, truth: Truth, options: MathOptions) -> Verdict:
    match fault:
        case TooLarge():
            reason = "too_costly"
        case UnsupportedKind():
            reason = "unsupported_kind"
        case _:
            reason = "no_answer" if found.candidate is None or not found.candidate.text else "unparsable"
    detail = _detail(found, truth, options, {"problem": str(fault)})
    return Verdict(False, reason, 0.0, detail, span=_span(found))


def _span(found: Found) -> tuple[int, int] | None:
    return None if found.candidate is None else (found.candidate.start, found.candidate.end)


def _detail(found: Found, truth: Truth, options: MathOptions, shown: dict[str, str]) -> dict[str, Any]:
    """What was taken from the response, where, and how it was decided."""
    if options.detail == "none":
        return {}
    taken: dict[str, Any] = {"extracted": None, "source": None, "span": None}
    if found.candidate is not None:
        text = found.candidate.text
        taken = {
            "extracted": text if options.detail == "full" else text[:CLIP],
            "source": found.candidate.source,
            "span": [found.candidate.start, found.candidate.end],
        }
    return {**taken, "expected": describe(truth.readings[0]), **shown}


class Found(NamedTuple):
    """The place that counts, and its readings or why it has none."""

    candidate: Candidate | None
    answer: tuple[Node, ...] | ReadError


def find_answer(response: str, options: MathOptions, wants: Node | None = None) -> Found:
    """The first candidate that can be read. A box or tag alone decides, read or not.

    wants: the ground truth. One that is a choice letter passes over places that hold none; words out of
    running prose count only when it is words itself.
    """
    unread: Found | None = None
    other: Found | None = None
    for candidate in candidates(response, options):
        if candidate.loose and is_prose(candidate.text) and not isinstance(wants, Choice):
            continue
        try:
            found = Found(
                candidate, _readings(candidate.text, options.kind, choice=isinstance(wants, Choice))
            )
        except ReadError as fault:
            if candidate.source in _DECIDING and not isinstance(wants, Choice):
                return Found(candidate, fault)
            if not candidate.loose and candidate.source != "text":
                unread = unread or Found(candidate, fault)
            continue
        if _counts(found, wants):
            return found
        if wants is None or isinstance(wants, Choice):
            other = other or found
    return other or unread or Found(None, ReadError("no answer found"))


_DECIDING = frozenset(("boxed", "tags"))


def _counts(found: Found, wants: Node | None) -> bool:
    assert found.candidate is not None
    assert isinstance(found.answer, tuple)
    answer = found.answer[0]
    if isinstance(wants, Choice):
        return isinstance(answer, Choice)
    if isinstance(answer, Text | Special) and found.candidate.source not in _DECIDING | {"hash"}:
        return isinstance(wants, Text | Special)
    return True


_kept: BoundedCache[tuple[str, str, bool], tuple[Node, ...]] = BoundedCache()


def _readings(text: str, kind: str, *, choice: bool = False) -> tuple[Node, ...]:
    """What `text` may say. Kept, for many responses to one prompt end in the same answer."""
    key = text, kind, choice
    readings = _kept.get(key)
    if readings is None:
        readings = _read(text, kind, choice=choice)
        _kept.put(key, readings, len(text))
    return readings


def _read(text: str, kind: str, *, choice: bool) -> tuple[Node, ...]:
    text = bare(text)
    if kind == "text":
        if len(text) > MAX_CHARACTERS:
            raise TooLarge(f"longer than {MAX_CHARACTERS} characters")
        return (phrases.words(phrases.plain(text)),)
    try:
        node = _as_kind(read_answer(text), kind)
    except ReadError:
        letter = phrases.leading_choice(phrases.plain(text)) if choice else None
        if letter is None:
            raise
        return (letter,)
    if choice and not isinstance(node, Choice):
        return (phrases.leading_choice(phrases.plain(text)) or node,)
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


_truths: BoundedCache[tuple[str, str], Truth] = BoundedCache()
_outcomes: BoundedCache[tuple[Truth, tuple[Node, ...], Policy], Outcome | Unscorable] = BoundedCache()


def read_truth(text: str, kind: str) -> Truth:
    """Read a ground truth: the whole text, or the answer in it. Raises `InvalidGroundTruth`."""
    truth = _truths.get((text, kind))
    if truth is None:
        truth = _read_truth(text, kind)
        _truths.put((text, kind), truth, len(text))
    return truth


_NOT_GIVEN = frozenset(("nan", "NaN", "NAN", "N/A", "null"))
"""What stands in a data set where a ground truth is missing."""


def _read_truth(text: str, kind: str) -> Truth:
    if text.strip() in _NOT_GIVEN:
        raise InvalidGroundTruth("the ground truth is missing")
    truth = _truth_as_read(text, kind)
    if any(is_undefined(reading) for reading in truth.readings):
        raise InvalidGroundTruth("the ground truth has no value")
    return truth


def _truth_as_read(text: str, kind: str) -> Truth:
    if len(text) <= _WHOLE_LENGTH and "boxed" not in text:
        try:
            nodes = _readings(text, kind)
            return Truth(nodes, text)
        except ReadError as fault:
            first: ReadError | None = fault
    else:
        first = None
    options = MathOptions(kind=kind, sources=tuple(source for source in SOURCES if source != "text"))
    found = find_answer(text, options)
    if isinstance(found.answer, ReadError):
        raise InvalidGroundTruth(f"the ground truth cannot be read: {first or found.answer}")
    return Truth(found.answer, text)


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


def _compared(truth: Truth, found: Found, policy: Policy) -> Outcome | Unscorable:
    assert found.candidate is not None
    assert isinstance(found.answer, tuple)
    key = (truth, found.answer, policy)
    outcome = _outcomes.get(key)
    if outcome is None:
        outcome = _compare(*key)
        characters = len(truth.text) + len(found.candidate.text) + sum(len(name) for name, _ in policy.assume)
        _outcomes.put(key, outcome, characters)
    return outcome


def _compare(truth: Truth, answers: tuple[Node, ...], policy: Policy) -> Outcome | Unscorable:
    """The best outcome over the readings of both sides."""
    budget.renew()
    outcome: Outcome | None = None
    for expected in truth.readings:
        for answer in answers:
            try:
                found = Comparer(policy).compare(expected, answer)
            except ComparisonError as fault:
                blamed = blame(expected, policy)
                if blamed is not None:
                    return Unscorable("invalid_ground_truth", blamed)
                found = Outcome(equal=False, route="none", reason=_REASON.get(type(fault), "not_comparable"))
            if found.equal:
                return found
            outcome = outcome or found
    assert outcome is not None
    return outcome


def cost_of(truth: Node, options: MathOptions) -> str | None:
    """Why a ground truth cannot be compared with anything, in words; None when it can."""
    return blame(truth, _policy(options, truth))
