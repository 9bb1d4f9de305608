"""What is wrong with the ground truths of a data set, before a run is trained on them.

Pure functions over lines and texts; `goldcheck lint` adds the progress bar. Reads and evaluates with FLINT,
so it belongs in a command of its own and never in the service's process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from verifiers.literals import FloatLiteral
from verifiers.math.judge import InvalidGroundTruth, Truth, cost_of, read_truth
from verifiers.math.options import MathOptions
from verifiers.math.traverse import walk
from verifiers.math.tree import Call, Choice, Number, Quantity, Symbol, Tuple
from verifiers.math.verifier import as_text

ProblemKind = Literal[
    "not_json", "no_ground_truth", "unreadable", "not_comparable", "tiny", "two_readings",
    "point_or_interval",
    "log_without_base", "rounded_decimal", "letter",
]  # fmt: skip

SMALL_INVERSE = 1_000
"""Below a thousandth the absolute part of `numeric`'s tolerance decides."""
FIELDS = ("ground_truth", "answer", "gold", "expected_answer", "solution")
"""Names under which data sets keep the ground truth, in the order they are looked for."""


class Problem(NamedTuple):
    """One finding. `line` counts from 1; `fatal` ones make every response to the item unscorable."""

    line: int
    kind: ProblemKind
    fatal: bool
    message: str


def lint_lines(lines: Iterable[str], field: str | None = None) -> Iterator[Problem | None]:
    """The findings of a JSONL file, and a None after each line, for a progress bar.

    field: the name of the ground truth; by default the first of `FIELDS` that an item has.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield from _lint_line(number, line, field)
        yield None


def _lint_line(number: int, line: str, field: str | None) -> Iterator[Problem]:
    try:
        item = json.loads(line, parse_float=FloatLiteral)
    except ValueError as fault:
        yield Problem(number, "not_json", True, str(fault))
        return
    names = FIELDS if field is None else (field,)
    name = next((name for name in names if isinstance(item, dict) and name in item), None)
    text = None if name is None else as_text(item[name])
    if text is None:
        yield Problem(number, "no_ground_truth", True, f"no text, number or list under {' or '.join(names)}")
        return
    for alternative in text if isinstance(text, list) else [text]:
        for kind, fatal, message in lint_truth(alternative):
            yield Problem(number, kind, fatal, message)


def lint_truth(text: str, options: MathOptions | None = None) -> Iterator[tuple[ProblemKind, bool, str]]:
    """(kind, fatal, message) for each doubt about one ground truth."""
    options = options or MathOptions()
    try:
        truth = read_truth(text, options.kind)
    except InvalidGroundTruth as fault:
        yield "unreadable", True, str(fault)
        return
    if (fault_text := cost_of(truth.readings[0], options)) is not None:
        yield "not_comparable", True, fault_text
    yield from _doubts(truth)


def _doubts(truth: Truth) -> Iterator[tuple[ProblemKind, bool, str]]:
    node = truth.readings[0]
    if len(truth.readings) > 1:
        yield "two_readings", False, "a comma between digits: one number, or a list; both are accepted"
    value = node.value if isinstance(node, Quantity) else node
    if isinstance(value, Number) and 0 < abs(value.numerator) * SMALL_INVERSE < value.denominator:
        yield "tiny", False, "below 1e-3: `numeric` accepts 0 for it unless tolerance_mode is relative"
    match node:
        case Tuple((_, _), "(", ")"):
            yield "point_or_interval", False, "two entries in round brackets: set options.kind to tell which"
        case Choice(_, None) | Symbol():
            yield "letter", False, "a single letter: a choice, or a variable"
        case Number(places=places) if places is not None and places >= 2:
            yield "rounded_decimal", False, "a decimal is compared exactly unless options.decimals is rounded"
    if any(isinstance(part, Call) and part.name == "log" and len(part.arguments) == 1 for part in walk(node)):
        yield "log_without_base", False, "a log without its base is decimal: set options.log_base"
