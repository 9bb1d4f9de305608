"""The queue between the event loop and the writer."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from recording import ACCEPT, REJECT, make_record

from audit.queue import Unit, UnitQueue

RECORD = make_record()
STEPS = st.lists(st.none() | st.tuples(st.integers(0, 3), st.integers(0, 12)), max_size=40)


def make_unit(number: int, counted: int, records: int) -> Unit:
    """A unit with this many verdicts without and with a payload."""
    unit = Unit(number=number)
    unit.counts = +Counter({REJECT: counted, ACCEPT: records})
    for _ in range(records):
        unit.add(RECORD)
    return unit


@given(STEPS, st.integers(1, 20), st.integers(1, 8))
def test_nothing_is_lost_but_what_is_shed(
    steps: list[tuple[int, int] | None], max_records: int, group: int
) -> None:
    """However putting (pairs) and taking (None) alternate, all counts come out, and payloads that fit."""
    queue = UnitQueue(max_records, 10**9, group)
    put: Counter[str] = Counter()
    got: Counter[str] = Counter()
    numbers = []

    def take() -> None:
        units = queue.take()
        for unit in units:
            got.update(
                counts=sum(unit.counts.values()), records=len(unit.records), shed=sum(unit.shed.values())
            )
            numbers.append(unit.number)
        queue.release(units)

    for number, step in enumerate(steps, 1):
        if step is not None:
            put.update(counts=sum(step), records=step[1])
            before = queue.records
            dropped = queue.put(make_unit(number, *step))
            assert queue.records == min(max_records, before + step[1]) == before + step[1] - dropped
        elif queue.last_number > (numbers[-1] if numbers else 0):
            take()
    queue.close()
    while queue.last_number > (numbers[-1] if numbers else 0):
        take()
    assert got["counts"] == put["counts"]
    assert got["records"] + got["shed"] == put["records"]
    assert numbers == sorted(numbers)
    assert (queue.records, queue.bytes) == (0, 0)
    assert queue.take() == []


def test_counts_do_not_pile_up() -> None:
    """However many units wait behind a broken database, memory grows with the strata, not with the units."""
    queue = UnitQueue(max_records=5, max_bytes=10**9, group=4)
    for number in range(1, 1_001):
        queue.put(make_unit(number, counted=1, records=1))
    queue.close()
    taken = []
    while units := queue.take():
        taken += units
    assert len(taken) <= 3
    assert sum(unit.counts[REJECT] for unit in taken) == 1_000
    assert sum(unit.shed.get(ACCEPT, 0) for unit in taken) == 995
