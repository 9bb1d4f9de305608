"""Samples of a fixed size per cell, labels, second opinions, evidence of flags."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from audit.sampling import unit_interval

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

CHUNK = 10_000


def upgrade() -> None:
    """Change the tables; rows that are there already were drawn by the same hash, so they are samples."""
    op.alter_column("stratum_count", "stored", new_column_name="sampled")
    _extend_verdicts()
    op.add_column("verdict_flag", sa.Column("evidence", sa.Text))
    op.add_column("verdict_flag", sa.Column("late", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("writer", sa.Column("complete_until_ms", sa.BigInteger, nullable=False, server_default="0"))
    op.execute("UPDATE writer SET complete_until_ms = coalesce(closed_at_ms, started_at_ms)")
    op.add_column("document", sa.Column("uses", sa.BigInteger, nullable=False, server_default="0"))
    _count_uses()
    op.create_table(
        "label",
        sa.Column("id", sa.String, primary_key=True),
        sa.Column("verdict_id", sa.String, nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
        sa.Column("labeler", sa.String, nullable=False),
        sa.Column("answer", sa.String, nullable=False),
        sa.Column("cause", sa.String),
        sa.Column("note", sa.Text),
        sa.Column("drawn", sa.Boolean, nullable=False),
        sa.Column("withdraws", sa.String),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_label_verdict", "label", ["verdict_id"])
    op.create_table(
        "second_opinion",
        sa.Column("verdict_id", sa.String, primary_key=True),
        sa.Column("method", sa.String, primary_key=True),
        sa.Column("outcome", sa.String, nullable=False),
        sa.Column("detail", sa.Text, nullable=False),
        sa.Column("created_at_ms", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "lease",
        sa.Column("name", sa.String, primary_key=True),
        sa.Column("holder", sa.String, nullable=False),
        sa.Column("expires_at_ms", sa.BigInteger, nullable=False),
    )


def _count_uses() -> None:
    columns = ("prompt_hash", "ground_truth_hash")
    for column in columns:
        op.create_index(f"ix_{column}", "verdict", [column])
        op.execute(f"UPDATE document SET uses = uses + (SELECT count(*) FROM verdict WHERE {column} = hash)")  # noqa: S608
        op.drop_index(f"ix_{column}", "verdict")


def _extend_verdicts() -> None:
    op.drop_column("verdict", "inclusion_probability")
    for column in (
        sa.Column("window_start_s", sa.BigInteger, nullable=False, server_default="0"),
        sa.Column("draw", sa.Float, nullable=False, server_default="0"),
        sa.Column("sampled", sa.Boolean, nullable=False, server_default=sa.true()),
        sa.Column("second", sa.String),
    ):
        op.add_column("verdict", column)
    op.execute("UPDATE verdict SET window_start_s = created_at_ms / 1000 - (created_at_ms / 1000) % 3600")
    _draw()
    cell = ["verifier", "version", "data_source", "stratum", "window_start_s", "sampled"]
    op.create_index("ix_verdict_cell", "verdict", cell)
    due, is_due = ["window_start_s", "draw"], sa.text("second IS NULL")
    op.create_index("ix_verdict_due", "verdict", due, sqlite_where=is_due, postgresql_where=is_due)


def _draw() -> None:
    """Give each row its draw, which is a hash that the database cannot compute."""
    connection = op.get_bind()
    after = ""
    rows = sa.table("verdict", sa.column("id"), sa.column("draw"))
    query = sa.select(rows.c.id).order_by(rows.c.id).limit(CHUNK)
    change = rows.update().where(rows.c.id == sa.bindparam("key")).values(draw=sa.bindparam("drawn"))
    while ids := list(connection.scalars(query.where(rows.c.id > after))):
        connection.execute(change, [{"key": key, "drawn": unit_interval(key)} for key in ids])
        after = ids[-1]
