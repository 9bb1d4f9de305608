"""`goldcheck openapi`: the OpenAPI document."""

from __future__ import annotations

import json

import typer


def openapi() -> None:
    """Print the OpenAPI document of the service, as docs/openapi.json holds it."""
    from app.main import create_app

    typer.echo(json.dumps(create_app().openapi(), indent=2, ensure_ascii=False))
