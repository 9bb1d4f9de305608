"""Scoring without a server: the same verifiers, sandbox and rules, no verdict log and no metrics."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from app.cache import VerdictCache
from app.intake import Intake
from app.pool import Pool
from app.scoring import Scorer
from app.service import built_in
from app.settings import Settings
from verifiers.base import Verifier
from verifiers.registry import Registry


class Offline(NamedTuple):
    """What turns bodies of `/v1/verify` into replies."""

    intake: Intake
    scorer: Scorer


@contextlib.asynccontextmanager
async def offline(settings: Settings, verifiers: Sequence[Verifier] | None = None) -> AsyncIterator[Offline]:
    """Start what judging needs, and stop it afterwards. `verifiers`: instead of the built-in ones."""
    settings.data_dir.mkdir(parents=True, exist_ok=True)
    sandbox = None
    if verifiers is None:
        sandbox, verifiers = built_in(settings)
    registry = Registry(verifiers)
    width = settings.concurrency or 2 * len(os.sched_getaffinity(0))
    pool = Pool(width, settings.verifier_timeout_s, VerdictCache(settings.cache_bytes))
    if sandbox is not None:
        await sandbox.start()
    try:
        yield Offline(Intake(settings, registry), Scorer(registry, pool, None, lambda _: None))
    finally:
        await pool.close()
        if sandbox is not None:
            await sandbox.close()
