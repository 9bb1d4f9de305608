"""Real processes that keep verdicts and can be killed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recording import url_of

from audit.types import Durability

HERE = Path(__file__).parent

Start = Callable[[Path, Durability, int, int], subprocess.Popen[str]]
"""Starts a process that keeps verdicts: in which file and how, first serial number, how many."""


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts processes and leaves none."""
    with contextlib.ExitStack() as stack:

        def start(path: Path, durability: Durability, first: int, how_many: int) -> subprocess.Popen[str]:
            numbers = [str(first), str(how_many)]
            process = subprocess.Popen(
                [sys.executable, str(HERE / "log_process.py"), url_of(path), durability, *numbers],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=os.environ | {"PYTHONPATH": f"{HERE}:{HERE.parents[1]}"},
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


def read_acknowledged(process: subprocess.Popen[str], how_many: int) -> list[int]:
    """Serial numbers of the next verdicts that the process was told are kept."""
    assert process.stdout is not None
    return [int(process.stdout.readline()) for _ in range(how_many)]


def kill(process: subprocess.Popen[str]) -> list[int]:
    """SIGKILL; returns what else had been acknowledged by then."""
    assert process.stdout is not None
    process.kill()
    rest = process.stdout.read()  # `communicate` passes by what the stream has read ahead
    process.communicate()
    return [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]


def wait_for(condition: Callable[[], bool]) -> None:
    """Poll; the limit is only there to end a test that has failed."""
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
