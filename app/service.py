"""Everything one worker is made of, put together once; started and closed by the application's lifespan."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

import structlog

from app.admission import Admission
from app.audit_gauges import AuditGauges
from app.auditor.looking import Looker
from app.auditor.task import LEASE_S, Auditor
from app.calibrator import Calibrator
from app.claims import Claims
from app.data_dir import make_data_dir
from app.group_scoring import GroupScorer
from app.groups import GroupIntake
from app.idempotency import Idempotency
from app.ids import IdMaker
from app.intake import Intake
from app.judges import Judges
from app.metrics import Metrics
from app.scoring import Scorer
from app.settings import Settings
from app.tally import Tally
from audit.estimate_reader import EstimateReader
from audit.labels import LabelBook
from audit.lease import Lease
from audit.log import VerdictLog
from audit.review import ReviewReader
from audit.second_opinions import OpinionStore
from audit.series import SeriesReader
from audit.types import CANARY_ACCEPT, LogConfig, Retention
from verifiers.base import Verifier

VERSION: Final = version("goldcheck")

_log: Final = structlog.get_logger()


class Service:
    """One worker: verifiers, sandbox, verdict log, metrics, and what ties them together.

    verifiers: instead of the built-in ones. Made outside an event loop, started and closed inside one.
    """

    scorer: Scorer
    group_scorer: GroupScorer
    idempotency: Idempotency
    auditor: Auditor
    calibrator: Calibrator | None = None

    def __init__(self, settings: Settings, verifiers: Sequence[Verifier] | None = None) -> None:
        self.settings = settings
        self.judges = Judges(settings, verifiers)
        self.registry = self.judges.registry
        self.sandbox = self.judges.sandbox
        self.intake = Intake(settings, self.registry)
        self.group_intake = GroupIntake(settings, self.intake)
        self.validating = asyncio.Semaphore(1)
        self.admission = Admission(settings.queue_items, settings.queue_bytes, settings.retry_after_s)
        make_data_dir(settings.data_dir)
        self.metrics = Metrics(settings.data_dir, VERSION, settings.audit_queue_records)
        for verifier in self.registry:
            self.metrics.expect(verifier.name)
        log_config = _log_config(settings)
        self.log_url = log_config.url
        self.log = VerdictLog(log_config, observer=self.metrics)
        self.labels = LabelBook(log_config.url, IdMaker())
        self.estimates = EstimateReader(log_config.url)
        self.gauges = AuditGauges(self.estimates, self.metrics)
        self.review = ReviewReader(log_config.url)
        self.series = SeriesReader(log_config.url)

    async def start(self) -> None:
        """Warm everything up. A weak host or a broken database does not stop it: `faults` says why."""
        self.log.start()
        await self.judges.start()
        if self.settings.audit_calibrated:
            self.calibrator = Calibrator(
                self.estimates, [(verifier.name, verifier.version) for verifier in self.registry]
            )
            self.calibrator.start()
        self.scorer = Scorer(self.registry, self.judges.pool, self.log, self._observe, self.calibrator)
        self.group_scorer = GroupScorer(self.scorer, self.log)
        self.idempotency = Idempotency(
            self._open_claims(), self.settings.idempotency_window_s, self.settings.idempotency_bytes
        )
        self.auditor = self._auditor()
        self.auditor.start()
        self.gauges.start()

    def refuse_more(self) -> None:
        """Take nothing more in: the service is shutting down."""
        self.admission.closing = True

    async def close(self) -> None:
        """Stop what still runs, write what was counted."""
        self.refuse_more()
        await self.gauges.close()
        await self.auditor.close()
        if self.calibrator is not None:
            await self.calibrator.close()
        await self.idempotency.close()
        await self.judges.close()
        await self.log.close()

    def faults(self) -> list[str]:
        """Why this worker cannot do all that it offers; empty when it can."""
        if self.admission.closing:
            return ["the service is shutting down"]
        opening = [_about_log(self.log)] if self.log.status().opening else []
        return opening + self.judges.faults()

    def warnings(self) -> list[str]:
        """What is broken although every verdict is still given."""
        status = self.log.status()
        return [_about_log(self.log)] if status.degraded and not status.opening else []

    def _auditor(self) -> Auditor:
        return Auditor(
            OpinionStore(self.log_url),
            Lease(self.log_url, "auditor", uuid.uuid4().hex, lasts_s=LEASE_S),
            self.log.get,
            self.intake,
            Looker(self.judges, self.settings.verifier_timeout_s),
            self.metrics,
            self.settings.audit_cpu_share,
            is_busy=lambda: self.admission.items > 0,
        )

    def _observe(self, tally: Tally) -> None:
        metrics = self.metrics
        for alike, n in tally.counts():
            verifier, _, data_source, stratum = alike.cell.stratum
            metrics.count_verdicts({(verifier, alike.result, alike.reason): n})
            metrics.count_stop_reasons({alike.stop_reason: n})
            if alike.flags:
                metrics.count_flags({(verifier, flag): n for flag in alike.flags})
            if stratum == CANARY_ACCEPT:
                metrics.count_canary_accepts({verifier: n})
                _log.error("canary accepted", verifier=verifier, data_source=data_source, accepts=n)
        for verifier, durations_s in tally.durations_s.items():
            metrics.observe_durations(verifier, durations_s)

    def _open_claims(self) -> Claims | None:
        try:
            return Claims(self.settings.data_dir / "idempotency.db", self.settings.idempotency_window_s)
        except sqlite3.Error as error:
            _log.warning("idempotency keys are not shared between workers", error=str(error))
            return None


def _about_log(log: VerdictLog) -> str:
    return f"verdict log: {log.status().reason}"


def _log_config(settings: Settings) -> LogConfig:
    return LogConfig(
        url=settings.log_url,
        budget=settings.audit_budget,
        durability=settings.audit_durability,
        retention=Retention(settings.audit_max_bytes, settings.audit_max_age_days),
        queue_records=settings.audit_queue_records,
        queue_bytes=settings.audit_queue_bytes,
    )
