"""Environment variables -> one frozen `Settings`. Every setting is `GOLDCHECK_` plus a name below."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from sandbox.types import Level

MIB = 1 << 20


class Settings(BaseSettings):
    """What can be set from outside. `goldcheck settings` prints it; each field says what it means."""

    model_config = SettingsConfigDict(env_prefix="GOLDCHECK_", frozen=True, extra="ignore")

    data_dir: Path = Field(Path(".data"), description="folder of the database, metrics and run files")
    database_url: str = Field(
        "", description="SQLAlchemy URL of the verdict log; empty: a SQLite file in the data folder"
    )

    api_keys: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        (), description="keys that callers must send, separated by commas; empty: no key is asked for"
    )
    allow_anonymous: bool = Field(
        False, description="serve without keys on addresses other than loopback as well"
    )

    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="least important log lines written; debug writes one line per request"
    )

    max_items: int = Field(16_384, ge=1, description="items in one batch")
    max_body_bytes: int = Field(256 * MIB, ge=1, description="bytes of one request body, decompressed")
    max_response_bytes: int = Field(4 * MIB, ge=1, description="UTF-8 bytes of one response")
    max_ground_truth_bytes: int = Field(32 * MIB, ge=1, description="bytes of one ground truth as JSON")
    max_ground_truth_depth: int = Field(
        200, ge=1, le=500, description="levels of nesting of one ground truth"
    )

    queue_items: int = Field(
        65_536, ge=1, description="items accepted and not yet answered, per worker; beyond it 503"
    )
    queue_bytes: int = Field(
        512 * MIB, ge=1, description="bytes of bodies held and not yet answered, per worker; beyond it 503"
    )
    retry_after_s: int = Field(1, ge=0, description="seconds that a 503 asks callers to wait")
    concurrency: int = Field(
        0, ge=0, description="items judged at once by sandbox and worker processes; 0: twice the usable cores"
    )
    verifier_timeout_s: float = Field(
        5.0, gt=0, allow_inf_nan=False, description="wall-clock backstop of verifiers other than code"
    )
    cache_bytes: int = Field(
        32 * MIB, ge=0, description="memory for verdicts of sandbox and worker processes; 0: no cache"
    )
    idempotency_window_s: float = Field(
        600.0, gt=0, allow_inf_nan=False, description="seconds for which an Idempotency-Key is remembered"
    )
    idempotency_bytes: int = Field(64 * MIB, ge=0, description="memory for replies kept for repeated keys")

    drain_s: int = Field(
        30, ge=1, description="seconds for which SIGTERM lets requests under way come to their end"
    )

    math_workers: int = Field(
        0,
        ge=0,
        description="processes that judge mathematics, per worker; 0: the usable cores, shared out by "
        "`goldcheck serve --workers`",
    )

    min_isolation: Level = Field(
        "strong", description="least isolation level at which programs are run (none, base, strong, full)"
    )
    sandbox_slots: int = Field(
        0, ge=0, description="programs run at once by all workers of this host; 0: the usable cores"
    )
    sandbox_uid_first: int = Field(
        60_000, ge=1, description="first user id that programs run under when the service runs as root"
    )
    sandbox_uid_count: int = Field(64, ge=1, description="how many user ids from there may be used")

    audit_budget: int = Field(
        200,
        ge=0,
        le=100_000,
        description="verdicts stored with their texts per verifier, data source, stratum and hour; all are "
        "counted",
    )
    audit_cpu_share: float = Field(
        0.05,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="share of one core for second opinions on stored verdicts, while no request waits; "
        "0: none are made",
    )
    audit_calibrated: bool = Field(
        False,
        description="add reward_calibrated to replies: the chance that the answer is right, by the labels of "
        "its stratum; reward itself stays as it is",
    )
    audit_max_bytes: int = Field(
        10_240 * MIB,
        ge=0,
        description="bytes of the verdict log, above which the oldest stored verdicts go; 0: no bound",
    )
    audit_max_age_days: float = Field(
        90.0,
        ge=0,
        allow_inf_nan=False,
        description="days after which stored verdicts go; 0: never. Labelled ones and all counts stay",
    )
    audit_durability: Literal["enqueue", "commit"] = Field(
        "enqueue", description="commit: answer only once the verdict log has committed"
    )

    @property
    def log_url(self) -> str:
        """SQLAlchemy URL of the verdict log."""
        return self.database_url or f"sqlite:///{self.data_dir.absolute() / 'goldcheck.db'}"

    @field_validator("api_keys", mode="before")
    @classmethod
    def _split_keys(cls, value: object) -> object:
        """Read keys separated by commas; blanks around them and empty ones do not count."""
        if isinstance(value, str):
            return tuple(key.strip() for key in value.split(",") if key.strip())
        return value

    audit_queue_records: int = Field(
        4096, ge=1, description="stored verdicts waiting to be written, per worker; beyond it texts are shed"
    )
    audit_queue_bytes: int = Field(64 * MIB, ge=1, description="their size in memory, per worker")
