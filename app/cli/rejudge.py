"""Judging stored verdicts again, here or by a service."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from app.cli.errors import CommandError
from app.cli.judged_by import Identity

if TYPE_CHECKING:
    from httpx import AsyncClient

    from app.intake import Intake
    from app.offline import Offline
    from app.rejudging import Stored
    from app.settings import Settings
    from audit.replay import Judged

REQUEST_S = 3600.0
"""Seconds that a service may take for one batch."""


class Judge(NamedTuple):
    """What judges some stored verdicts, in order; what makes the jobs it needs, if any; who judges."""

    judge: Callable[[Sequence[Stored]], Awaitable[list[Judged]]]
    intake: Intake | None
    identities: dict[str, Identity]


@contextlib.asynccontextmanager
async def in_process(settings: Settings) -> AsyncIterator[Judge]:
    """Judge here, with verifiers of its own."""
    from app.offline import offline

    async with offline(settings) as service:

        async def judge(items: Sequence[Stored]) -> list[Judged]:
            return await _score(service, items)

        yield Judge(judge, service.intake, service.scorer.identities())


async def _score(service: Offline, items: Sequence[Stored]) -> list[Judged]:
    jobs = [item.job for item in items if item.job is not None]
    replies: dict[int, Any] = {}
    async with contextlib.aclosing(service.scorer.score(jobs)) as chunks:
        async for chunk in chunks:
            replies |= {scored.index: json.loads(scored.encoded) for scored in chunk}
    in_order = iter([replies[index] for index in range(len(jobs))])
    return [_refused() if item.job is None else _judged(next(in_order)) for item in items]


@contextlib.asynccontextmanager
async def over_http(url: str) -> AsyncIterator[Judge]:
    """Ask a service, which counts and samples these verdicts as any others."""
    import httpx

    async with httpx.AsyncClient(base_url=url.rstrip("/"), timeout=REQUEST_S) as client:

        async def judge(items: Sequence[Stored]) -> list[Judged]:
            with _named_faults(client):
                return await _ask(client, items)

        with _named_faults(client):
            listed = (await client.get("/v1/verifiers")).raise_for_status().json()["verifiers"]
        yield Judge(judge, None, {one["name"]: (one["version"], one["environment"]) for one in listed})


@contextlib.contextmanager
def _named_faults(client: AsyncClient) -> Iterator[None]:
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CommandError(f"{client.base_url.host}: {error or type(error).__name__}") from None


async def _ask(client: AsyncClient, items: Sequence[Stored]) -> list[Judged]:
    """Ask for all at once; one by one where some of them are refused."""
    from audit import exact_json

    if not items:
        return []
    headers = {"Content-Type": "application/json"}
    body = exact_json.dump({"items": [item.body for item in items]})
    reply = await client.post("/v1/verify/batch", content=body, headers=headers)
    if reply.status_code == 200:
        return [_judged(result) for result in reply.json()["results"]]
    if reply.status_code not in {404, 413, 422}:
        reply.raise_for_status()
    if len(items) == 1:
        return [_refused()]
    return [judged for item in items for judged in await _ask(client, [item])]


def _judged(reply: dict[str, Any]) -> Judged:
    from audit.replay import Judged

    identity = reply["verifier"]["version"], reply["verifier"]["environment"]
    if reply["verdict"] is None:
        return Judged(*identity, None, reply["failure"]["kind"])
    return Judged(*identity, reply["verdict"]["correct"], reply["verdict"]["reason"])


def _refused() -> Judged:
    """Today's contract does not take the request: a verifier or an option is gone."""
    from audit.replay import Judged

    return Judged("", "", None, "request_refused")
