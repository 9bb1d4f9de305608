"""The verdict log: counts, stored verdicts, their payloads and shared documents."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "stratum_count",
        sa.Column("verifier", sa.String, primary_key=True),
        sa.Column("version", sa.String, primary_key=True),
        sa.Column("data_source", sa.String, primary_key=True),
        sa.Column("stratum", sa.String, primary_key=True),
        sa.Column("window_start_s", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("verdicts", sa.BigInteger, nullable=False),
        sa.Column("stored", sa.BigInteger, nullable=False),
        sa.Column("shed", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "verdict",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
        sa.Column("verifier", sa.String, nullable=False),
        sa.Column("version", sa.String, nullable=False),
        sa.Column("environment", sa.String, nullable=False),
        sa.Column("data_source", sa.String, nullable=False),
        sa.Column("stratum", sa.String, nullable=False),
        sa.Column("status", sa.String, nullable=False),
        sa.Column("correct", sa.Boolean),
        sa.Column("reward", sa.Float),
        sa.Column("reason", sa.String, nullable=False),
        sa.Column("stop_reason", sa.String, nullable=False),
        sa.Column("truncated", sa.Boolean),
        sa.Column("inclusion_probability", sa.Float, nullable=False),
        sa.Column("run", sa.String),
        sa.Column("step", sa.BigInteger),
        sa.Column("split", sa.String),
        sa.Column("prompt_id", sa.String),
        sa.Column("group_id", sa.String),
        sa.Column("rollout_id", sa.String),
        sa.Column("canary", sa.Boolean, nullable=False),
        sa.Column("labelled", sa.Boolean, nullable=False),
        sa.Column("prompt_hash", sa.String),
        sa.Column("ground_truth_hash", sa.String),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_verdict_stratum", "verdict", ["verifier", "stratum", "id"])
    op.create_index("ix_verdict_run", "verdict", ["run", "step"])
    op.create_table(
        "verdict_flag",
        sa.Column("verdict_id", sa.String, primary_key=True),
        sa.Column("flag", sa.String, primary_key=True),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_verdict_flag", "verdict_flag", ["flag", "verdict_id"])
    op.create_table(
        "payload",
        sa.Column("verdict_id", sa.String, primary_key=True),
        sa.Column("codec", sa.SmallInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "document",
        sa.Column("hash", sa.String, primary_key=True),
        sa.Column("codec", sa.SmallInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "writer",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("started_at_ms", sa.BigInteger, nullable=False),
        sa.Column("closed_at_ms", sa.BigInteger),
        sa.Column("sequence", sa.Integer, nullable=False),
    )
