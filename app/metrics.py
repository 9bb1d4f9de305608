"""Prometheus metrics. Several workers on one host share a folder, and any of them shows the sum of all.

Labels are bounded: names of verifiers, their declared reasons and flags, canonical stop reasons, strata.
Runs, steps and data sources are for the verdict log to answer.
"""

from __future__ import annotations

import fcntl
import math
import multiprocessing
import os
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, Literal

import structlog

if TYPE_CHECKING:
    from audit.second_opinions import Findings
    from audit.types import FaultKind

CONTENT_TYPE: Final = "text/plain; version=1.0.0; charset=utf-8"

_FOLDER_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_FILES: Final = ("counter", "histogram", "gauge_livesum", "gauge_mostrecent", "gauge_max")
_FILE_BYTES: Final = 256 << 10
_LIVE_FILE: Final = re.compile(r"gauge_live\w+_(\d+)\.db")

_VERIFY_BUCKETS_S: Final = (2e-5, 5e-5, 1e-4, 1e-3, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, float("inf"))
_COMMIT_BUCKETS_S: Final = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, float("inf"))


class Metrics:
    """All metrics of one process. Thread-safe; also the observer of the verdict log."""

    def __init__(self, data_dir: Path, version: str, audit_queue_capacity: int = 0) -> None:
        self._lock: IO[bytes] | None = None
        if _is_one_of_several_workers() and _FOLDER_VARIABLE not in os.environ:
            self._share(data_dir / "metrics")
        # The library reads the variable when it is imported, so it must not be imported earlier.
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics

        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = registry = CollectorRegistry()
        # For each request three of these are looked up, which the library does at ten times the price.
        self._verdicts = cache(
            Counter(
                "goldcheck_verdicts",
                "Verdicts given; verdict is correct, incorrect or unscorable.",
                ("verifier", "verdict", "reason"),
                registry=registry,
            ).labels
        )
        self._verify_duration = cache(
            Histogram(
                "goldcheck_verify_duration_seconds",
                "Time spent judging one response, waiting not counted.",
                ("verifier",),
                buckets=_VERIFY_BUCKETS_S,
                registry=registry,
            ).labels
        )
        self._responses = cache(
            Counter(
                "goldcheck_responses",
                "Responses judged, by stop reason.",
                ("stop_reason",),
                registry=registry,
            ).labels
        )
        self._flags = Counter(
            "goldcheck_flags", "Flags raised on verdicts.", ("verifier", "flag"), registry=registry
        )
        self._canary_accepts = Counter(
            "goldcheck_canary_accepts",
            "Accepted responses whose ground truth was unreachable: exploits.",
            ("verifier",),
            registry=registry,
        )
        self._audit_records = Counter(
            "goldcheck_audit_records",
            "Verdicts in the log; outcome says what became of the payload: sampled, skipped or shed.",
            ("stratum", "outcome"),
            registry=registry,
        )
        self._audit_failures = Counter(
            "goldcheck_audit_write_failures",
            "Transactions of the verdict log that failed; they are tried again.",
            ("kind",),
            registry=registry,
        )
        self._audit_commit_duration = Histogram(
            "goldcheck_audit_commit_duration_seconds",
            "Time to write one transaction of the verdict log.",
            buckets=_COMMIT_BUCKETS_S,
            registry=registry,
        )
        self._audit_queue_length = Gauge(
            "goldcheck_audit_queue_length",
            "Payloads waiting to be written.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        capacity = Gauge(
            "goldcheck_audit_queue_capacity",
            "Payloads that may wait at most.",
            registry=registry,
            multiprocess_mode="livesum",
        )
        capacity.set(audit_queue_capacity)
        self._audit_db_size = Gauge(
            "goldcheck_audit_db_size_bytes",
            "Size of the database file of the verdict log.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._second_opinions = Counter(
            "goldcheck_second_opinions",
            "Second opinions on stored verdicts; outcome is agrees, accepts, rejects or unknown.",
            ("verifier", "method", "outcome"),
            registry=registry,
        )
        self._disagreements = Counter(
            "goldcheck_disagreements",
            "Second opinions that contradict the verdict; direction is what they say instead.",
            ("verifier", "second", "direction"),
            registry=registry,
        )
        self._rerun_flips = Counter(
            "goldcheck_rerun_flips",
            "Stored verdicts that came out otherwise when judged again.",
            ("verifier",),
            registry=registry,
        )
        self._audit_backlog = Gauge(
            "goldcheck_audit_backlog",
            "Sampled verdicts that have no second opinion yet.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._audit_labels = Counter(
            "goldcheck_audit_labels",
            "Labels added; withdrawals are not counted.",
            ("answer",),
            registry=registry,
        )
        self._audit_error_ratio = Gauge(
            "goldcheck_audit_error_ratio",
            "Error rates from labels; rate is fdr, for, fpr or fnr, bound is estimate, lower or upper. "
            "NaN: too few labels for an estimate.",
            ("verifier", "version", "rate", "bound"),
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._audit_labelled = Gauge(
            "goldcheck_audit_labelled",
            "Labels that rates rest on; side is accept or reject.",
            ("verifier", "version", "side"),
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._audit_incomplete_windows = Gauge(
            "goldcheck_audit_incomplete_windows",
            "Windows whose counts or samples are not whole.",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        build = Gauge(
            "goldcheck_build_info", "Always 1.", ("version",), registry=registry, multiprocess_mode="max"
        )
        build.labels(version).set(1)

    def expect(self, verifier: str) -> None:
        """Show a canary count of 0 for a verifier: alerts on increases miss a series that begins with 1."""
        self._canary_accepts.labels(verifier)

    def count_verdicts(self, outcomes: Mapping[tuple[str, str, str], int]) -> None:
        """Add verdicts by verifier, `correct | incorrect | unscorable`, and reason or failure kind."""
        for labels, n in outcomes.items():
            self._verdicts(*labels).inc(n)

    def count_stop_reasons(self, stop_reasons: Mapping[str, int]) -> None:
        """Add responses by canonical stop reason."""
        for stop_reason, n in stop_reasons.items():
            self._responses(stop_reason).inc(n)

    def count_flags(self, flags: Mapping[tuple[str, str], int]) -> None:
        """Add flags by verifier and flag."""
        for labels, n in flags.items():
            self._flags.labels(*labels).inc(n)

    def count_canary_accepts(self, accepts: Mapping[str, int]) -> None:
        """Add accepted canaries by verifier."""
        for verifier, n in accepts.items():
            self._canary_accepts.labels(verifier).inc(n)

    def count_label(self, answer: str) -> None:
        """Count a label."""
        self._audit_labels.labels(answer).inc()

    def error_ratio(  # noqa: PLR0913, PLR0917 - a rate's names and bounds
        self, verifier: str, version: str, rate: str, estimate: float | None, lower: float, upper: float
    ) -> None:
        """Set one error rate; estimate: None where too little is known."""
        bounds = {"estimate": math.nan if estimate is None else estimate, "lower": lower, "upper": upper}
        for bound, value in bounds.items():
            self._audit_error_ratio.labels(verifier, version, rate, bound).set(value)

    def labelled(self, verifier: str, version: str, side: str, labels: int) -> None:
        """Set how many labels the rates of one side rest on."""
        self._audit_labelled.labels(verifier, version, side).set(labels)

    def incomplete_windows(self, windows: int) -> None:
        """Set how many windows are not whole."""
        self._audit_incomplete_windows.set(windows)

    def observe_durations(self, verifier: str, durations_s: Iterable[float]) -> None:
        """Add the time that each of some verdicts took."""
        observe = self._verify_duration(verifier).observe
        for duration_s in durations_s:
            observe(duration_s)

    def second_opinion(self, verifier: str, findings: Findings) -> None:
        """See `app.auditor.task.Observer`."""
        for opinion in findings.opinions:
            self._second_opinions.labels(verifier, opinion.method, opinion.outcome).inc()
            if opinion.outcome in {"accepts", "rejects"}:
                self._disagreements.labels(verifier, opinion.method, opinion.outcome).inc()
        for flag in findings.flags:
            self._flags.labels(verifier, flag.name).inc()
            if flag.name == "rerun_flip":
                self._rerun_flips.labels(verifier).inc()

    def audit_backlog(self, verdicts: int) -> None:
        """See `app.auditor.task.Observer`."""
        self._audit_backlog.set(verdicts)

    def recorded(self, stratum: str, outcome: Literal["sampled", "skipped", "shed"], n: int) -> None:
        """See `audit.types.LogObserver`."""
        if n:
            self._audit_records.labels(stratum, outcome).inc(n)

    def committed(self, duration_s: float, database_bytes: int) -> None:
        """See `audit.types.LogObserver`."""
        self._audit_commit_duration.observe(duration_s)
        self._audit_db_size.set(database_bytes)

    def failed(self, kind: FaultKind) -> None:
        """See `audit.types.LogObserver`."""
        self._audit_failures.labels(kind).inc()

    def queued(self, length: int) -> None:
        """See `audit.types.LogObserver`."""
        self._audit_queue_length.set(length)

    def render(self) -> bytes:
        """Everything in Prometheus' text format; of all workers, where there are several."""
        from prometheus_client import CollectorRegistry, generate_latest
        from prometheus_client.multiprocess import MultiProcessCollector

        folder = os.environ.get(_FOLDER_VARIABLE)
        if folder is None:
            return generate_latest(self._registry)
        _forget_dead_workers(Path(folder))
        registry = CollectorRegistry()
        MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def _share(self, folder: Path) -> None:
        """Count in files that all workers can read. Only the first of them starts from an empty folder."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Held for the life of the process: whoever gets it alone knows that no other worker is alive.
            self._lock = (folder / "lock").open("ab")
            try:
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass
            else:
                for leftover in folder.glob("*.db"):
                    leftover.unlink()
            fcntl.flock(self._lock, fcntl.LOCK_SH)
            _reserve(folder)
        except OSError as error:
            structlog.get_logger().warning("metrics are those of each worker alone", reason=str(error))
            return
        os.environ[_FOLDER_VARIABLE] = str(folder)


def _is_one_of_several_workers() -> bool:
    """Uvicorn starts workers as child processes, and a single server in the first process."""
    return multiprocessing.parent_process() is not None


def _reserve(folder: Path) -> None:
    """Take the disk space of this process's files now: touching a mapped page on a full disk kills."""
    for name in _FILES:
        with (folder / f"{name}_{os.getpid()}.db").open("ab") as file:
            os.posix_fallocate(file.fileno(), 0, _FILE_BYTES)


def _forget_dead_workers(folder: Path) -> None:
    """Drop the gauges of workers that have ended; their counters go on counting."""
    from prometheus_client.multiprocess import mark_process_dead

    for file in folder.iterdir():
        match = _LIVE_FILE.fullmatch(file.name)
        if match and not Path(f"/proc/{match[1]}").exists():
            mark_process_dead(int(match[1]), str(folder))  # type: ignore[no-untyped-call]
