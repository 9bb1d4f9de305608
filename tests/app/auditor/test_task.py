"""The background task: it gives way, goes on after faults, and never looks twice."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from app.auditor import task as task_module
from app.auditor.task import Auditor
from app.auditor.texts import TextWorker
from app.intake import Intake
from app.rejudging import Stored
from app.settings import Settings
from audit.database import BUSY_TIMEOUT_S
from audit.late_flags import LateFlag
from audit.lease import Lease
from audit.log import VerdictLog
from audit.second_opinions import Findings, Opinion, OpinionStore
from audit.types import Cell, LogConfig, Stratum, VerdictRecord
from sandbox.errors import SandboxUnavailable
from verifiers.numeric import NumericVerifier
from verifiers.registry import Registry

CELL = Cell(Stratum("numeric", "1.0.0", "", "accept/plain"), 1_763_996_400)
REPLY = b'{"verdict":{"correct":true,"reason":"within_tolerance","detail":{}},"timing":{"verify_ms":1}}'


class Looker:
    """Does what a test says for each verdict, and remembers the order."""

    def __init__(self, act: Callable[[str], Any] = lambda _: None) -> None:
        self.seen: list[str] = []
        self._act = act

    async def look(self, stored: Stored) -> Findings:
        """Act, and agree."""
        self.seen.append(stored.id)
        result = self._act(stored.id)
        if asyncio.iscoroutine(result):
            await result
        return Findings((Opinion("math", "agrees"),), (LateFlag("rerun_flip", text="x"),))

    async def close(self) -> None:
        """Nothing to end."""


class Told:
    """What an observer was told."""

    def __init__(self) -> None:
        self.verdicts: list[str] = []
        self.backlogs: list[int] = []

    def second_opinion(self, verifier: str, findings: Findings) -> None:
        """One verdict more."""
        self.verdicts.append(verifier)

    def audit_backlog(self, verdicts: int) -> None:
        """What is left."""
        self.backlogs.append(verdicts)


@contextlib.asynccontextmanager
async def stored(
    folder: Path, count: int, verifier: str = "numeric"
) -> AsyncIterator[tuple[str, VerdictLog]]:
    """A log that holds some verdicts, the first of the smallest draw."""
    url = f"sqlite:///{folder / 'log.db'}"
    log = VerdictLog(LogConfig(url, budget=1000, durability="commit"))
    log.start()
    cell = CELL._replace(stratum=CELL.stratum._replace(verifier=verifier))
    for n in range(count):
        record = VerdictRecord(
            id=f"00000000-0000-7000-8000-{n:012x}", created_at_ms=1_763_996_400_000, cell=cell, draw=n / 1000,
            environment="e", status="scored", correct=True, reward=1.0, reason="within_tolerance", flags={},
            stop_reason="eos", truncated=False, meta={}, response="3", ground_truth="3", prompt=None,
            reply=REPLY,
        )  # fmt: skip
        log.count(record.cell)
        log.store(record)
    while log.status().opening:
        await asyncio.sleep(0.01)
    await log.acknowledge()
    try:
        yield url, log
    finally:
        await log.close()


def auditor(
    url: str,
    log: VerdictLog,
    looker: Any,
    told: Told,
    is_busy: Callable[[], bool] = lambda: False,
    holder: str = "a",
) -> Auditor:
    """An auditor that works all the time."""
    intake = Intake(Settings(), Registry([NumericVerifier()]))
    lease = Lease(url, "auditor", holder)
    return Auditor(OpinionStore(url), lease, log.get, intake, looker, told, share=1.0, is_busy=is_busy)


async def until(condition: Callable[[], bool]) -> None:
    """Wait; the limit is there to end a test that has failed."""
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task_module, "POLL_S", 0.05)


def ids(numbers: Sequence[int]) -> list[str]:
    """Of the stored verdicts."""
    return [f"00000000-0000-7000-8000-{n:012x}" for n in numbers]


async def test_everything_is_looked_at_once(tmp_path: Path) -> None:
    """In the order of draws, each verdict once, and then nothing more."""
    looker, told = Looker(), Told()
    async with stored(tmp_path, 40) as (url, log):
        at_work = auditor(url, log, looker, told)
        at_work.start()
        await until(lambda: told.backlogs[-1:] == [0])
        await at_work.close()
    assert looker.seen == ids(range(40))
    assert told.verdicts == ["numeric"] * 40
    assert told.backlogs[0] == 40


@pytest.mark.parametrize("error", [ValueError("x"), RecursionError(), MemoryError(), OSError(28, "full")])
async def test_what_fails_is_left_behind(tmp_path: Path, error: Exception) -> None:
    """A verdict over which looking fails is unknown from then on; the others get their opinions."""

    def act(verdict_id: str) -> None:
        if verdict_id == ids([1])[0]:
            raise error

    looker, told = Looker(act), Told()
    async with stored(tmp_path, 3) as (url, log):
        at_work = auditor(url, log, looker, told)
        at_work.start()
        await until(lambda: told.backlogs[-1:] == [0])
        await at_work.close()
        seconds = [item["second"] for item in log.search(_everything()).items]
    assert looker.seen == ids(range(3))
    assert seconds == ["agrees", "unknown", "agrees"]


async def test_a_sandbox_that_is_away_is_waited_for(tmp_path: Path) -> None:
    """What could not be looked at for lack of a sandbox is looked at later, after the others."""
    faults = [SandboxUnavailable("away")]

    def act(_: str) -> None:
        if faults:
            raise faults.pop()

    looker, told = Looker(act), Told()
    async with stored(tmp_path, 3) as (url, log):
        at_work = auditor(url, log, looker, told)
        at_work.start()
        await until(lambda: len(told.verdicts) == 3)
        await at_work.close()
    assert looker.seen == ids([0, 1, 2, 0])


async def test_nothing_is_looked_at_while_requests_are_under_way(tmp_path: Path) -> None:
    """It waits until the service is idle."""
    busy = True
    looker, told = Looker(), Told()
    async with stored(tmp_path, 2) as (url, log):
        at_work = auditor(url, log, looker, told, is_busy=lambda: busy)
        at_work.start()
        await until(lambda: told.backlogs == [2])
        await asyncio.sleep(0.3)
        assert looker.seen == []
        busy = False
        await until(lambda: len(told.verdicts) == 2)
        await at_work.close()


async def test_sandbox_work_gives_way(tmp_path: Path) -> None:
    """What uses the sandbox is broken off when a request comes, and done later."""
    busy = False
    ended: list[str] = []

    async def act(verdict_id: str) -> None:
        nonlocal busy
        if not ended:
            busy = True
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append(verdict_id)
                busy = False

    looker, told = Looker(act), Told()
    async with stored(tmp_path, 2, verifier="code") as (url, log):
        at_work = auditor(url, log, looker, told, is_busy=lambda: busy)
        at_work.start()
        await until(lambda: len(told.verdicts) == 2)
        await at_work.close()
    assert ended == ids([0])
    assert looker.seen == ids([0, 1, 0])


async def test_one_process_at_a_time(tmp_path: Path) -> None:
    """While one holds the lease another looks at nothing; closing hands over at once."""
    lookers, told = (Looker(), Looker()), Told()
    async with stored(tmp_path, 3) as (url, log):
        first = Lease(url, "auditor", "first")
        assert first.take()
        waiting = auditor(url, log, lookers[1], told, holder="second")
        waiting.start()
        await asyncio.sleep(0.3)
        assert lookers[1].seen == []
        first.give_up()
        await until(lambda: len(told.verdicts) == 3)
        await waiting.close()


async def test_closing_breaks_off(tmp_path: Path) -> None:
    """What is being looked at when the service ends is looked at again by the next one."""

    def act(_: str) -> Any:
        return asyncio.sleep(3600)

    looker, told = Looker(act), Told()
    async with stored(tmp_path, 1) as (url, log):
        at_work = auditor(url, log, looker, told)
        at_work.start()
        await until(lambda: looker.seen == ids([0]))
        await at_work.close()
        again = auditor(url, log, after := Looker(), told, holder="b")
        again.start()
        await until(lambda: after.seen == ids([0]))
        await again.close()


async def test_a_locked_database_stops_it_for_a_while(tmp_path: Path) -> None:
    """A log that takes no writes stops it as long as that lasts, and no longer."""
    looker, told = Looker(), Told()
    async with stored(tmp_path, 1) as (url, log):
        at_work = auditor(url, log, looker, told)
        with contextlib.closing(sqlite3.connect(tmp_path / "log.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            at_work.start()
            await asyncio.sleep(BUSY_TIMEOUT_S + 0.5)
            assert looker.seen == []
            other.execute("ROLLBACK")
        await until(lambda: looker.seen == ids([0]))
        await at_work.close()


async def test_a_worker_that_dies_says_nothing() -> None:
    """The question over which it dies is unknown, the next one is answered."""
    worker = TextWorker()
    try:
        assert (await worker.ask("math", "\\boxed{2}", "2", "{}")).correct is True
        assert worker._process is not None
        os.kill(worker._process.pid, signal.SIGSTOP)
        asked = asyncio.create_task(worker.ask("math", "\\boxed{2}", "2", "{}"))
        await asyncio.sleep(0.1)
        os.kill(worker._process.pid, signal.SIGKILL)
        assert (await asked).correct is None
        assert worker.restarts == 1
        assert (await worker.ask("sympy", "\\boxed{(x+1)^2}", "x^2+2x+1", "{}")).correct is True
    finally:
        await worker.close()


@pytest.mark.hostile
@pytest.mark.timeout(600)
@pytest.mark.parametrize("route", ["math", "sympy"])
async def test_hostile_texts_end_at_most_their_own_worker(route: Any) -> None:
    """Towers, long sums, deep nesting, megabytes: no answer or one, and the next question is answered."""
    texts = [
        "\\boxed{9^{9^{9^{9}}}}", "\\boxed{\\sum_{k=1}^{10^9} \\frac1k}", "\\boxed{(((100!)!)!)!}",
        "\\boxed{" + "(" * 5000 + "}", "\\boxed{" + "\\sqrt{" * 900 + "2" + "}" * 900 + "}", "x" * 4_000_000,
        "\\boxed{(x+1)^{60}(y-2)^{41}(x+y+z)^{30}}", "\ud800\0", "\\boxed{" + "9" * 100_000 + "}",
    ]  # fmt: skip
    worker = TextWorker()
    try:
        for text in texts:
            await worker.ask(route, text, text[7:-1] or "1", "{}")
            assert (await worker.ask("math", "\\boxed{2}", "2", "{}")).correct is True
    finally:
        await worker.close()


def _everything() -> Any:
    from audit.types import VerdictFilter

    return VerdictFilter()
