"""What the audit keeps of a verdict, and how the log is set up and asked. Plain values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, Protocol

WINDOW_S: Final = 3600
"""Verdicts are counted and sampled per window of this length, aligned to the epoch."""


class Stratum(NamedTuple):
    """Verdicts that are counted and sampled together."""

    verifier: str
    version: str
    data_source: str
    """As `audit.keys.index_key` gives it; empty when the caller named none."""
    name: str
    """`accept/plain`, `accept/<flag>`, `reject/plain`, `reject/<flag>`, `unscorable/<kind>`; apart from all
    these, and whatever their replies say: `canary/accept`, `canary/reject`, `canary/unscorable`."""


CANARY_ACCEPT: Final = "canary/accept"
"""The stratum of accepted canaries. All of their verdicts are stored."""


class Cell(NamedTuple):
    """A stratum in one window: what is counted in one row, and has a sample of its own."""

    stratum: Stratum
    window_start_s: int
    """Seconds since the epoch, a multiple of `WINDOW_S`."""


@dataclass(frozen=True, slots=True)
class VerdictRecord:
    """One stored verdict: the narrow columns people filter by, and the payload."""

    id: str
    created_at_ms: int
    cell: Cell
    draw: float
    """Hash of the id in [0, 1): the smallest of each cell are its sample."""
    environment: str
    status: str
    correct: bool | None
    reward: float | None
    reason: str
    """The verdict's reason, or the failure kind when unscorable."""
    flags: Mapping[str, str | None]
    """Each flag and its evidence, as JSON: a list of `[start, end]` in the response, or a short text."""
    stop_reason: str
    truncated: bool | None
    meta: Mapping[str, Any]
    """The request's `meta`: run, step, split, prompt_id, group_id, rollout_id, versions, canary, tags."""
    response: str
    ground_truth: Any
    """A JSON value, or None when it was not sent."""
    prompt: Any
    request: Mapping[str, Any] = field(default_factory=dict)
    """`options`, `stop`, `shaping` as sent."""
    reply: bytes = b"{}"
    """The whole reply body, as JSON."""


Durability = Literal["enqueue", "commit"]
"""When a verdict counts as acknowledged: once it is queued, or once its transaction is on disk."""

FaultKind = Literal["locked", "full", "read_only", "corrupt", "unavailable"]
"""Why the database takes no writes. `unavailable` is every cause without a word of its own."""


@dataclass(frozen=True, slots=True)
class Retention:
    """How much is kept of stored verdicts; 0: no bound. Counts, labelled verdicts and labels always are."""

    max_bytes: int = 0
    max_age_days: float = 0.0


@dataclass(frozen=True, slots=True)
class LogConfig:
    """How verdicts are kept."""

    url: str
    """SQLAlchemy URL of the database."""
    budget: int = 200
    """Size of the sample of each stratum and window."""
    durability: Durability = "enqueue"
    retention: Retention = Retention()
    queue_records: int = 4096
    """Payloads waiting to be written, at most."""
    queue_bytes: int = 64 << 20
    """Their approximate size in memory, at most."""


@dataclass(frozen=True, slots=True)
class LogStatus:
    """How the log is doing. Degraded: verdicts are still given, but not kept until the fault ends."""

    degraded: bool
    reason: str
    """Why, in words for people; empty when all is well."""
    opening: bool
    """The database has neither been opened nor found broken yet."""
    queue_length: int
    """Records waiting to be written."""
    queue_bytes: int
    """Their approximate size in memory."""
    shed: int
    """Payloads dropped by this process because the queue was full; their verdicts are still counted."""
    failures: int
    """Transactions of this process that failed; they are tried again."""


@dataclass(frozen=True, slots=True)
class VerdictFilter:
    """Which stored verdicts to list; None does not filter. All conditions must hold."""

    verifier: str | None = None
    version: str | None = None
    data_source: str | None = None
    run: str | None = None
    step_min: int | None = None
    step_max: int | None = None
    stratum: str | None = None
    flag: str | None = None
    correct: bool | None = None
    status: str | None = None
    stop_reason: str | None = None
    labelled: bool | None = None
    labeler: str | None = None
    """Somebody who has labelled it, whether or not the label was taken back."""
    second: str | None = None
    """Outcome of the second opinion."""
    q: str | None = None
    """Text that the response, prompt or ground truth contains, upper and lower case alike."""


@dataclass(frozen=True, slots=True)
class Page:
    """Stored verdicts, newest first, without their payloads."""

    items: list[dict[str, Any]]
    next: str | None
    """Cursor of the page after this one; None at the end. A page of a text search may hold fewer items than
    asked for, even none, and still have a next one."""


class LogObserver(Protocol):
    """Told what the log does, from the writer's thread and from the event loop; must not block or raise."""

    def recorded(self, stratum: str, outcome: Literal["sampled", "skipped", "shed"], n: int) -> None:
        """`n` verdicts were counted whose payload was stored, not selected, or dropped."""
        ...

    def committed(self, duration_s: float, database_bytes: int) -> None:
        """A transaction is on disk."""
        ...

    def failed(self, kind: FaultKind) -> None:
        """A transaction failed and will be tried again."""
        ...

    def queued(self, length: int) -> None:
        """The queue has this many records now."""
        ...
