"""What was seen of the image: benchmarks/results/deploy.json, and to be read docs/image-checked.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "benchmarks" / "results" / "deploy.json"
PAGE = ROOT / "docs" / "image-checked.md"

TEXT = """\
# The image, checked

Written by `deploy/check.sh` on {date} ({cores} cores, Linux {kernel}); the figures are in
`benchmarks/results/deploy.json`. The machine is shared and noisy: trust counts and ratios more than seconds.

| image | ready after | memory at rest | a batch of 1,024 numbers | of 64 programs |
|---|---|---|---|---|
| {size} MB | {ready} s | {idle} MiB | {numbers} | {programs} |

As shipped; ready is the median of five starts, size depends on the base image. A batch is told as its time
through the container over that of the same batch through `make serve` on the same machine, in turn; on a busy
machine it differs by 0.2 from run to run.

## Cases by way of running it

Cases held of cases sent: those that the service serves (`GET /v1/verifiers/NAME/cases`), and handed ones by
group. Where programs are refused, `served code` holds when each case is `unscorable` (`sandbox_unavailable`
where it would have been run), and no handed case is sent. "Minimum base" is `GOLDCHECK_MIN_ISOLATION=base`.

{table}
{not_held}"""


def write(result: dict[str, Any]) -> None:
    """Both files."""
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    PAGE.write_text(page(result), "utf-8")


def page(result: dict[str, Any]) -> str:
    """The figures as a page."""
    rows = result["scenarios"]
    shipped = rows["as shipped"]
    return TEXT.format(
        date=result["date"],
        cores=result["machine"]["cores"],
        kernel=result["machine"]["kernel"],
        size=round(result["image_bytes"] / 1e6),
        ready=f"{result['start_to_ready_s']:.1f}",
        idle=shipped["idle_bytes"] >> 20,
        numbers=result["container_to_bare"]["numbers"],
        programs=result["container_to_bare"]["programs"],
        table="\n".join(table(rows)),
        not_held=not_held(rows),
    )


def not_held(rows: dict[str, Any]) -> str:
    """The handed cases that do not hold, by the ways in which they do not."""
    ways: dict[tuple[str, ...], list[str]] = {}
    for name, row in rows.items():
        ways.setdefault(tuple(row["not_held"]), []).append(f'"{name}"')
    return "".join(
        f"\nNot held in {', '.join(names)}: {', '.join(ids)}. `docs/security.md` says why.\n"
        for ids, names in ways.items()
        if ids
    )


def table(rows: dict[str, Any]) -> list[str]:
    """A line for each scenario, a column for each group of cases."""
    groups = list(dict.fromkeys(group for row in rows.values() for group in row["cases"]))
    head = ["way", "level", "programs", *groups]
    lines = [
        [name, row["level"], row["programs"], *(row["cases"].get(group, "-") for group in groups)]
        for name, row in rows.items()
    ]
    return ["| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *lines]]
