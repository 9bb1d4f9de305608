"""Groups -> replies: members judged side by side as by `/v1/verify`, then compared, then counted."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import pydantic_core

from app.groups import Group
from app.intake import Job
from app.pacing import Pace
from app.scoring import Scored, Scorer
from app.shaping import masked
from audit.groups import GroupCell, group_cell
from verifiers.base import ProgramVerifier
from verifiers.types import Verdict

if TYPE_CHECKING:
    from rollouts.reports import GroupMember, GroupReport

_INLINE_CHARS: Final = 32_768
"""Comparing texts longer than this, all together, is left to a thread."""


class GroupScored(NamedTuple):
    """The reply to one group as JSON, and its place in the request."""

    index: int  # type: ignore[assignment] # a tuple has a method of this name
    encoded: bytes


class GroupJournal(Protocol):
    """What counting groups asks of the verdict log; see `audit.log.VerdictLog`."""

    def count_group(self, cell: GroupCell, tokens: int | None) -> None: ...
    async def acknowledge(self) -> bool: ...


class GroupScorer:
    """Scores groups. `scorer`: judges and counts the members; `journal`: where groups are counted."""

    def __init__(self, scorer: Scorer, journal: GroupJournal | None) -> None:
        self._scorer = scorer
        self._journal = journal

    async def score(
        self, groups: Sequence[Group], *, counted: bool = True
    ) -> AsyncGenerator[list[GroupScored], None]:
        """Replies in the order in which they are ready. Arguments and closing: as `Scorer.score`."""
        places = [(number, place) for number, group in enumerate(groups) for place in range(len(group.jobs))]
        scored: list[list[Scored]] = [[] for _ in groups]
        jobs = [job for group in groups for job in group.jobs]
        async with aclosing(self._scorer.score(jobs, counted=counted)) as chunks:
            async for chunk in chunks:
                for one in chunk:
                    number, place = places[one.index]
                    scored[number].append(one._replace(index=place))
                ready = dict.fromkeys(places[one.index][0] for one in chunk)
                async for replies in self._finish(groups, scored, ready, counted):
                    yield replies

    async def _finish(
        self, groups: Sequence[Group], scored: list[list[Scored]], touched: dict[int, None], counted: bool
    ) -> AsyncGenerator[list[GroupScored], None]:
        """The replies to those groups of which every member is judged."""
        pace, replies = Pace(), []
        for number in touched:
            group = groups[number]
            if len(scored[number]) < len(group.jobs):
                continue
            members, scored[number] = sorted(scored[number], key=_place), []
            report = await _report(group, members)
            replies.append(GroupScored(number, _encode(members, report)))
            if counted and self._journal is not None and group.meta.get("canary") is not True:
                self._journal.count_group(_cell(group, report), _tokens(group))
            if pace.is_over:
                yield await self._acknowledged(replies)
                await pace.pause()
                replies = []
        if replies:
            yield await self._acknowledged(replies)

    async def _acknowledged(self, replies: list[GroupScored]) -> list[GroupScored]:
        if self._journal is not None:
            await self._journal.acknowledge()
        return replies


async def _report(group: Group, scored: Sequence[Scored]) -> GroupReport:
    """Compare the members; long texts, and loading NumPy, are kept from the event loop."""
    is_loaded = "rollouts.reports" in sys.modules
    if is_loaded and sum(len(job.task.response) for job in group.jobs) <= _INLINE_CHARS:
        return _compare(group, scored)
    return await asyncio.to_thread(_compare, group, scored)


def _compare(group: Group, scored: Sequence[Scored]) -> GroupReport:
    from rollouts.reports import group_report

    terms = group.terms
    return group_report(
        [_member(job, one) for job, one in zip(group.jobs, scored, strict=True)],
        method=terms.method,
        baseline=terms.baseline,
        ks=terms.ks,
        eps=terms.eps,
    )


def _member(job: Job, scored: Scored) -> GroupMember:
    from rollouts.groups import program_shape
    from rollouts.reports import GroupMember

    verdict = scored.outcome if isinstance(scored.outcome, Verdict) else None
    program = job.verifier.program(job.task) if isinstance(job.verifier, ProgramVerifier) else None
    return GroupMember(
        reward=scored.reward,
        correct=verdict is not None and verdict.correct,
        score=None if verdict is None else verdict.score,
        # A canary is outside the loss too, but nothing in a reply may tell it apart.
        included=not masked(job.shaping, job.stop),
        response=job.task.response,
        answer=None if verdict is None else verdict.detail.get("parsed"),
        program_shape=None if program is None else program_shape(program),
        stop_reason=job.stop.stop_reason,
        truncated=job.stop.truncated,
        num_tokens=job.num_tokens,
    )


def _encode(scored: Sequence[Scored], report: GroupReport) -> bytes:
    results = [
        one.encoded[:-1] + b',"advantage":' + pydantic_core.to_json(advantage) + b"}"
        for one, advantage in zip(scored, report.advantages, strict=True)
    ]
    return b'{"results":[' + b",".join(results) + b'],"group":' + pydantic_core.to_json(report) + b"}"


def _cell(group: Group, report: GroupReport) -> GroupCell:
    from rollouts.dynamic_sampling import pass_rate_bin

    of_all, of_valid = report.all.pass_rate, report.valid.pass_rate
    return group_cell(
        group.meta,
        report.reject_reason,
        0 if of_all is None else pass_rate_bin(of_all),
        None if of_valid is None else pass_rate_bin(of_valid),
    )


def _tokens(group: Group) -> int | None:
    """Tokens of all members; None unless every length is known."""
    lengths = [job.num_tokens for job in group.jobs]
    return None if None in lengths else sum(length for length in lengths if length is not None)


def _place(scored: Scored) -> int:
    return scored.index
