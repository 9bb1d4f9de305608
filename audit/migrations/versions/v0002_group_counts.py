"""Groups, counted by what became of them."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "group_count",
        sa.Column("run", sa.String, primary_key=True),
        sa.Column("data_source", sa.String, primary_key=True),
        sa.Column("split", sa.String, primary_key=True),
        sa.Column("step", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("reject_reason", sa.String, primary_key=True),
        sa.Column("bin_all", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("bin_valid", sa.SmallInteger, primary_key=True, autoincrement=False),
        sa.Column("groups", sa.BigInteger, nullable=False),
        sa.Column("measured", sa.BigInteger, nullable=False),
        sa.Column("tokens", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )
