"""Which stored verdicts are due, what several opinions come to, and how findings are kept."""

from __future__ import annotations

import contextlib
import sqlite3
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording import ACCEPT, REJECT, keep, make_record, opened, rows, url_of

from audit.errors import LogUnavailableError
from audit.late_flags import LateFlag, Repeats, hidden_flag, time_flag
from audit.lease import Lease
from audit.second_opinions import (
    Findings,
    Opinion,
    OpinionStore,
    combined,
    opinion_of,
    shown_stratum,
)

OUTCOMES = ("agrees", "accepts", "rejects", "unknown")


@pytest.mark.parametrize(
    ("first", "second", "outcome"),
    [
        (True, True, "agrees"),
        (False, False, "agrees"),
        (True, False, "rejects"),
        (False, True, "accepts"),
        (None, True, "accepts"),
        (None, False, "rejects"),
        (True, None, "unknown"),
        (False, None, "unknown"),
        (None, None, "unknown"),
    ],
)
def test_outcome(first: bool | None, second: bool | None, outcome: str) -> None:
    """An opinion agrees, contradicts by what it says, or cannot be had."""
    assert opinion_of("math", first, second).outcome == outcome


@given(st.lists(st.sampled_from(OUTCOMES)))
def test_one_that_contradicts_counts(outcomes: list[str]) -> None:
    """Several opinions come to a contradiction if there is one, else to agreement if there is one."""
    opinions = [Opinion("math", outcome) for outcome in outcomes]  # type: ignore[arg-type]
    found = combined(opinions)
    if {"accepts", "rejects"} & set(outcomes):
        assert found in {"accepts", "rejects"} & set(outcomes)
    else:
        assert found == ("agrees" if "agrees" in outcomes else "unknown")


def test_shown_strata() -> None:
    """Only where the opinion contradicts the side is the stratum shown by it."""
    shown = {
        (side, second): shown_stratum(f"{side}/plain", second)
        for side, second in product(("accept", "reject", "unscorable", "canary"), (*OUTCOMES, None))
    }
    assert {key: name for key, name in shown.items() if name != f"{key[0]}/plain"} == {
        ("accept", "rejects"): "accept/second-rejects",
        ("reject", "accepts"): "reject/second-accepts",
    }


async def test_what_is_due(tmp_path: Path) -> None:
    """The newest window first, by draw in it; not what has an opinion, is no sample, or is to be skipped."""
    path = tmp_path / "log.db"
    newer = REJECT._replace(window_start_s=REJECT.window_start_s + 3600)
    records = [make_record(cell=ACCEPT, draw=draw) for draw in (0.3, 0.1, 0.2)]
    records += [make_record(cell=newer, draw=draw, correct=False) for draw in (0.9, 0.05)]
    store = OpinionStore(url_of(path))
    async with opened(path) as log:
        await keep(log, *records)
    order = [records[place].id for place in (4, 3, 1, 2, 0)]
    assert store.due(10) == order
    assert store.due(2) == order[:2]
    assert store.due(10, skip=order[:1]) == order[1:]
    assert store.keep(order[1], Findings())
    assert store.due(10) == [order[0], *order[2:]]
    assert store.backlog() == 4


async def test_findings_are_kept_once(tmp_path: Path) -> None:
    """All of it or nothing: the first findings of a verdict that is there; its reward stays."""
    path = tmp_path / "log.db"
    record = make_record(flags={"hedged": "[[0, 2]]"})
    store = OpinionStore(url_of(path))
    async with opened(path) as log:
        await keep(log, record)
    findings = Findings(
        (Opinion("math", "rejects", {"reason": "different"}), Opinion("rerun", "agrees")),
        (LateFlag("rerun_flip", text="x"), LateFlag("test_literals", [(3, 9)])),
    )
    before = rows(path, "SELECT correct, reward, stratum FROM verdict")
    assert store.keep(record.id, findings)
    assert not store.keep(record.id, Findings((Opinion("math", "agrees"),)))
    assert not store.keep("gone", findings)
    assert rows(path, "SELECT second FROM verdict") == [("rejects",)]
    assert rows(path, "SELECT correct, reward, stratum FROM verdict") == before
    assert rows(path, "SELECT method, outcome, detail FROM second_opinion ORDER BY method") == [
        ("math", "rejects", '{"reason": "different"}'),
        ("rerun", "agrees", "{}"),
    ]
    assert rows(path, "SELECT flag, evidence FROM verdict_flag WHERE late ORDER BY flag") == [
        ("rerun_flip", '"x"'),
        ("test_literals", "[[3, 9]]"),
    ]
    assert rows(path, "SELECT flag FROM verdict_flag WHERE NOT late") == [("hedged",)]


async def test_asking_for_work_waits_for_no_writer(tmp_path: Path) -> None:
    """What is due is told while somebody writes, as it was before."""
    path = tmp_path / "log.db"
    async with opened(path) as log:
        await keep(log, record := make_record())
    store = OpinionStore(url_of(path))
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE verdict SET second = 'agrees'")
        assert (store.due(1), store.backlog()) == ([record.id], 1)
        writer.execute("COMMIT")
    assert (store.due(1), store.backlog()) == ([], 0)


def test_no_database(tmp_path: Path) -> None:
    """A log that is not there yet is unavailable, and is not made by asking."""
    store = OpinionStore(url_of(tmp_path / "none" / "log.db"))
    for ask in (lambda: store.due(1), store.backlog, lambda: store.keep("a", Findings())):
        with pytest.raises(LogUnavailableError):
            ask()
    assert not (tmp_path / "none").exists()


async def test_a_lease_has_one_holder(tmp_path: Path) -> None:
    """Taken, it is renewed by its holder and by nobody else, until it is given up or has run out."""
    path = tmp_path / "log.db"
    async with opened(path):
        pass
    one, other = (Lease(url_of(path), "auditor", holder) for holder in ("one", "other"))
    elsewhere = Lease(url_of(path), "another", "other")
    assert [one.take(), one.take(), other.take(), elsewhere.take()] == [True, True, False, True]
    other.give_up()
    assert not other.take()
    one.give_up()
    assert [other.take(), one.take()] == [True, False]
    other.give_up()
    dead = Lease(url_of(path), "auditor", "dead", lasts_s=0)
    assert [dead.take(), one.take(), dead.take()] == [True, True, False]


async def test_a_lease_that_has_just_begun_is_not_renewed(tmp_path: Path) -> None:
    """It is held without asking the database, where somebody else writes; one that soon ends is not."""
    path = tmp_path / "log.db"
    async with opened(path):
        pass
    lease, short = (Lease(url_of(path), name, "one", seconds) for name, seconds in (("a", 60.0), ("b", 0.0)))
    assert lease.take()
    assert short.take()
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert lease.take()
        with pytest.raises(LogUnavailableError):
            short.take()
        writer.execute("ROLLBACK")
    lease.give_up()
    assert Lease(url_of(path), "a", "other").take()
    assert not lease.take()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=60))
def test_repeats(given_responses: list[tuple[int, int]]) -> None:
    """A response is flagged from the third different prompt on; spaces and case tell none apart."""
    repeats = Repeats()
    prompts: dict[int, set[int]] = {}
    for response, prompt in given_responses:
        prompts.setdefault(response, set()).add(prompt)
        text = f"Response {response} IS given,\n whatever the question asked for is"
        flag = repeats.add("numeric", text if prompt % 2 else f"  {text.lower()} ", f"prompt {prompt}")
        assert (flag is not None) == (len(prompts[response]) >= 3)


def test_repeats_are_bounded() -> None:
    """Only the last responses are remembered; short ones, and those of another verifier, are no repeats."""
    repeats = Repeats(most=2)
    texts = [f"this response is long enough to be told apart, number {n}" for n in range(4)]
    for prompt in range(5):
        for text in texts:
            assert repeats.add("numeric", text, prompt) is None
    assert len(repeats._prompts) == 2
    for prompt in range(5):
        assert repeats.add("numeric", "\\boxed{4}", prompt) is None
        assert repeats.add(f"verifier {prompt}", texts[0], prompt) is None


def test_flags_of_numbers() -> None:
    """Hidden cases that failed, and times of four fifths of the limit or more."""
    assert hidden_flag({"hidden": {"correct": False, "tests_passed": 1, "tests_total": 2, "reason": "x"}})
    assert not any(map(hidden_flag, ({}, {"hidden": {"correct": True}}, {"hidden": {"correct": None}})))
    assert [bool(time_flag(seconds, 10.0)) for seconds in (0.0, 7.9, 8.0, 11.0)] == [False, False, True, True]
    assert time_flag(1.0, 0.0) is None
