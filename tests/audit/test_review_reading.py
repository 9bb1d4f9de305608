"""What people who label read from the log, in either database."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from recording import make_id, make_record, until
from sqlalchemy import insert, update

from audit.database import writing_engine
from audit.errors import LogUnavailableError
from audit.keys import index_key
from audit.labels import LabelBook, NewLabel, Truth
from audit.log import VerdictLog
from audit.reader import Reader
from audit.review import Queue, ReviewReader, agreement
from audit.review_queue import is_second_look
from audit.schema import second_opinion, verdict, verdict_flag
from audit.types import Cell, LogConfig, Stratum, VerdictFilter, VerdictRecord

WINDOW = 1_763_996_400


def made(name: str, draw: float, group: str | None = None, **fields: Any) -> VerdictRecord:
    """A verdict of a stratum."""
    version, source = fields.pop("version", "1"), fields.pop("data_source", "gsm8k")
    cell = Cell(Stratum("numeric", version, source, name), fields.pop("window", WINDOW))
    meta = {"run": "r7", "step": 1, "group_id": group}
    correct = {"accept": True, "reject": False}.get(name.partition("/")[0])
    return make_record(cell=cell, draw=draw, correct=correct, meta=meta, prompt=None, **fields)


class Desk:
    """A database, and what is done with it while labelling."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.labels = LabelBook(url, make_id)
        self.reader = ReviewReader(url)

    def keep(self, *records: VerdictRecord, times: int = 1) -> None:
        """Store these, each counted so many times."""

        async def write() -> None:
            log = VerdictLog(LogConfig(self.url, budget=1_000, durability="commit"))
            log.start()
            await until(lambda: not log.status().degraded)
            for record in records:
                log.count(record.cell, times)
                log.store(record)
            await log.acknowledge()
            await log.close()

        asyncio.run(write())

    def label(self, record: VerdictRecord, answer: str = "correct", labeler: str = "ada", **more: Any) -> str:
        """Label one; the label's id."""
        return self.labels.add(record.id, NewLabel(answer, labeler, **more)).id  # type: ignore[arg-type]

    def set(self, record: VerdictRecord, **values: Any) -> None:
        """Set columns of a verdict."""
        self.execute(update(verdict).where(verdict.c.id == record.id).values(**values))

    def execute(self, statement: Any) -> None:
        """Change the database."""
        with writing_engine(self.url, "commit").begin() as connection:
            connection.execute(statement)

    def queue(self, labeler: str = "ada", limit: int = 100, among: Any = None, **wanted: Any) -> Queue:
        """The queue."""
        return self.reader.queue(VerdictFilter(**wanted), labeler, limit, among)


@pytest.fixture
def desk(new_database: Callable[[], str]) -> Desk:
    """An empty one."""
    return Desk(new_database())


def ids(records: Iterable[Any]) -> list[str]:
    """Of records or of items."""
    return [one.id for one in records]


def test_samples_come_by_draw(desk: Desk) -> None:
    """Those of the sample without a label, of scored verdicts that are no canaries."""
    plain = [made("accept/plain", draw) for draw in (0.3, 0.1, 0.2)]
    labelled, outside = made("accept/plain", 0.05), made("accept/plain", 0.01)
    null = made("unscorable/verifier_timeout", 0.0, status="unscorable")
    canary_cell = Cell(Stratum("numeric", "1", "gsm8k", "canary/accept"), WINDOW)
    canary = make_record(cell=canary_cell, draw=0.0, meta={"canary": True})
    desk.keep(*plain, labelled, outside, null, canary)
    desk.label(labelled)
    desk.set(outside, sampled=False)
    found = desk.queue()
    assert ids(found.items) == ids([plain[1], plain[2], plain[0]])
    assert (found.waiting, found.labelled) == (3, 1)
    assert ids(desk.queue(limit=2).items) == ids([plain[1], plain[2]])


def test_one_response_per_group(desk: Desk) -> None:
    """Siblings of what is in the queue or has a label are left out, whatever their stratum; but they wait."""
    first, sibling = made("accept/plain", 0.1, "g1"), made("reject/plain", 0.2, "g1")
    labelled, other = made("accept/plain", 0.3, "g2"), made("accept/edge", 0.4, "g2")
    elsewhere = made("accept/plain", 0.5, "g1", data_source="svamp")
    desk.keep(first, sibling, labelled, other, elsewhere)
    desk.label(labelled)
    found = desk.queue()
    assert len(found.items) == 1
    assert found.waiting == 4


def test_second_opinions_refine_strata(desk: Desk) -> None:
    """A contradicted verdict is in a stratum of its own, which counts as flagged."""
    records = [made("accept/plain", draw / 10) for draw in range(6)]
    desk.keep(*records, times=10)
    desk.set(records[0], second="rejects")
    desk.set(records[1], second="agrees")
    names = {item.id: item.stratum.name for item in desk.queue().items}
    assert names.pop(records[0].id) == "accept/second-rejects"
    assert set(names.values()) == {"accept/plain"}
    assert ids(desk.queue(second="rejects").items) == [records[0].id]


def test_the_newest_version_is_asked_about(desk: Desk) -> None:
    """Unless another is named."""
    old, new = (
        made("accept/plain", 0.1, version="1"),
        made("accept/plain", 0.2, version="2", window=WINDOW + 3600),
    )
    desk.keep(old, new)
    assert ids(desk.queue().items) == [new.id]
    assert ids(desk.queue(version="1").items) == [old.id]


def test_filters_and_ids_narrow_it(desk: Desk) -> None:
    """All of the log's, and a list of ids."""
    one, other = made("accept/plain", 0.1), made("reject/plain", 0.2, data_source="svamp")
    desk.keep(one, other)
    assert ids(desk.queue(data_source="svamp").items) == [other.id]
    assert ids(desk.queue(correct=True).items) == [one.id]
    assert ids(desk.queue(run="r8").items) == []
    assert ids(desk.queue(among=[other.id]).items) == [other.id]
    assert desk.queue(among=[]).items == []


def test_long_words_are_found_by_their_whole_text(desk: Desk) -> None:
    """A name too long for an index is a filter like any other, of the queue too."""
    name = "n" * 1_000
    one = made("accept/plain", 0.1, data_source=index_key(name))
    desk.keep(one, made("accept/plain", 0.2, data_source=index_key(name + "n")))
    assert ids(desk.queue(data_source=name).items) == [one.id]


def test_second_looks_are_offered_to_somebody_else(desk: Desk) -> None:
    """Once, of the tenth that the id chooses, never to the one who labelled it."""
    chosen = made("accept/plain", 0.1)
    while not is_second_look(chosen.id):
        chosen = made("accept/plain", 0.1)
    not_chosen = made("accept/plain", 0.2)
    while is_second_look(not_chosen.id):
        not_chosen = made("accept/plain", 0.2)
    desk.keep(chosen, not_chosen)
    desk.label(chosen)
    desk.label(not_chosen)
    assert desk.queue("ada").items == []
    [offered] = desk.queue("grace").items
    assert (offered.id, offered.second_look) == (chosen.id, True)
    desk.label(chosen, labeler="grace")
    assert desk.queue("linus").items == []


def test_what_was_found_about_a_verdict(desk: Desk) -> None:
    """Labels, flags with their evidence, second opinions."""
    record = made("accept/edge", 0.1, flags={"edge": None})
    desk.keep(record)
    desk.label(record, note="why")
    desk.execute(
        insert(verdict_flag).values(verdict_id=record.id, flag="constant", evidence="[[1, 2]]", late=True)
    )
    desk.execute(
        insert(second_opinion).values(
            verdict_id=record.id,
            method="math",
            outcome="rejects",
            detail='{"reason": "different"}',
            created_at_ms=1,
        )
    )
    desk.execute(update(verdict).values(second="rejects"))
    document = Reader(desk.url).get(record.id)
    assert document is not None
    told = json.loads(document)
    assert [one["note"] for one in told["labels"]] == ["why"]
    assert told["flag_evidence"] == [
        {"flag": "constant", "late": True, "evidence": [[1, 2]]},
        {"flag": "edge", "late": False, "evidence": None},
    ]
    assert told["second_opinions"] == [
        {"method": "math", "outcome": "rejects", "detail": {"reason": "different"}}
    ]


def test_the_last_label_is_the_one_to_take_back(desk: Desk) -> None:
    """Of each labeler; after its withdrawal the one before it; none that is older than asked for."""
    one, other = made("accept/plain", 0.1), made("reject/plain", 0.2)
    desk.keep(one, other)
    desk.label(one)
    second = desk.label(other, "unsure")
    desk.label(one, labeler="grace")
    last = desk.reader.last_label("ada", 0)
    assert last is not None
    assert (last[0].id, last[1]) == (second, False)
    desk.labels.withdraw(second)
    before = desk.reader.last_label("ada", 0)
    assert before is not None
    assert (before[0].verdict_id, before[1]) == (one.id, True)
    assert desk.reader.last_label("ada", 2**50) is None
    assert desk.reader.last_label("linus", 0) is None


def test_values_for_filters(desk: Desk) -> None:
    """Sorted, and none that is empty."""
    desk.keep(made("accept/plain", 0.1, data_source=""), made("reject/plain", 0.2, flags={"edge": None}))
    known = desk.reader.vocabulary()
    assert known["data_source"] == ["gsm8k"]
    assert known["stratum"] == ["accept/plain", "reject/plain"]
    assert (known["flag"], known["run"], known["labeler"]) == (["edge"], ["r7"], [])


def test_agreement_of_labelers() -> None:
    """Cohen's kappa of the first two of each sample; none without such samples."""
    pairs = [("correct", "correct")] * 6 + [("incorrect", "incorrect")] * 3 + [("correct", "incorrect")]
    found = [Truth("unsure", True, {"ada": one, "grace": other, "linus": "unsure"}) for one, other in pairs]  # type: ignore[dict-item]
    result = agreement([*found, Truth("correct", True, {"ada": "correct"})])
    assert (result.samples, result.agreeing) == (10, 9)
    assert result.kappa == pytest.approx((0.9 - 0.54) / 0.46)
    assert agreement([]).kappa is None


def test_a_database_in_trouble_is_named(tmp_path: Any) -> None:
    """As for every other reader."""
    reader = ReviewReader(f"sqlite:///{tmp_path}/none/log.db")
    for read in (
        lambda: reader.queue(VerdictFilter(), "ada", 1),
        lambda: reader.last_label("ada", 0),
        reader.vocabulary,
        reader.agreement,
    ):
        with pytest.raises(LogUnavailableError):
            read()
