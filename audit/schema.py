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
    Text,
    text,
)

REVISION = "0003"
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
    Column("sampled", BigInteger, nullable=False),
    Column("shed", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    comment="Exact number of verdicts per stratum and window; of those, how many are in the sample, and how "
    "many would have been but for a full queue. Never lowered by retention.",
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

_is_due = text("second IS NULL")

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
    Column("window_start_s", BigInteger, nullable=False),
    Column("draw", Float, nullable=False),
    Column("sampled", Boolean, nullable=False),
    Column("second", String),
    Column("status", String, nullable=False),
    Column("correct", Boolean),
    Column("reward", Float),
    Column("reason", String, nullable=False),
    Column("stop_reason", String, nullable=False),
    Column("truncated", Boolean),
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
    # Without the draw, which would scatter new rows over the whole index: a cell's sample is soon sorted.
    Index("ix_verdict_cell", "verifier", "version", "data_source", "stratum", "window_start_s", "sampled"),
    Index("ix_verdict_due", "window_start_s", "draw", sqlite_where=_is_due, postgresql_where=_is_due),
    Index("ix_verdict_stratum", "verifier", "stratum", "id"),
    Index("ix_verdict_run", "run", "step"),
    sqlite_with_rowid=False,
    comment="Stored verdicts, one narrow row each. Ids are UUIDv7, so their order is that of time. `draw` is "
    "the hash of the id in [0, 1); `sampled`: among the smallest draws of its cell, so that rates count it; "
    "`second`: what the second opinion came to, null while there is none.",
)

verdict_flag = Table(
    "verdict_flag",
    metadata,
    Column("verdict_id", String, primary_key=True),
    Column("flag", String, primary_key=True),
    Column("evidence", Text),
    Column("late", Boolean, nullable=False),
    Index("ix_verdict_flag", "flag", "verdict_id"),
    sqlite_with_rowid=False,
    comment="The flags of a stored verdict. `evidence`: JSON, a list of `[start, end]` in code points of the "
    "response, or a short text; `late`: found after the reply.",
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
    Column("uses", BigInteger, nullable=False),
    comment="Prompts and large ground truths, which many verdicts share: stored once, removed when no row of "
    "`verdict` refers to them any more; `uses` counts those.",
)

label = Table(
    "label",
    metadata,
    Column("id", String, primary_key=True),
    Column("verdict_id", String, nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    Column("labeler", String, nullable=False),
    Column("answer", String, nullable=False),
    Column("cause", String),
    Column("note", Text),
    Column("drawn", Boolean, nullable=False),
    Column("withdraws", String),
    Index("ix_label_verdict", "verdict_id"),
    sqlite_with_rowid=False,
    comment="What people said about an answer, append-only. `drawn`: the sample was drawn, not looked for, "
    "so that rates may count it; `withdraws`: the earlier label that this row takes back.",
)

second_opinion = Table(
    "second_opinion",
    metadata,
    Column("verdict_id", String, primary_key=True),
    Column("method", String, primary_key=True),
    Column("outcome", String, nullable=False),
    Column("detail", Text, nullable=False),
    Column("created_at_ms", BigInteger, nullable=False),
    sqlite_with_rowid=False,
    comment="What another way of judging said: `agrees`, `accepts`, `rejects` or `unknown`; `detail`: JSON.",
)

lease = Table(
    "lease",
    metadata,
    Column("name", String, primary_key=True),
    Column("holder", String, nullable=False),
    Column("expires_at_ms", BigInteger, nullable=False),
    comment="Work that one process at a time does for all that share the database.",
)

writer = Table(
    "writer",
    metadata,
    Column("id", String, primary_key=True),
    Column("started_at_ms", BigInteger, nullable=False),
    Column("closed_at_ms", BigInteger),
    Column("sequence", Integer, nullable=False),
    Column("complete_until_ms", BigInteger, nullable=False),
    comment="One row per run of a writing process. `sequence` is its last transaction, so that one whose end "
    "was not seen is not written twice. What it counted before `complete_until_ms` is all there; without "
    "`closed_at_ms` it did not end by itself, and what it counted later may be missing.",
)
