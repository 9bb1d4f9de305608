"""`verifiers.patterns`: the same verdicts whichever engine reads the patterns."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = ROOT / "verifiers" / "numeric" / "cases.json"

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]*\})\+")
"""Also finds some that are none; a file that has one by accident may import from `patterns` all the same."""

JUDGE = """
import json, sys
import regex
from verifiers import patterns
if sys.argv[1] == "regex":
    patterns.re = regex
from verifiers.numeric import verify_numeric_answer
from verifiers.numeric.extract import re
assert re.__name__ == sys.argv[1]
print(json.dumps([verify_numeric_answer(response, gold) for response, gold in json.load(sys.stdin)]))
"""


def judged(engine: str, pairs: list[tuple[str, str]]) -> list[int]:
    """Verdicts in a process where `engine` reads the patterns."""
    done = subprocess.run(
        [sys.executable, "-c", JUDGE, engine],
        input=json.dumps(pairs),
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
    )
    found: list[int] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(sys.version_info < (3, 11, 5), reason="`re` is not used on this interpreter")
def test_both_engines_read_every_served_case_the_same() -> None:
    requests = [case["request"] for case in json.loads(CASES.read_text("utf-8"))["cases"]]
    pairs = [(r["response"], r["ground_truth"]) for r in requests if isinstance(r.get("ground_truth"), str)]
    pairs = [(response, gold) for response, gold in pairs if isinstance(response, str) and _usable(gold)]
    # Every response against every tenth ground truth too: what is read must not hang on the gold.
    pairs += [(response, gold) for response, _ in pairs for _, gold in pairs[::40]]
    assert len(pairs) > 500
    assert judged("re", pairs) == judged("regex", pairs)


def test_the_broken_engine_would_be_noticed() -> None:
    """The fault of CPython before 3.11.5, by its own example: nothing of a half-read repetition is kept."""
    from verifiers.patterns import re as engine

    found = engine.match("(?:ab?c)*+", "aca")
    assert found is not None
    assert found.span() == (0, 2)


def test_files_with_possessive_groups_take_their_engine_from_patterns() -> None:
    files = [
        path for name in ("app", "audit", "verifiers", "rollouts") for path in (ROOT / name).rglob("*.py")
    ]
    wanting = [
        str(path)
        for path in files
        if POSSESSIVE_GROUP.search(text := path.read_text("utf-8"))
        and re.search("^import re$", text, re.MULTILINE)
    ]
    assert wanting == []


def _usable(gold: str) -> bool:
    """Whether it is a ground truth that the function takes."""
    return bool(re.fullmatch(r"-?[0-9][0-9,./]*", gold))
