"""Versions of the schema, run with Alembic when the service starts."""
