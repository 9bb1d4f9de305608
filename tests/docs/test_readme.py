"""The README's console blocks are run against a real service; what they print must be what they show."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ADDRESS = "http://127.0.0.1:8000"


def console_calls(page: Path) -> list[tuple[str, str]]:
    """(command, shown output) of every `$ ` line inside ```console fences."""
    calls: list[tuple[str, str]] = []
    for block in re.findall(r"^```console\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            lines = part.splitlines(keepends=True)
            n = 1
            while "".join(lines[:n]).count("'") % 2:  # a quoted body goes on over several lines
                n += 1
            calls.append(("".join(lines[:n]), "".join(lines[n:])))
    return calls


def pattern(shown: str) -> re.Pattern[str]:
    """Shown output as a pattern: `…` stands for any text within a line, white space at line ends is free."""
    lines = [
        ".*".join(re.escape(piece) for piece in line.rstrip().split("…"))
        for line in shown.strip().splitlines()
    ]
    return re.compile(r"\s*\n".join(lines) + r"\s*")


CALLS = console_calls(ROOT / "README.md")


def test_readme_shows_the_calls_people_need() -> None:
    """Numeric, code, batch and an unscorable item are shown."""
    text = "\n".join(command for command, _ in CALLS)
    shown = "\n".join(output for _, output in CALLS)
    for needed in ("/v1/verify/numeric", "/v1/verify/code", "/v1/verify/batch"):
        assert needed in text
    assert '"unscorable"' in shown


@pytest.mark.parametrize(("command", "shown"), CALLS, ids=[c.split("\n")[0][:60] for c, _ in CALLS])
def test_readme_calls_print_what_is_shown(service: str, command: str, shown: str) -> None:
    """A reader who pastes a call gets what the page shows."""
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", command.replace(ADDRESS, service)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=60,
        check=False,
    )
    assert pattern(shown).fullmatch(done.stdout.strip()), done.stdout + done.stderr
