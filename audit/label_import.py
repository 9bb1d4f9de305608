"""Labels coming back from a file: exported verdicts with their labels, or a label a line; again is safe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal

from audit.connections import Database
from audit.errors import UnknownVerdictError
from audit.keys import column_text
from audit.labels import ANSWERS, MAX_NOTE, MAX_WORD, Label, LabelBook, NewLabel, labels_of, standing

Result = Literal["added", "known", "unknown_verdict"]

_NEW_FIELDS: Final = ("answer", "labeler", "cause", "note", "drawn")
_LONGEST: Final = {"labeler": MAX_WORD, "cause": MAX_WORD, "note": MAX_NOTE}
_LONGEST_ID: Final = 64
_CLOCKS_DIFFER: Final = timedelta(days=1)


class BadLabelLineError(ValueError):
    """A line that holds neither labels nor a verdict with labels; the message says what is wrong."""


@dataclass(slots=True)
class Importer:
    """Stores labels that are not there yet. Blocks; raises `LabelNotStoredError`, `LogUnavailableError`."""

    book: LabelBook
    database: Database
    results: dict[Result, int] = field(default_factory=dict)

    def add_line(self, line: bytes) -> None:
        """Store the labels of one line. Raises `BadLabelLineError`; then nothing of the line is stored."""
        for label in list(_labels(line)):
            result = self._restore(label) if isinstance(label, Label) else self._add(*label)
            self.results[result] = self.results.get(result, 0) + 1

    def _restore(self, label: Label) -> Result:
        try:
            return "added" if self.book.restore(label) else "known"
        except UnknownVerdictError:
            return "unknown_verdict"

    def _add(self, verdict_id: str, new: NewLabel) -> Result:
        """A label without an id is known when its labeler's latest label of this verdict says the same."""
        latest = self._standing(verdict_id).get(new.labeler)
        if latest is not None and all(getattr(latest, name) == getattr(new, name) for name in _NEW_FIELDS):
            return "known"
        try:
            self.book.add(verdict_id, new)
        except UnknownVerdictError:
            return "unknown_verdict"
        return "added"

    def _standing(self, verdict_id: str) -> dict[str, Label]:
        with self.database.transaction() as connection:
            return standing(labels_of(connection, verdict_id))


def _labels(line: bytes) -> Iterator[Label | tuple[str, NewLabel]]:
    """The labels of a line: of an exported verdict, exported by themselves, or written by hand."""
    try:
        fields = json.loads(line.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise BadLabelLineError(f"not JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadLabelLineError("not an object")
    if isinstance(fields.get("labels"), list):
        yield from map(_stored, fields["labels"])
    elif "id" in fields and "created_at" in fields:
        yield _stored(fields)
    else:
        yield _text(fields, "verdict_id"), _new(fields)


def _stored(fields: Any) -> Label:
    if not isinstance(fields, dict):
        raise BadLabelLineError("labels: not a list of objects")
    moment = _moment(_text(fields, "created_at"))
    new = _new(fields)
    return Label(
        id=_text(fields, "id"),
        verdict_id=_text(fields, "verdict_id"),
        created_at_ms=round(moment.timestamp() * 1000),
        withdraws=_text(fields, "withdraws", optional=True) or None,
        **{name: getattr(new, name) for name in _NEW_FIELDS},
    )


def _moment(text: str) -> datetime:
    """When a label was made; without a zone in UTC. One from the future would outdo every later label."""
    try:
        read = datetime.fromisoformat(text)
        moment = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadLabelLineError("created_at: not a time") from None
    if not datetime.fromtimestamp(0, UTC) <= moment <= datetime.now(UTC) + _CLOCKS_DIFFER:
        raise BadLabelLineError("created_at: before 1970 or in the future")
    return moment


def _new(fields: dict[str, Any]) -> NewLabel:
    answer = _text(fields, "answer")
    if answer not in ANSWERS:
        raise BadLabelLineError(f"answer: {answer[:40]!r} is none of {', '.join(ANSWERS)}")
    drawn = fields.get("drawn", False)
    if not isinstance(drawn, bool):
        raise BadLabelLineError("drawn: not true or false")
    return NewLabel(
        answer=answer,
        labeler=_text(fields, "labeler"),
        cause=_text(fields, "cause", optional=True) or None,
        note=_text(fields, "note", optional=True) or None,
        drawn=drawn,
    )


def _text(fields: dict[str, Any], name: str, *, optional: bool = False) -> str:
    value = fields.get(name)
    if optional and value is None:
        return ""
    if not isinstance(value, str) or not (value or optional):
        raise BadLabelLineError(f"{name}: not a text" if name in fields else f"{name} is missing")
    longest = _LONGEST.get(name, _LONGEST_ID)
    if len(value) > longest:
        raise BadLabelLineError(f"{name}: more than {longest:,} characters")
    return column_text(value)
