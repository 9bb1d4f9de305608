"""Options that choose stored verdicts: the query parameters of `/v1/audit/verdicts` on the command line."""

from __future__ import annotations

from typing import Annotated

import typer

Verifier = Annotated[str | None, typer.Option(help="Name of the verifier.")]
DataSource = Annotated[str | None, typer.Option(help="Data source.")]
Run = Annotated[str | None, typer.Option(help="Run.")]
Stratum = Annotated[str | None, typer.Option(help="Stratum, as in the replies.")]
Flag = Annotated[str | None, typer.Option(help="A flag.")]
Second = Annotated[str | None, typer.Option(help="Second opinion: agrees, accepts, rejects or unknown.")]
Correct = Annotated[bool | None, typer.Option("--correct/--incorrect", help="Only accepted, only rejected.")]
Labelled = Annotated[bool | None, typer.Option("--labelled/--unlabelled", help="Only with, only without.")]
