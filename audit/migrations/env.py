"""Alembic's entry: run the versions on the connection that `upgrade` hands over, in its transaction."""

from __future__ import annotations

from alembic import context

from audit.schema import metadata

context.configure(
    connection=context.config.attributes["connection"], target_metadata=metadata, transactional_ddl=True
)
context.run_migrations()
