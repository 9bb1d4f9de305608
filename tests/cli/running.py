"""Runs the `goldcheck` command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import httpx

COMMAND = Path(sys.executable).with_name("goldcheck")


class Done(NamedTuple):
    """How a command ended."""

    status: int
    out: str
    err: str


def environment(data_dir: Path, **settings: str) -> dict[str, str]:
    """The environment with these settings and no others."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("GOLDCHECK_")}
    return others | {"GOLDCHECK_DATA_DIR": str(data_dir), "COLUMNS": "100"} | settings


def start(data_dir: Path, *arguments: str | Path, **settings: str) -> subprocess.Popen[str]:
    """Start the command."""
    return subprocess.Popen(
        [COMMAND, *arguments],
        env=environment(data_dir, **settings),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(data_dir: Path, *arguments: str | Path, **settings: str) -> Done:
    """Run the command to its end."""
    with start(data_dir, *arguments, **settings) as process:
        out, err = process.communicate(timeout=100)
    return Done(process.returncode, out, err)


def get(url: str, **options: Any) -> httpx.Response:
    """Ask a service that may still be starting on a busy machine."""
    return httpx.get(url, timeout=60, **options)


def post(url: str, **options: Any) -> httpx.Response:
    """Post to such a service."""
    return httpx.post(url, timeout=60, **options)
