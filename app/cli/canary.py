"""`goldcheck canary`: items whose ground truth no honest response reaches."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.cli.errors import CommandError
from app.cli.output import written_whole
from app.cli.progress import reading

if TYPE_CHECKING:
    from app.canaries import Canary

MAX_EXPLANATION = 200

canary = typer.Typer(help="Items with an unreachable ground truth.", no_args_is_help=True)


@canary.callback()
def _group() -> None:
    pass  # with a callback, one command alone is still called by its name


@canary.command("make")
def make(  # noqa: PLR0913, PLR0917 - one for each choice
    file: Annotated[Path, typer.Argument(help="A data set: on each line an object with a ground truth.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The canaries, a line each.")],
    share: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the lines of which one is made.")
    ] = 0.01,
    seed: Annotated[int, typer.Option(help="Another seed draws other lines and other values.")] = 0,
    field: Annotated[str | None, typer.Option(help="Name of the ground truth; else the usual ones.")] = None,
    verifier: Annotated[
        str | None, typer.Option(help="Verifier of lines that name none; else told from the ground truth.")
    ] = None,
    tests: Annotated[
        Literal["flip", "contradict"],
        typer.Option(help="Make an expected value another, or add its contrary."),
    ] = "flip",
) -> None:
    """Write copies of some lines with a ground truth that no honest response reaches.

    Each has `meta.canary: true`, and says in `meta.tags.canary` what was done. Mix them into the data set:
    the service answers them like any other, but leaves them out of the loss, and counts every accept as an
    exploit. Exit status: 0, or 1 when no canary could be made of some of the lines drawn; 2 wrong use.
    """
    from app.canaries import NoCanaryError
    from app.parsing import MalformedJSONError
    from audit import exact_json
    from audit.sampling import unit_interval

    made = failed = number = 0
    try:
        source = file.open("rb")
    except OSError as error:
        raise CommandError(f"{file}: {error.strerror}") from None
    with (
        source,
        written_whole(output) as draft,
        draft.open("wb") as target,
        reading(file, "lines read") as (progress, task),
    ):
        for number, line in enumerate(iter(source.readline, b""), 1):
            progress.update(task, completed=source.tell(), lines=number)
            if line.isspace() or unit_interval(f"{seed}:{number}", "canary") >= share:
                continue
            try:
                item = _item(line, field, verifier, random.Random(f"{seed}:{number}"), tests)  # noqa: S311
            except (NoCanaryError, MalformedJSONError) as error:
                failed += 1
                message = f"{file}, line {number}: {error}"
                progress.console.print(message, markup=False, highlight=False, soft_wrap=True)
                continue
            target.write(exact_json.dump(item) + b"\n")
            made += 1
    typer.echo(f"{made:,} canaries of {number:,} lines in {output}")
    if failed:
        raise CommandError(f"of {failed:,} lines that were drawn no canary could be made", 1)


def _item(
    line: bytes,
    field: str | None,
    verifier: str | None,
    draw: random.Random,
    how: Literal["flip", "contradict"],
) -> dict[str, Any]:
    """A line as a canary."""
    from app.canaries import NoCanaryError, make_canary
    from app.parsing import parse_json
    from verifiers.math.lint import FIELDS

    item = parse_json(bytearray(line)).value
    if not isinstance(item, dict):
        raise NoCanaryError("not an object")
    names = FIELDS if field is None else (field,)
    name = next((name for name in names if name in item), None)
    if name is None:
        raise NoCanaryError(f"no {' or '.join(names)}")
    made = make_canary(item.get("verifier") or verifier or _verifier_of(item[name]), item[name], draw, how)
    return {**item, name: made.ground_truth, "meta": _meta(item.get("meta"), made)}


def _meta(meta: Any, made: Canary) -> dict[str, Any]:
    known = meta if isinstance(meta, dict) else {}
    tags = known.get("tags") if isinstance(known.get("tags"), dict) else {}
    return {**known, "canary": True, "tags": {**(tags or {}), "canary": made.explanation[:MAX_EXPLANATION]}}


def _verifier_of(ground_truth: Any) -> str:
    """Tests are objects, or JSON texts of objects; everything else is mathematics."""
    text = ground_truth.lstrip() if isinstance(ground_truth, str) else ""
    return "code" if isinstance(ground_truth, dict) or text.startswith(('{"', "{\n", "{ ")) else "math"
