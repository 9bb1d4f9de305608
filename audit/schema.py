"""The tables. One schema for SQLite and PostgreSQL; `migrations` builds it, a test holds the two together."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
)

REVISION = "0002"
"""The newest migration; a database that is there already is used without loading Alembic."""

metadata = MetaData()

stratum_count = Table(
    "stratum_count",
    metadata,
    Column("verifier", String, primary_key=True),
    Column("version", String, primary_key=True),
    Column("data_source", String, primary_key=True),
    Column("stratum", String, primary_key=True),
    Column("window_start_s", BigInteger, primary_key=True, autoincrement=False),
    Column("verdicts", BigInteger, nullable=False),
    Column("stored", BigInteger, nullable=False),
    Column("shed", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    comment="Exact number of verdicts per stratum and hour, of payloads stored and of payloads shed.",
)

group_count = Table(
    "group_count",
    metadata,
    Column("run", String, primary_key=True),
    Column("data_source", String, primary_key=True),
    Column("split", String, primary_key=True),
    Column("step", BigInteger, primary_key=True, autoincrement=False),
    Column("reject_reason", String, primary_key=True),
    Column("bin_all", SmallInteger, primary_key=True, autoincrement=False),
    Column("bin_valid", SmallInteger, primary_key=True, autoincrement=False),
    Column("groups", BigInteger, nullable=False),
    Column("measured", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    comment="Exact number of groups by what became of them; `measured` have known lengths, `tokens` in all.",
)

verdict = Table(
    "verdict",
    metadata,
    Column("id", String, primary_key=True),
    Column("created_at_ms", BigInteger, nullable=False),
    Column("verifier", String, nullable=False),
    Column("version", String, nullable=False),
    Column("environment", String, nullable=False),
    Column("data_source", String, nullable=False),
    Column("stratum", String, nullable=False),
    Column("status", String, nullable=False),
    Column("correct", Boolean),
    Column("reward", Float),
    Column("reason", String, nullable=False),
    Column("stop_reason", String, nullable=False),
    Column("truncated", Boolean),
    Column("inclusion_probability", Float, nullable=False),
    Column("run", String),
    Column("step", BigInteger),
    Column("split", String),
    Column("prompt_id", String),
    Column("group_id", String),
    Column("rollout_id", String),
    Column("canary", Boolean, nullable=False),
    Column("labelled", Boolean, nullable=False),
    Column("prompt_hash", String),
    Column("ground_truth_hash", String),
    Index("ix_verdict_stratum", "verifier", "stratum", "id"),
    Index("ix_verdict_run", "run", "step"),
    sqlite_with_rowid=False,
    comment="Stored verdicts, one narrow row each. Ids are UUIDv7, so their order is that of time.",
)

verdict_flag = Table(
    "verdict_flag",
    metadata,
    Column("verdict_id", String, primary_key=True),
    Column("flag", String, primary_key=True),
    Index("ix_verdict_flag", "flag", "verdict_id"),
    sqlite_with_rowid=False,
    comment="The flags of a stored verdict.",
)

payload = Table(
    "payload",
    metadata,
    Column("verdict_id", String, primary_key=True),
    Column("codec", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    comment="Response, request and reply of a stored verdict, compressed; apart, so that scans stay narrow.",
)

document = Table(
    "document",
    metadata,
    Column("hash", String, primary_key=True),
    Column("codec", SmallInteger, nullable=False),
    Column("body", LargeBinary, nullable=False),
    comment="Prompts and large ground truths, which many verdicts share: stored once.",
)

writer = Table(
    "writer",
    metadata,
    Column("id", String, primary_key=True),
    Column("started_at_ms", BigInteger, nullable=False),
    Column("closed_at_ms", BigInteger),
    Column("sequence", Integer, nullable=False),
    comment="One row per run of a writing process. `sequence` is its last transaction, so that one whose end "
    "was not seen is not written twice; without `closed_at_ms` it did not end by itself.",
)
