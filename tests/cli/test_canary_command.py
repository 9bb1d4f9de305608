"""`goldcheck canary make`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import run

LINES: list[Any] = [
    {"question": "1+1", "answer": "2", "meta": {"run": "r", "tags": {"lang": "en"}}},
    {"verifier": "choice", "prompt": "Which?", "ground_truth": "A"},
    {"verifier": "numeric", "ground_truth": 3.25, "response": "as it was"},
    {"ground_truth": {"inputs": ["1\n"], "outputs": ["2\n"]}},
    {"ground_truth": '{"inputs": [[1]], "outputs": [[2]], "fn_name": "f"}'},
    {"verifier": "words", "ground_truth": "Evelyn"},
]


def write(path: Path, lines: list[Any]) -> Path:
    """JSON values, and texts as they are, one a line."""
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def make(tmp_path: Path, source: Path, *arguments: str) -> list[dict[str, Any]]:
    """The canaries of a file."""
    output = tmp_path / "canaries.jsonl"
    done = run(tmp_path, "canary", "make", source, "-o", output, *arguments)
    assert done.status == 0, done.err
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_canaries_keep_all_but_the_ground_truth(tmp_path: Path) -> None:
    """Every line of every shape becomes a canary that says so and how; the rest of it stays."""
    made = make(tmp_path, write(tmp_path / "in.jsonl", LINES), "--share", "1")
    assert len(made) == len(LINES)
    for before, after in zip(LINES, made, strict=True):
        name = "answer" if "answer" in before else "ground_truth"
        assert after["meta"].pop("canary") is True
        assert after["meta"]["tags"].pop("canary")
        assert after.pop(name) != before[name]
        kept = {key: value for key, value in before.items() if key not in {name, "meta"}}
        meta = after.pop("meta")
        assert after == kept
        assert meta == before.get("meta", {"tags": {}})


def test_the_share_is_drawn_by_the_seed(tmp_path: Path) -> None:
    """One seed draws the same lines each time, another draws others, and about the share of them."""
    source = write(tmp_path / "in.jsonl", [{"ground_truth": str(n), "n": n} for n in range(2000)])
    first, again, other = (
        make(tmp_path, source, "--share", "0.1", *seed) for seed in ([], [], ["--seed", "1"])
    )
    assert first == again
    assert {line["n"] for line in first} != {line["n"] for line in other}
    assert all(140 <= len(lines) <= 260 for lines in (first, other))


def test_what_makes_no_canary_is_named(tmp_path: Path) -> None:
    """Lines without a usable ground truth are named; the others become canaries, and the status is 1."""
    source = write(
        tmp_path / "in.jsonl", ["not json", "[]", {"q": 1}, {"ground_truth": {"cases": 1}}, LINES[1]]
    )
    output = tmp_path / "out.jsonl"
    done = run(tmp_path, "canary", "make", source, "-o", output, "--share", "1")
    assert done.status == 1
    assert all(f"line {number}:" in done.err for number in (1, 2, 3, 4))
    assert len(output.read_text().splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--share", "2"], ["--tests", "none"], ["--seed", "x"]])
def test_wrong_use(tmp_path: Path, arguments: list[str]) -> None:
    """Wrong arguments write nothing."""
    source = write(tmp_path / "in.jsonl", LINES)
    done = run(tmp_path, "canary", "make", source, "-o", tmp_path / "out", *arguments)
    assert done.status == 2
    assert not (tmp_path / "out").exists()
