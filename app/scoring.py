"""Jobs -> replies: verdict, shaping, audit. The same object scores for the service and the command line."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from functools import partial
from hashlib import blake2b
from time import perf_counter
from typing import Any, Final, NamedTuple, Protocol, cast

import pydantic_core
import structlog

from app.calibrator import Calibrator
from app.flags import Flagger, evidence
from app.ids import IdMaker
from app.intake import Job
from app.logs import describe_error
from app.pacing import Pace
from app.pool import Judged, Pool, Ticket
from app.shaping import masked, reward_components
from app.tally import Tally
from audit import exact_json
from audit.types import Cell, VerdictRecord
from rollouts.stop import ResolvedStop
from verifiers.base import InlineVerifier, PooledVerifier, Verifier
from verifiers.registry import Registry
from verifiers.types import MISSING, Outcome, Unscorable, Verdict

_log: Final = structlog.get_logger()

_VERIFIER_FAILED: Final = Unscorable("verifier_error", "the verifier failed; the service's log says how")


class Scored(NamedTuple):
    """One reply as JSON, the place of its job, and what it says."""

    index: int  # type: ignore[assignment]  # not the method of tuples, which nobody calls here
    encoded: bytes
    outcome: Outcome
    reward: float | None


class Journal(Protocol):
    """What scoring asks of the verdict log; see `audit.log.VerdictLog`."""

    def count(self, cell: Cell, n: int = 1) -> None: ...
    def select(self, cell: Cell, verdict_id: str) -> float | None: ...
    def store(self, record: VerdictRecord) -> None: ...
    async def acknowledge(self) -> bool: ...


class Scorer:
    """Scores jobs.

    journal: the verdict log, or None. observe: called with every tally, for metrics. calibrator: adds what
    the labels say of a verdict; None adds nothing.
    """

    def __init__(
        self,
        registry: Registry,
        pool: Pool,
        journal: Journal | None,
        observe: Callable[[Tally], None],
        calibrator: Calibrator | None = None,
    ) -> None:
        self._calibrator = calibrator
        self._pool = pool
        self._journal = journal
        self._observe = observe
        self._new_id = IdMaker()
        self._identities = {verifier.name: _identity(verifier) for verifier in registry}
        self._flaggers = {verifier.name: Flagger(verifier) for verifier in registry}

    def identity(self, verifier: str) -> dict[str, str]:
        """Name, version and environment of a verifier, as they stand in its replies."""
        return self._identities[verifier]

    def identities(self) -> dict[str, tuple[str, str]]:
        """Version and environment of every verifier, by name."""
        return {name: (one["version"], one["environment"]) for name, one in self._identities.items()}

    def score(self, jobs: Sequence[Job], *, counted: bool = True) -> AsyncGenerator[list[Scored], None]:
        """Replies in the order in which they are ready, as many at a time as there are.

        counted: False for a repeat, which is neither counted nor stored again. Closing the iterator gives up
        what has not started.
        """
        accepted = perf_counter()
        inline = [(index, job) for index, job in enumerate(jobs) if not is_pooled(job)]
        if len(inline) == len(jobs):
            return self._score_inline(inline, accepted, counted)
        pooled = [(index, job) for index, job in enumerate(jobs) if is_pooled(job)]
        return self._score_mixed(pooled, inline, accepted, counted)

    async def _score_mixed(
        self,
        pooled: Sequence[tuple[int, Job]],
        inline: Sequence[tuple[int, Job]],
        accepted: float,
        counted: bool,
    ) -> AsyncGenerator[list[Scored], None]:
        """Those that take longer begin first, and go on while the others are judged here."""
        tickets: list[Ticket] = []
        try:
            ready = await self._submit(pooled, tickets)
            async for replies in self._score_inline(inline, accepted, counted):
                yield replies
            async for replies in self._score_pooled(ready, len(tickets), counted):
                yield replies
        finally:
            for ticket in tickets:
                ticket.give_up()

    async def _score_pooled(
        self, ready: asyncio.Queue[tuple[int, Job, Ticket]], left: int, counted: bool
    ) -> AsyncGenerator[list[Scored], None]:
        while left:
            done = [await ready.get()]
            while not ready.empty():
                done.append(ready.get_nowait())
            left -= len(done)
            tally = Tally(counted=counted)
            yield await self._keep([self._settle(*one, tally) for one in done], tally)

    async def _submit(
        self, pooled: Sequence[tuple[int, Job]], tickets: list[Ticket]
    ) -> asyncio.Queue[tuple[int, Job, Ticket]]:
        """Hand jobs to the pool; the queue gives each when its result is there."""
        ready: asyncio.Queue[tuple[int, Job, Ticket]] = asyncio.Queue()
        pace = Pace()
        for index, job in pooled:
            ticket = self._pool.submit(cast(PooledVerifier, job.verifier), job.task, ready)
            tickets.append(ticket)
            ticket.when_done(partial(ready.put_nowait, (index, job, ticket)))
            if pace.is_over:
                await pace.pause()
        return ready

    async def _score_inline(
        self, inline: Sequence[tuple[int, Job]], accepted: float, counted: bool
    ) -> AsyncGenerator[list[Scored], None]:
        pace, tally, replies = Pace(), Tally(counted=counted), []
        for index, job in inline:
            replies.append(self._settle(index, job, None, tally, accepted))
            if pace.is_over:
                yield await self._keep(replies, tally)
                await pace.pause()
                tally, replies = Tally(counted=counted), []
        if replies:
            yield await self._keep(replies, tally)

    async def _keep(self, replies: list[Scored], tally: Tally) -> list[Scored]:
        """Count and store what these verdicts come to, all in one transaction of the log."""
        if not tally.counted:
            return replies
        if self._journal is not None:
            for alike, n in tally.counts():
                self._journal.count(alike.cell, n)
            for record in tally.records:
                self._journal.store(record)
            await self._journal.acknowledge()
        self._observe(tally)
        return replies

    def _settle(
        self, index: int, job: Job, ticket: Ticket | None, tally: Tally, accepted: float = 0.0
    ) -> Scored:
        """The one boundary: whatever goes wrong on our side makes this item unscorable, and no other.

        ticket: the pool's result; None to judge here and now. accepted: when the request was.
        """
        try:
            judged = _judge_inline(job, accepted) if ticket is None else ticket.result()
            return self._reply(index, job, judged, tally)
        except Exception as error:
            _log.error("verifier failed", verifier=job.verifier.name, **describe_error(error))
            _log.debug("verifier failed", message=str(error))
            return self._reply(index, job, Judged(_VERIFIER_FAILED), tally)

    def _reply(self, index: int, job: Job, judged: Judged, tally: Tally) -> Scored:
        outcome, verifier = judged.outcome, job.verifier
        verdict_id = self._new_id()
        if isinstance(outcome, Verdict):
            flags = self._flaggers[verifier.name].flags(job.task, outcome, job.stop, job.flags)
            result, side = ("correct", "accept") if outcome.correct else ("incorrect", "reject")
            reason, bucket = outcome.reason, flags[0] if flags else "plain"
            reply = _scored(verdict_id, job, outcome)
        else:
            flags = job.flags
            result = side = "unscorable"
            reason = bucket = outcome.kind
            reply = _unscorable(verdict_id, job, outcome)
        stratum = f"{side}/{bucket}"
        cell = tally.cell(verifier, job.meta, stratum)
        draw = self._journal.select(cell, verdict_id) if self._journal and tally.counted else None
        reply["verifier"] = self._identities[verifier.name]
        reply["audit"] = {"flags": flags, "stratum": stratum, "selected": draw is not None}
        if self._calibrator is not None:
            reply |= self._calibrator.fields(verifier.name, stratum)
        reply["timing"] = {
            "queue_ms": round(judged.queue_s * 1e3, 3),
            "verify_ms": round(judged.verify_s * 1e3, 3),
        }
        encoded = pydantic_core.to_json(reply, inf_nan_mode="null")
        # From here on nothing fails: a verdict is counted once, or the boundary counts another.
        tally.add(cell, result, reason, job.stop.stop_reason, flags)
        tally.durations_s.setdefault(verifier.name, []).append(judged.verify_s)
        if draw is not None:
            tally.records.append(self._record(job, outcome, reply, encoded, cell, draw))
        return Scored(index, encoded, outcome, reply["reward"])

    def _record(  # noqa: PLR0913, PLR0917
        self, job: Job, outcome: Outcome, reply: dict[str, Any], encoded: bytes, cell: Cell, draw: float
    ) -> VerdictRecord:
        verdict = outcome if isinstance(outcome, Verdict) else None
        truth = job.task.ground_truth
        return VerdictRecord(
            id=reply["id"],
            created_at_ms=self._new_id.milliseconds,
            cell=cell,
            draw=draw,
            environment=reply["verifier"]["environment"],
            status=reply["status"],
            correct=None if verdict is None else verdict.correct,
            reward=reply["reward"],
            reason=outcome.reason if isinstance(outcome, Verdict) else outcome.kind,
            flags={flag: evidence(flag, job.task, verdict) for flag in reply["audit"]["flags"]},
            stop_reason=job.stop.stop_reason,
            truncated=job.stop.truncated,
            meta=job.meta,
            response=job.task.response,
            ground_truth=None if truth is MISSING else truth,
            prompt=job.fields.get("prompt"),
            request={name: job.fields[name] for name in ("options", "stop", "shaping") if name in job.fields},
            reply=encoded,
        )


def is_pooled(job: Job) -> bool:
    """Whether a job needs the sandbox or worker processes."""
    return job.fault is None and not hasattr(job.verifier, "judge")


def _judge_inline(job: Job, accepted: float) -> Judged:
    began = perf_counter()
    if job.fault is not None:
        return Judged(job.fault, began - accepted)
    outcome = cast(InlineVerifier, job.verifier).judge(job.task)
    return Judged(outcome, began - accepted, perf_counter() - began)


def _scored(verdict_id: str, job: Job, verdict: Verdict) -> dict[str, Any]:
    low, high = job.verifier.reward_range
    if not low <= verdict.score <= high:
        raise ValueError(f"score {verdict.score} is outside the declared range [{low}, {high}]")
    components = reward_components(verdict.score, job.shaping, job.stop, job.num_tokens)
    return {
        "id": verdict_id,
        "status": "scored",
        "reward": sum(components.values()),
        "reward_components": components,
        "verdict": {"correct": verdict.correct, "reason": verdict.reason, "detail": verdict.detail},
        "stop": _stop_part(job.stop),
        "include_in_loss": not (job.meta.get("canary") or masked(job.shaping, job.stop)),
        "failure": None,
    }


def _unscorable(verdict_id: str, job: Job, outcome: Unscorable) -> dict[str, Any]:
    return {
        "id": verdict_id,
        "status": "unscorable",
        "reward": None,
        "reward_components": None,
        "verdict": None,
        "stop": _stop_part(job.stop),
        "include_in_loss": False,
        "failure": {"kind": outcome.kind, "message": outcome.message},
    }


def _stop_part(stop: ResolvedStop) -> dict[str, Any]:
    return {
        "stop_reason": stop.stop_reason,
        "raw": stop.raw,
        "source": stop.source,
        "terminated": stop.terminated,
        "truncated": stop.truncated,
    }


def _identity(verifier: Verifier) -> dict[str, str]:
    """Name, version and a short hash of what else can change a verdict."""
    text = exact_json.dump([verifier.name, verifier.version, sorted(verifier.environment().items())])
    environment = blake2b(text, digest_size=8).hexdigest()
    return {"name": verifier.name, "version": verifier.version, "environment": environment}
