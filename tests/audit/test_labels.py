"""Labels: appended, on disk before anybody is told, and what they come to."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording import keep, make_id, make_record, opened, rows, until, url_of

from audit.errors import LabelNotStoredError, UnknownLabelError, UnknownVerdictError
from audit.labels import Answer, Label, LabelBook, NewLabel, standing, truth
from audit.log import VerdictLog
from audit.types import LogConfig

ANSWERS: tuple[Answer, ...] = get_args(Answer)


def make_label(number: int, labeler: str, answer: Answer, **fields: Any) -> Label:
    """A label; later numbers are later."""
    named = {"cause": None, "note": None, "drawn": True, "withdraws": None} | fields
    return Label(f"{number:04}", "v", number, labeler, answer, **named)


def book(path: Path) -> LabelBook:
    return LabelBook(url_of(path), make_id)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([], None),
        ([("ada", "correct")], "correct"),
        ([("ada", "correct"), ("ada", "incorrect")], "incorrect"),
        ([("ada", "correct"), ("bob", "correct")], "correct"),
        ([("ada", "correct"), ("bob", "incorrect")], "unsure"),
        ([("ada", "correct"), ("bob", "bad_ground_truth")], "unsure"),
        ([("ada", "unsure"), ("bob", "incorrect")], "incorrect"),
        ([("ada", "unsure"), ("bob", "unsure")], "unsure"),
        ([("ada", "correct"), ("bob", "incorrect"), ("bob", "correct")], "correct"),
    ],
)
def test_what_labels_come_to(answers: list[tuple[str, Answer]], expected: Answer | None) -> None:
    """Each labeler's latest counts; an unsure gives way; two different answers make it unsure."""
    labels = [make_label(n, labeler, answer) for n, (labeler, answer) in enumerate(answers)]
    found = truth(labels)
    assert (None if found is None else found.answer) == expected


def test_a_withdrawal_brings_back_the_label_before() -> None:
    """What is taken back does not count, and the labeler's label before it does again."""
    first, second = make_label(1, "ada", "correct"), make_label(2, "ada", "incorrect")
    undo = make_label(3, "ada", "incorrect", withdraws=second.id)
    assert standing([first, second, undo]) == {"ada": first}
    assert truth([first, make_label(2, "ada", "correct", withdraws=first.id)]) is None


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from(ANSWERS), st.booleans(), st.integers(0, 20)),
        max_size=12,
    ),
    st.randoms(),
)
def test_order_of_rows_does_not_matter(steps: list[tuple[str, Answer, bool, int]], random: Any) -> None:
    """Whatever order the database gives labels in, they come to the same."""
    labels: list[Label] = []
    for number, (labeler, answer, drawn, target) in enumerate(steps):
        open_ones = [one.id for one in labels if one.withdraws is None]
        withdraws = open_ones[target] if target < len(open_ones) else None
        labels.append(make_label(number, labeler, answer, drawn=drawn, withdraws=withdraws))
    expected = truth(labels)
    shuffled = random.sample(labels, len(labels))
    assert truth(shuffled) == expected
    if expected is not None:
        assert set(expected.by_labeler) == set(standing(labels))


async def test_labels_are_appended(tmp_path: Path) -> None:
    """A label and its withdrawal are both rows, and `labelled` says whether something stands."""
    path = tmp_path / "log.db"
    record = make_record()
    async with opened(path, durability="commit") as log:
        await keep(log, record)
        labels = book(path)
        first = labels.add(record.id, NewLabel("correct", "ada", cause="unit", note="in cm", drawn=False))
        second = labels.add(record.id, NewLabel("incorrect", "bob"))
        assert rows(path, "SELECT labelled FROM verdict") == [(1,)]
        undo = labels.withdraw(first.id)
        assert labels.withdraw(first.id) == undo
        assert rows(path, "SELECT labelled FROM verdict") == [(1,)]
        labels.withdraw(second.id)
        assert rows(path, "SELECT labelled FROM verdict") == [(0,)]
        stored = rows(
            path,
            "SELECT labeler, answer, cause, note, drawn, withdraws FROM label ORDER BY created_at_ms, id",
        )
        found = log.get(record.id)
    assert stored == [
        ("ada", "correct", "unit", "in cm", 0, None),
        ("bob", "incorrect", None, None, 1, None),
        ("ada", "correct", "unit", "in cm", 0, first.id),
        ("bob", "incorrect", None, None, 1, second.id),
    ]
    assert found is not None
    assert found.count(b'"withdraws":"') == 2


async def test_what_cannot_be_labelled(tmp_path: Path) -> None:
    """Unknown verdicts, unknown labels and withdrawals are refused, and nothing is stored."""
    path = tmp_path / "log.db"
    record = make_record()
    async with opened(path, durability="commit") as log:
        await keep(log, record)
        labels = book(path)
        with pytest.raises(UnknownVerdictError):
            labels.add(make_id(), NewLabel("correct", "ada"))
        with pytest.raises(UnknownLabelError):
            labels.withdraw(make_id())
        undo = labels.withdraw(labels.add(record.id, NewLabel("correct", "ada")).id)
        with pytest.raises(UnknownLabelError):
            labels.withdraw(undo.id)
        assert rows(path, "SELECT count(*) FROM label") == [(2,)]


def locked(path: Path) -> Callable[[], None]:
    holder = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    return holder.close


async def test_a_locked_database_refuses_the_label(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller is told, nothing is stored, and the same label is taken once the lock is gone."""
    monkeypatch.setattr("audit.database.BUSY_TIMEOUT_S", 0.05)
    path = tmp_path / "log.db"
    record = make_record()
    async with opened(path, durability="commit") as log:
        await keep(log, record)
        labels = book(path)
        release = locked(path)
        with pytest.raises(LabelNotStoredError, match="locked"):
            labels.add(record.id, NewLabel("correct", "ada"))
        release()
        labels.add(record.id, NewLabel("correct", "ada"))
        assert rows(path, "SELECT count(*) FROM label") == [(1,)]


async def test_labelers_at_once_lose_nothing(tmp_path: Path) -> None:
    """Labels from many threads beside a log that writes are all there, each with an id of its own."""
    path = tmp_path / "log.db"
    record = make_record()
    async with opened(path, durability="commit") as log:
        await keep(log, record)
        labels = book(path)
        threads = [
            threading.Thread(target=lambda n=n: labels.add(record.id, NewLabel("correct", f"labeler {n}")))
            for n in range(16)
        ]
        for thread in threads:
            thread.start()
        await keep(log, *(make_record() for _ in range(50)))
        for thread in threads:
            thread.join()
        assert rows(path, "SELECT count(DISTINCT labeler), count(DISTINCT id) FROM label") == [(16, 16)]


async def test_either_database(new_database: Callable[[], str]) -> None:
    """Labels and withdrawals from several threads at once leave `labelled` true to what stands."""
    url = new_database()
    log = VerdictLog(LogConfig(url, budget=10, durability="commit"))
    log.start()
    await until(lambda: not log.status().degraded)
    record = make_record()
    await keep(log, record)
    labels = LabelBook(url, make_id)

    def label_and_withdraw(n: int) -> None:
        first = labels.add(record.id, NewLabel("correct", f"labeler {n}"))
        labels.withdraw(first.id)

    await asyncio.gather(*(asyncio.to_thread(label_and_withdraw, n) for n in range(8)))
    found = log.get(record.id)
    labels.add(record.id, NewLabel("correct", "ada"))
    afterwards = log.get(record.id)
    await log.close()
    assert found is not None
    assert afterwards is not None
    assert b'"labelled":false' in found
    assert found.count(b'"labeler":') == 16
    assert b'"labelled":true' in afterwards


def test_labels_are_written_to_the_disk(tmp_path: Path) -> None:
    """Every transaction of a label is a full one, whatever the durability of the log."""
    labels = book(tmp_path / "log.db")
    with labels._engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
