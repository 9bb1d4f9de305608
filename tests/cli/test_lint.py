"""`goldcheck lint` names unusable ground truths by line, and its status says whether there were any."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOLDCHECK = str(Path(sys.executable).with_name("goldcheck"))


def lint(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GOLDCHECK, "lint", *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def write(tmp_path: Path):
    def write_lines(*lines: object) -> str:
        file = tmp_path / "set.jsonl"
        file.write_text(
            "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        )
        return str(file)

    return write_lines


def test_a_sound_data_set_has_nothing_to_say(write) -> None:
    """Usable ground truths end with status 0 and a count."""
    done = lint(write({"answer": "42"}, {"answer": "\\frac{3}{7}"}))
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 lines: nothing to say\n", "")


@pytest.mark.parametrize(
    ("line", "kind", "status"),
    [
        ("{", "not_json", 1),
        ({"question": "?"}, "no_ground_truth", 1),
        ({"answer": "\\frac{1}{"}, "unreadable", 1),
        ({"answer": "1.6e-19"}, "tiny", 0),
    ],
)
def test_findings_are_named_by_line(write, line: object, kind: str, status: int) -> None:
    """Each finding names file, line and kind; only unusable ground truths change the status."""
    file = write({"answer": "1"}, line)
    done = lint(file)
    assert done.returncode == status
    assert f"{file}:2: " in done.stderr
    assert f": {kind}: " in done.stderr


def test_field_names_the_ground_truth(write) -> None:
    """`--field` looks where the data set keeps it."""
    assert lint(write({"gold_value": "7"}), "--field", "gold_value").returncode == 0


def test_a_missing_file_is_one_line() -> None:
    """Wrong use is status 2 and one line."""
    done = lint("/nowhere.jsonl")
    assert done.returncode == 2
    assert done.stderr == "goldcheck: /nowhere.jsonl: No such file or directory\n"
