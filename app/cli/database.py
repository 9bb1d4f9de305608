"""The database of the verdict log, for commands that read or label what is stored."""

from __future__ import annotations

from app.cli.errors import CommandError
from app.cli.settings import load_settings


def database_url() -> str:
    """URL of the verdict log that the settings name; `CommandError` where there is none yet."""
    from audit.database import sqlite_path

    url = load_settings().log_url
    path = sqlite_path(url)
    if path is not None and not path.exists():
        raise CommandError(f"{path}: there is no verdict log; see GOLDCHECK_DATA_DIR")
    return url
