"""Groups in the verdict log: exact, once, and in the transaction of what was counted with them."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from recording import ACCEPT, counted, make_record, opened, rows, url_of

from audit.database import prepare, writing_engine
from audit.errors import BadCursorError
from audit.groups import NO_BIN, GroupCell, GroupCount, GroupFilter, group_cell, one_group
from audit.migrations.upgrade import configuration
from audit.store import Store, Transaction
from audit.types import LogConfig

CELL = GroupCell("r7", "gsm8k", "train", 1200, "all_wrong", 0, 0)
QUERY = "SELECT * FROM group_count"


def test_cells() -> None:
    """What is not named is empty, null is not named, and an accepted group has no reason."""
    assert group_cell({}, None, 3, None)[:3] == ("", "", "")
    cell = group_cell({"run": None, "split": "eval", "step": 0}, "too_few_valid", 0, None)
    assert (cell.run, cell.split, cell.step) == ("", "eval", 0)
    assert (cell.reject_reason, cell.bin_valid) == ("too_few_valid", NO_BIN)


@pytest.mark.parametrize(
    ("tokens", "count"), [(None, (1, 0, 0)), (0, (1, 1, 0)), (9, (1, 1, 9)), (2**80, (1, 0, 0))]
)
def test_tokens(tokens: int | None, count: tuple[int, int, int]) -> None:
    """A length that is not known, or cannot be, is not added up."""
    found = one_group(tokens)
    assert (found.groups, found.measured, found.tokens) == count


async def test_counts_add_up(tmp_path: Path) -> None:
    """Within a unit, over units, and over two writers on one file."""
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as one, opened(path, durability="commit") as two:
        for log in (one, two, one):
            log.count_group(CELL, 5)
            log.count_group(CELL, None)
            assert await log.acknowledge()
        assert rows(path, QUERY) == [(*CELL, 6, 3, 15)]


async def test_one_transaction_with_the_verdicts(tmp_path: Path) -> None:
    """What is counted without waiting in between is on disk together, once acknowledged."""
    path = tmp_path / "log.db"
    async with opened(path, durability="commit") as log:
        log.count(ACCEPT)
        log.store(make_record())
        log.count_group(CELL, 5)
        assert await log.acknowledge()
        assert counted(path) == {ACCEPT: (1, 1, 0)}
        assert rows(path, QUERY) == [(*CELL, 1, 1, 5)]
        assert rows(path, "SELECT sequence FROM writer") == [(1,)]


async def test_nobody_has_to_acknowledge(tmp_path: Path) -> None:
    """Groups alone are written by the timer or when the log closes."""
    path = tmp_path / "log.db"
    async with opened(path) as log:
        log.count_group(CELL, 5)
    assert rows(path, QUERY) == [(*CELL, 1, 1, 5)]


def test_a_repeated_transaction_counts_once(tmp_path: Path) -> None:
    """A commit whose end was not seen is tried again; without its payloads too."""
    path = tmp_path / "log.db"
    store = Store(LogConfig(url_of(path)))
    store.open()
    transaction = Transaction(1, groups={CELL: GroupCount(2, 1, 7)})
    store.write(transaction)
    transaction.drop_rows()
    store.write(transaction)
    store.close()
    assert rows(path, QUERY) == [(*CELL, 2, 1, 7)]


async def test_a_database_of_the_first_version_is_brought_up(tmp_path: Path) -> None:
    """Its verdicts stay, and groups are counted from then on."""
    path = tmp_path / "log.db"
    engine = writing_engine(url_of(path), "enqueue")
    with engine.begin() as connection:
        command.upgrade(configuration(connection), "0001")
        connection.exec_driver_sql(
            "INSERT INTO stratum_count VALUES ('numeric', '1', '', 'accept/plain', 0, 3, 0, 0)"
        )
    prepare(engine)
    async with opened(path, durability="commit") as log:
        log.count_group(CELL, 5)
        assert await log.acknowledge()
        assert log.group_metrics(GroupFilter(run="r7"))["total"]["groups"] == 1
        with pytest.raises(BadCursorError):
            log.group_metrics(GroupFilter(), "step", "bm8")
    assert rows(path, "SELECT verdicts FROM stratum_count") == [(3,)]
