"""Bring an open database to the newest version; loaded only when one is not there yet."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

_ALEMBIC: Final = threading.Lock()
"""Alembic keeps the migration under way in module globals: one thread at a time."""


def configuration(connection: Connection) -> Config:
    """Alembic's configuration, without a file, for an open connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(connection: Connection) -> None:
    """Run what is missing inside the transaction of `connection`."""
    with _ALEMBIC:
        command.upgrade(configuration(connection), "head")
