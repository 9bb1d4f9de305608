"""The examples run as they are against a real service."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_post_batch_prints_one_reward_per_response(service: str) -> None:
    """The example posts its real batch, and the rewards agree with the data set's own labels."""
    script = ROOT / "examples" / "post_batch.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 36
    done = subprocess.run(
        [sys.executable, str(script), service], capture_output=True, text=True, timeout=60, check=True
    )
    items = [json.loads(line) for line in (script.parent / "gsm8k_responses.jsonl").read_text().splitlines()]
    printed = [line.split() for line in done.stdout.splitlines()]
    assert [(line[0], float(line[2])) for line in printed] == [
        (item["id"], float(item["is_correct"])) for item in items
    ]
