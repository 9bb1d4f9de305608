"""Scoring without a server: the same verifiers, sandbox and rules, no verdict log and no metrics."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple

from app.data_dir import make_data_dir
from app.intake import Intake
from app.judges import Judges
from app.scoring import Scorer
from app.settings import Settings
from verifiers.base import Verifier


class Offline(NamedTuple):
    """What turns bodies of `/v1/verify` into replies."""

    intake: Intake
    scorer: Scorer


@contextlib.asynccontextmanager
async def offline(settings: Settings, verifiers: Sequence[Verifier] | None = None) -> AsyncIterator[Offline]:
    """Start what judging needs, and stop it afterwards. `verifiers`: instead of the built-in ones."""
    make_data_dir(settings.data_dir)
    judges = Judges(settings, verifiers)
    await judges.start()
    try:
        scorer = Scorer(judges.registry, judges.pool, None, lambda _: None)
        yield Offline(Intake(settings, judges.registry), scorer)
    finally:
        await judges.close()
