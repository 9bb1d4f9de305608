"""What people say about answers: appended, never changed, on disk before anybody is told so."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Final, Literal, TypeVar, get_args

from sqlalchemy import Connection, Engine, Row, bindparam, insert, select, update

from audit import timestamps
from audit.database import DATABASE_ERRORS, fault, writing_engine
from audit.errors import LabelNotStoredError, UnknownLabelError, UnknownVerdictError
from audit.schema import label, verdict

Answer = Literal["correct", "incorrect", "unsure", "bad_ground_truth"]
"""Whether the *answer* is right, whatever a verifier said of it."""

_T = TypeVar("_T")

ANSWERS: Final[tuple[Answer, ...]] = get_args(Answer)

MAX_WORD: Final = 1024
"""Characters of a labeler's name and of a cause, at most."""

MAX_NOTE: Final = 16_384


@dataclass(frozen=True, slots=True)
class NewLabel:
    """A label before it is stored."""

    answer: Answer
    labeler: str
    cause: str | None = None
    """One word or phrase for why the verdict is wrong, the labelers' own."""
    note: str | None = None
    drawn: bool = True
    """The verdict was drawn for labelling; one that was looked for says nothing about rates."""


@dataclass(frozen=True, slots=True)
class Label:
    """One row of the table `label`."""

    id: str
    verdict_id: str
    created_at_ms: int
    labeler: str
    answer: Answer
    cause: str | None
    note: str | None
    drawn: bool
    withdraws: str | None
    """The earlier label that this row takes back; its answer is repeated."""

    def as_json(self) -> dict[str, Any]:
        """As it is told over HTTP."""
        told = asdict(self)
        told["created_at"] = timestamps.from_ms(told.pop("created_at_ms"))
        return told


def labels_from_json(labels: Iterable[dict[str, Any]]) -> list[Label]:
    """Labels as a document tells them, oldest first; their times keep the order and nothing else."""
    fields = ({**one, "created_at_ms": place} for place, one in enumerate(labels))
    return [Label(**{name: value for name, value in one.items() if name != "created_at"}) for one in fields]


@dataclass(frozen=True, slots=True)
class Truth:
    """What the labels of one verdict come to."""

    answer: Answer
    """The common answer; `unsure` where two labelers contradict each other."""
    drawn: bool
    """At least one of them was drawn."""
    by_labeler: dict[str, Answer]
    """Each labeler's latest answer that was not taken back."""


def standing(labels: Iterable[Label]) -> dict[str, Label]:
    """Each labeler's latest label that was not taken back. labels: all of one verdict, in any order."""
    everything = sorted(labels, key=lambda one: (one.created_at_ms, one.id))
    withdrawn = {one.withdraws for one in everything if one.withdraws is not None}
    return {one.labeler: one for one in everything if one.withdraws is None and one.id not in withdrawn}


def truth(labels: Iterable[Label]) -> Truth | None:
    """What the labels of one verdict come to; None if there are none, or all were taken back.

    An `unsure` gives way to an answer; two different answers make it `unsure` again.
    """
    latest = standing(labels)
    if not latest:
        return None
    answers = {one.answer for one in latest.values()}
    decided = answers - {"unsure"}
    answer: Answer = decided.pop() if len(decided) == 1 else "unsure"
    by_labeler = {labeler: one.answer for labeler, one in latest.items()}
    return Truth(answer, any(one.drawn for one in latest.values()), by_labeler)


class LabelBook:
    """Stores and gives labels. Every method blocks: call it in a thread.

    new_id: gives ids that sort by time (UUIDv7). Whatever the durability of the verdict log, a label is on
    disk (`synchronous=FULL`) when `add` and `withdraw` return.
    """

    def __init__(self, url: str, new_id: Callable[[], str]) -> None:
        self._url = url
        self._new_id = new_id
        self._lock = threading.Lock()

    @cached_property
    def _engine(self) -> Engine:
        return writing_engine(self._url, "commit")

    def add(self, verdict_id: str, new: NewLabel) -> Label:
        """Store a label. Raises `UnknownVerdictError` and `LabelNotStoredError`."""

        def write(connection: Connection) -> Label:
            if not _locked(connection, verdict_id):
                raise UnknownVerdictError(verdict_id)
            return self._append(connection, verdict_id, asdict(new), withdraws=None)

        return self._write(write)

    def withdraw(self, label_id: str) -> Label:
        """Take a label back, by a row that says so; the same label twice gives the first such row.

        Raises `UnknownLabelError` and `LabelNotStoredError`.
        """

        def write(connection: Connection) -> Label:
            found = connection.execute(select(label).where(label.c.id == label_id)).one_or_none()
            if found is None or found.withdraws is not None:
                raise UnknownLabelError(label_id)
            _locked(connection, found.verdict_id)
            before = connection.execute(
                select(label).where(label.c.withdraws == label_id, label.c.verdict_id == found.verdict_id)
            ).first()
            if before is not None:
                return as_label(before)
            names = ("answer", "labeler", "cause", "note", "drawn")
            fields = {name: getattr(found, name) for name in names}
            return self._append(connection, found.verdict_id, fields, withdraws=label_id)

        return self._write(write)

    def restore(self, row: Label) -> bool:
        """Store a label as it was elsewhere, with its id and time; False if it is there already.

        Raises `UnknownVerdictError` and `LabelNotStoredError`.
        """

        def write(connection: Connection) -> bool:
            if connection.scalar(select(verdict.c.id).where(verdict.c.id == row.verdict_id)) is None:
                raise UnknownVerdictError(row.verdict_id)
            if connection.scalar(select(label.c.id).where(label.c.id == row.id)) is not None:
                return False
            self._insert(connection, row)
            return True

        return self._write(write)

    def _append(
        self, connection: Connection, verdict_id: str, fields: dict[str, Any], withdraws: str | None
    ) -> Label:
        """Add a row, and keep `verdict.labelled` true to what stands after it."""
        now_ms = time.time_ns() // 1_000_000
        row = Label(
            id=self._new_id(), verdict_id=verdict_id, created_at_ms=now_ms, withdraws=withdraws, **fields
        )
        self._insert(connection, row)
        return row

    @staticmethod
    def _insert(connection: Connection, row: Label) -> None:
        connection.execute(insert(label).values(asdict(row)))
        labelled = truth(labels_of(connection, row.verdict_id)) is not None
        connection.execute(update(verdict).where(verdict.c.id == row.verdict_id).values(labelled=labelled))

    def _write(self, act: Callable[[Connection], _T]) -> _T:
        try:
            with self._lock, self._engine.begin() as connection:
                return act(connection)
        except DATABASE_ERRORS as error:
            kind, message = fault(error)
            raise LabelNotStoredError(f"{kind}: {message}") from error


def _locked(connection: Connection, verdict_id: str) -> bool:
    """Whether a verdict is stored; nobody else labels it until this transaction ends."""
    query = select(verdict.c.id).where(verdict.c.id == verdict_id).with_for_update()
    return connection.scalar(query) is not None


_LABELS: Final = (
    select(label)
    .where(label.c.verdict_id == bindparam("verdict_id"))
    .order_by(label.c.created_at_ms, label.c.id)
)


def labels_of(connection: Connection, verdict_id: str) -> list[Label]:
    """All labels of one verdict, oldest first, those taken back and the rows that did so included."""
    return [as_label(row) for row in connection.execute(_LABELS, {"verdict_id": verdict_id})]


def truths(connection: Connection) -> dict[str, Truth]:
    """What the labels of every labelled verdict come to, by the verdict's id."""
    by_verdict: dict[str, list[Label]] = {}
    for row in connection.execute(select(label)):
        by_verdict.setdefault(row.verdict_id, []).append(as_label(row))
    found = {verdict_id: truth(labels) for verdict_id, labels in by_verdict.items()}
    return {verdict_id: one for verdict_id, one in found.items() if one is not None}


_NAMES: Final = tuple(label.c.keys())


def as_label(row: Row[Any]) -> Label:
    """A row with the table's columns as a `Label`."""
    return Label(**{name: getattr(row, name) for name in _NAMES})
