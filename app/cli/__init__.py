"""`goldcheck`: one file per command. What a command needs is imported when it runs: all start fast."""

from __future__ import annotations

import sys
from importlib.metadata import version

import typer
from typer.exceptions import Abort, TyperException

from app.cli.canary import canary
from app.cli.errors import CommandError
from app.cli.export import export
from app.cli.labels import labels
from app.cli.lint import lint
from app.cli.openapi import openapi
from app.cli.replay import replay
from app.cli.serve import serve
from app.cli.settings import settings
from app.cli.verify import verify

commands = typer.Typer(
    name="goldcheck",
    help="Verify responses of language models against gold answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
commands.command()(serve)
commands.command()(settings)
commands.command()(verify)
commands.command()(lint)
commands.command()(openapi)
commands.command()(export)
commands.command()(replay)
commands.add_typer(labels, name="labels")
commands.add_typer(canary, name="canary")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"goldcheck {version('goldcheck')}")
        raise typer.Exit


@commands.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line. What goes wrong is one line on standard error; `CommandError` names statuses."""
    try:
        status = commands(standalone_mode=False)
    except CommandError as error:
        status = _complain(str(error), error.status)
    except TyperException as error:
        status = _complain(error.format_message(), 2)
    except (Abort, KeyboardInterrupt):
        status = _complain("interrupted", 130)
    sys.exit(status)


def _complain(message: str, status: int) -> int:
    print("goldcheck:", " ".join(message.split()), file=sys.stderr)  # noqa: T201 - this is the command line
    return status
