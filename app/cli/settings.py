"""`goldcheck settings`: every setting with its value, default and meaning."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from app.cli.errors import CommandError

if TYPE_CHECKING:
    from app.settings import Settings

PREFIX = "GOLDCHECK_"
MASK = "********"


def settings() -> None:
    """Print every setting: what it means, its default, its value now. The output is a valid env file."""
    from pydantic_core import PydanticUndefined

    loaded = load_settings()
    for name, field in type(loaded).model_fields.items():
        default = "" if field.default is PydanticUndefined else _text(field.default)
        typer.echo(f"# {field.description} (default: {default or 'empty'})")
        value = _text(getattr(loaded, name))
        typer.echo(f"{PREFIX}{name.upper()}={_without_password(value) if name.endswith('_url') else value}")


def load_settings() -> Settings:
    """The settings of the environment; raises `CommandError`. Misspelt names are named on standard error."""
    from pydantic import ValidationError

    from app.data_dir import no_folder_in
    from app.settings import Settings

    known = {PREFIX + name.upper() for name in Settings.model_fields}
    for name in sorted(os.environ):
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            typer.echo(f"goldcheck: {name} is not a setting; see `goldcheck settings`", err=True)
    try:
        loaded = Settings()
    except ValidationError as error:
        faults = [
            f"{PREFIX}{str(one['loc'][0]).upper()}: {one['msg']}" for one in error.errors(include_input=False)
        ]
        raise CommandError("; ".join(faults)) from None
    if (obstacle := no_folder_in(loaded.data_dir)) is not None:
        raise CommandError(f"{PREFIX}DATA_DIR: {obstacle} is not a folder")
    return loaded


def _text(value: Any) -> str:
    """A value as one writes it in the environment; secrets masked."""
    if isinstance(value, tuple):
        return ",".join(_text(item) for item in value)
    if hasattr(value, "get_secret_value"):
        return MASK
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, str | int | float | Path) else repr(value)


def _without_password(url: str) -> str:
    from sqlalchemy.engine import make_url

    return make_url(url).render_as_string(hide_password=True) if url else url
