"""The page of what was measured of the image is what deploy/check.sh would write from its figures."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
MEASURED = runpy.run_path(str(ROOT / "deploy" / "check" / "measured.py"))
RESULT = json.loads((ROOT / "benchmarks" / "results" / "deploy.json").read_text("utf-8"))


def test_the_page_is_the_figures() -> None:
    """Nobody has edited either."""
    assert (ROOT / "docs" / "image-checked.md").read_text("utf-8") == MEASURED["page"](RESULT)


def test_nothing_was_otherwise_than_promised() -> None:
    """In no way of running it."""
    assert {name: row["faults"] for name, row in RESULT["scenarios"].items() if row["faults"]} == {}


def test_programs_were_run_with_the_handed_cases_too() -> None:
    """Whoever writes the figures anew has to have them; where programs are refused there are none."""
    for name, row in RESULT["scenarios"].items():
        groups = [group for group in row["cases"] if group.startswith("handed ")]
        assert bool(groups) == (row["programs"] == "run"), name
