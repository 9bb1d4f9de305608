"""One stored verdict as a page shows it: texts cut into pieces, numbers as they were written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from app.pages.characters import Character, curious
from app.pages.program_tests import ProgramTest, program_tests
from app.pages.segments import Evidence, Segment, marked, segments
from audit import exact_json
from audit.labels import Label, labels_from_json, standing

FOLD_ABOVE: Final = 60_000
"""A longer text is shown by its first and last `FOLD_KEEPS` characters."""
FOLD_KEEPS: Final = 24_000
ANSWER: Final = "answer"
"""Name of the evidence that is the place of the extracted answer."""

_SHOWN_APART: Final = {"extracted", "expected", "span", "tests", "language"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a JSON document, as it is written there."""

    text: str

    def __str__(self) -> str:
        return self.text

    def __int__(self) -> int:
        return int(self.text)


@dataclass(frozen=True, slots=True)
class Passage:
    """A long text: drawn, and as it is. folded: characters left out where `rendered` and `raw` have a gap."""

    rendered: list[Segment]
    raw: list[Segment]
    length: int
    folded: int = 0
    rendered_end: list[Segment] = field(default_factory=list)
    raw_end: list[Segment] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the prompt. role: empty when the prompt is one text."""

    role: str
    text: Passage


@dataclass(frozen=True, slots=True)
class Sample:
    """Everything about a stored verdict."""

    stored: Mapping[str, Any]
    """The document of `GET /v1/audit/verdicts/{id}`."""
    mine: Label | None
    """The label of whoever looks at it."""
    withdrawn: set[str]
    """Ids of the labels that were taken back."""
    prompt: list[Message]
    response: Passage
    expected: list[str]
    """The ground truth; several when any of them will do."""
    extracted: str | None
    characters: list[Character]
    """In what was expected and extracted: what cannot be seen, or could be taken for something else."""
    decided: list[tuple[str, str]]
    """Steps and numbers behind the verdict, named as in `verdict.detail`."""
    tests: list[ProgramTest]

    @property
    def id(self) -> str:
        """Of the verdict."""
        return str(self.stored["id"])

    @property
    def reply(self) -> Mapping[str, Any]:
        """What the service answered."""
        reply: Mapping[str, Any] = self.stored["reply"]
        return reply

    @property
    def answers_by_program(self) -> bool:
        """Whether the ground truth is tests rather than a text to compare with."""
        return bool(self.tests) or self.stored["verifier"]["name"] == "code"


def read_sample(document: bytes, labeler: str, *, blind: bool, whole: bool = False) -> Sample:
    """The sample in a document of `VerdictLog.get`, as it is for `labeler`.

    blind: without the evidence that gives the verdict away, until this labeler has labelled it.
    """
    stored = json.loads(document.decode("utf-8", "replace"), parse_int=Number, parse_float=Number)
    detail = (stored["reply"].get("verdict") or {}).get("detail") or {}
    truth = stored.get("ground_truth")
    tests = program_tests(truth, detail)
    expected = [] if tests else _texts(truth)
    extracted = detail.get("extracted")
    labels = labels_from_json(stored["labels"])
    mine = standing(labels).get(labeler)
    hidden = blind and mine is None
    evidence = _answer_place(detail) + ([] if hidden else _flag_places(stored["flag_evidence"]))
    options = stored["request"].get("options") or {}
    response = stored["response"]
    if options.get("extract") == "raw":
        text = Passage([Segment("code", response, "", "python")], marked(response, evidence), len(response))
    else:
        text = _passage(response, evidence, whole=whole)
    return Sample(
        stored=stored,
        mine=mine,
        withdrawn={one.withdraws for one in labels if one.withdraws is not None},
        prompt=_messages(stored.get("prompt")),
        response=text,
        expected=expected,
        extracted=extracted,
        characters=curious([*expected, extracted or ""]),
        decided=[(name, _fact(value)) for name, value in detail.items() if name not in _SHOWN_APART],
        tests=tests,
    )


def _passage(text: str, evidence: Sequence[Evidence] = (), *, whole: bool = False) -> Passage:
    if len(text) <= FOLD_ABOVE or whole:
        return Passage(segments(text, evidence), marked(text, evidence), len(text))
    cut = len(text) - FOLD_KEEPS
    head, tail = text[:FOLD_KEEPS], text[cut:]
    late = [Evidence(max(0, one.start - cut), one.end - cut, one.name) for one in evidence if one.end > cut]
    return Passage(
        segments(head, evidence),
        marked(head, evidence),
        len(text),
        cut - FOLD_KEEPS,
        segments(tail, late),
        marked(tail, late),
    )


def _messages(prompt: Any) -> list[Message]:
    """A prompt is one text, or chat messages whose content is a text or a list of parts."""
    if prompt is None:
        return []
    if isinstance(prompt, str):
        return [Message("", _passage(prompt))]
    messages = prompt if isinstance(prompt, list) else [prompt]
    return [
        Message(str(one.get("role", "")), _passage(_content(one.get("content"))))
        if isinstance(one, dict)
        else Message("", _passage(_text(one)))
        for one in messages
    ]


def _content(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part if isinstance(part, str) else _text(part) for part in parts)
    return _text(content)


def _texts(truth: Any) -> list[str]:
    """A ground truth as texts: each of a list's members would do."""
    if truth is None:
        return []
    if isinstance(truth, list) and all(isinstance(one, str) for one in truth):
        return truth
    return [_text(truth)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else exact_json.dump(value).decode("utf-8", "replace")


def _fact(value: Any) -> str:
    """A value of a verdict's detail in one line."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(member)}" for name, member in value.items())
    return "–" if value is None else _text(value)


def _answer_place(detail: Mapping[str, Any]) -> list[Evidence]:
    span = detail.get("span")
    return [Evidence(int(span[0]), int(span[1]), ANSWER)] if isinstance(span, list) and len(span) == 2 else []


def _flag_places(flags: Sequence[Mapping[str, Any]]) -> list[Evidence]:
    return [
        Evidence(int(span[0]), int(span[1]), one["flag"])
        for one in flags
        if isinstance(one["evidence"], list)
        for span in one["evidence"]
        if isinstance(span, list) and len(span) == 2
    ]
