"""Everything that judges, with the processes behind it: for the service and for scoring without a server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cache import VerdictCache
from app.pool import Pool
from app.settings import Settings
from verifiers.base import Verifier
from verifiers.registry import Registry

if TYPE_CHECKING:
    from sandbox.engine import Sandbox
    from verifiers.math import MathVerifier


class Judges:
    """The verifiers by name, the sandbox and the workers they need, and the pool that keeps them busy.

    verifiers: instead of the built-in ones. Made outside an event loop, started and closed inside one.
    """

    def __init__(self, settings: Settings, verifiers: Sequence[Verifier] | None = None) -> None:
        self.sandbox: Sandbox | None = None
        self._math: MathVerifier | None = None
        cores = len(os.sched_getaffinity(0))
        if verifiers is None:
            verifiers = self._built_in(settings, cores)
        self.registry = Registry(verifiers)
        width = settings.concurrency or 2 * cores
        self.pool = Pool(width, settings.verifier_timeout_s, VerdictCache(settings.cache_bytes))

    async def start(self) -> None:
        """Warm everything up. A weak host does not stop it: `faults` says why."""
        if self._math is not None:
            await self._math.start()
        if self.sandbox is not None:
            await self.sandbox.start()

    async def close(self) -> None:
        """Stop what still runs."""
        await self.pool.close()
        if self._math is not None:
            await self._math.close()
        if self.sandbox is not None:
            await self.sandbox.close()

    def faults(self) -> list[str]:
        """What is offered and cannot be done here."""
        found = []
        if self.sandbox is not None and not (report := self.sandbox.report()).available:
            found.append(f"programs are not run here: {report.reason}")
        if self._math is not None and not self._math.ready:
            found.append("the workers of the math verifier are not up")
        return found

    def _built_in(self, settings: Settings, cores: int) -> Sequence[Verifier]:
        from sandbox.config import SandboxConfig
        from sandbox.engine import Sandbox
        from verifiers.choice import ChoiceVerifier
        from verifiers.code import CodeVerifier
        from verifiers.math import MathVerifier
        from verifiers.numeric import NumericVerifier
        from verifiers.words import WordsVerifier

        config = SandboxConfig(
            run_dir=str(settings.data_dir.absolute() / "run"),
            slots=settings.sandbox_slots,
            minimum=settings.min_isolation,
            uids=(settings.sandbox_uid_first, settings.sandbox_uid_count),
        )
        self.sandbox = Sandbox(config)
        self._math = MathVerifier(
            workers=settings.math_workers or cores, deadline_s=settings.verifier_timeout_s
        )
        return [
            NumericVerifier(),
            self._math,
            ChoiceVerifier(),
            WordsVerifier(),
            CodeVerifier(self.sandbox),
        ]
