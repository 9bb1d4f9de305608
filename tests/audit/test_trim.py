"""Samples keep their size and are the smallest draws of all, whichever worker saw them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recording import ACCEPT, REJECT, make_record
from sqlalchemy import create_engine, select, text, update

from audit.payload import Encoder
from audit.sampling import unit_interval
from audit.schema import document, payload, stratum_count, verdict, verdict_flag
from audit.store import Count, Store, Transaction
from audit.types import Cell, LogConfig

HERE = Path(__file__).parent
CANARY = Cell(ACCEPT.stratum._replace(name="canary/accept"), ACCEPT.window_start_s)
CELLS = [ACCEPT, REJECT, CANARY, Cell(ACCEPT.stratum, ACCEPT.window_start_s + 3600)]
DRAWS = st.lists(st.tuples(st.sampled_from(CELLS), st.floats(0, 1, exclude_max=True)), max_size=12)
STEPS = st.lists(st.tuples(st.sampled_from([0, 1]), DRAWS, st.booleans()), max_size=6)


def read(url: str, query: Any) -> list[tuple[Any, ...]]:
    """What `query` gives on a connection of its own."""
    engine = create_engine(url)
    with engine.connect() as connection:
        found = [tuple(row) for row in connection.execute(query)]
    engine.dispose()
    return found


def write(store: Store, sequence: int, draws: list[tuple[Cell, float]], ids: list[str]) -> None:
    """One transaction with a record for each draw; `ids` are theirs."""
    encoder = Encoder()
    transaction = Transaction(sequence)
    for (cell, draw), verdict_id in zip(draws, ids, strict=True):
        prompt = f"one of two prompts, {draw < 0.5}"
        encoder.add(make_record(id=verdict_id, cell=cell, draw=draw, prompt=prompt, flags={"slow": None}))
        count = transaction.counts.setdefault(cell, Count())
        count.verdicts += 1
        count.sampled += 1
    transaction.rows = encoder.rows
    store.write(transaction)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, budget=st.integers(0, 4))
def test_union_is_the_smallest_of_all(
    new_database: Callable[[], str], steps: list[tuple[int, Any, bool]], budget: int
) -> None:
    """Two writers in turn, labels in between: each sample is the bottom-k of its cell, and nothing else stays
    but what is labelled or an accepted canary; every count, flag, payload and document fits."""
    url = new_database()
    stores = [Store(LogConfig(url, budget=budget)) for _ in range(2)]
    for store in stores:
        store.open()
    drawn: dict[Cell, list[tuple[float, str]]] = {}
    kept: set[str] = set()
    serial = 0
    for sequence, (which, draws, labels) in enumerate(steps, start=1):
        ids = [f"v-{serial + n:04d}" for n in range(len(draws))]
        serial += len(draws)
        write(stores[which], sequence, draws, ids)
        for (cell, draw), verdict_id in zip(draws, ids, strict=True):
            drawn.setdefault(cell, []).append((draw, verdict_id))
        if labels and ids:
            kept |= label(url, ids[-1])
    for store in stores:
        store.close()
    kept |= {verdict_id for _, verdict_id in drawn.get(CANARY, [])}
    smallest = {verdict_id for cell in drawn.values() for _, verdict_id in sorted(cell)[:budget]}
    assert dict(read(url, select(verdict.c.id, verdict.c.sampled))) == {
        verdict_id: verdict_id in smallest for verdict_id in smallest | kept
    }
    for table in (payload, verdict_flag):
        assert {row[0] for row in read(url, select(table.c.verdict_id))} == smallest | kept
    assert {tuple(row) for row in read(url, select(*stratum_count.c))} == {
        (*cell.stratum, cell.window_start_s, len(draws), min(budget, len(draws)), 0)
        for cell, draws in drawn.items()
    }
    used = text("SELECT prompt_hash, count(*) FROM verdict GROUP BY 1")
    assert sorted(read(url, select(document.c.hash, document.c.uses))) == sorted(read(url, used))


def label(url: str, verdict_id: str) -> set[str]:
    """Mark a verdict as labelled, if it is still there."""
    engine = create_engine(url)
    with engine.begin() as connection:
        done = connection.execute(update(verdict).where(verdict.c.id == verdict_id).values(labelled=True))
    engine.dispose()
    return {verdict_id} if done.rowcount else set()


@pytest.mark.parametrize("budget", [5, 40])
def test_two_processes_merge_into_one_sample(new_database: Callable[[], str], budget: int) -> None:
    """Two workers side by side on one database, each with its own threshold: the bottom-k of both."""
    url = new_database()
    command = [sys.executable, str(HERE / "sample_process.py"), url, str(budget)]
    environment = os.environ | {"PYTHONPATH": f"{HERE}:{HERE.parents[1]}"}
    processes = [
        subprocess.Popen([*command, str(worker)], stdout=subprocess.PIPE, text=True, env=environment)
        for worker in range(2)
    ]
    given_out = [process.communicate(timeout=100)[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    by_stratum: dict[str, list[str]] = {}
    for line in (line for lines in given_out for line in lines):
        stratum, _, verdict_id = line.partition(":")
        by_stratum.setdefault(stratum, []).append(verdict_id)
    assert len(by_stratum) == 3
    for stratum, ids in by_stratum.items():
        query = select(verdict.c.id, verdict.c.draw).where(verdict.c.stratum == stratum)
        smallest = sorted((unit_interval(verdict_id), verdict_id) for verdict_id in ids)[:budget]
        assert sorted((draw, verdict_id) for verdict_id, draw in read(url, query)) == smallest
        counts = select(stratum_count.c.verdicts, stratum_count.c.sampled).where(
            stratum_count.c.stratum == stratum
        )
        assert read(url, counts) == [(len(ids), len(smallest))]
    assert len(read(url, select(payload.c.verdict_id))) == len(read(url, select(verdict.c.id)))
