"""The table of costs in docs/languages.md is what was measured."""

from __future__ import annotations

import json
from pathlib import Path

from sandbox.languages.all import ALL

ROOT = Path(__file__).parents[2]


def test_costs_are_those_that_were_measured() -> None:
    """A row for every language beside Python, in the figures of benchmarks/results/languages.json."""
    measured = json.loads((ROOT / "benchmarks" / "results" / "languages.json").read_text("utf-8"))[
        "languages"
    ]
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    assert {*measured} == {*ALL}
    for name, figures in measured.items():
        compiling = [f"{figures[of]['p50_ms']:.0f}" for of in ("plain_compile", "compile", "sent_again")]
        running = [f"{figures[of]['p50_ms']:.1f}" for of in ("plain_run", "run")]
        row = " | ".join([f"`{name}`", figures["version"], *compiling, *running])
        assert f"| {row} |\n" in page, row
