"""`goldcheck settings`, and the command line as a whole."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from running import run

from app.settings import Settings


def parse(out: str) -> dict[str, str]:
    """Names and values of an env file."""
    return dict(line.split("=", 1) for line in out.splitlines() if not line.startswith("#"))


def test_every_setting_is_printed(tmp_path: Path) -> None:
    """Each setting is there with its meaning, default and value."""
    done = run(tmp_path, "settings", GOLDCHECK_AUDIT_BUDGET="25")
    assert done.status == 0
    assert list(parse(done.out)) == [f"GOLDCHECK_{name.upper()}" for name in Settings.model_fields]
    lines = done.out.splitlines()
    at = lines.index("GOLDCHECK_AUDIT_BUDGET=25")
    assert lines[at - 1].startswith("# verdicts stored with their texts")
    assert lines[at - 1].endswith("(default: 200)")


def test_output_is_an_env_file(tmp_path: Path) -> None:
    """Given back as the environment, the output changes nothing."""
    changed = {"GOLDCHECK_ALLOW_ANONYMOUS": "1", "GOLDCHECK_AUDIT_DURABILITY": "commit"}
    first = run(tmp_path, "settings", **changed).out
    assert run(tmp_path, "settings", **parse(first)).out == first
    assert parse(first)["GOLDCHECK_ALLOW_ANONYMOUS"] == "true"


def test_secrets_are_masked(tmp_path: Path) -> None:
    """Keys and passwords are never printed; how many keys there are is."""
    done = run(
        tmp_path,
        "settings",
        GOLDCHECK_API_KEYS="xyzzy-1, xyzzy-2",
        GOLDCHECK_DATABASE_URL="postgresql://me:xyzzy-3@host/db",
    )
    assert "xyzzy" not in done.out + done.err
    assert parse(done.out)["GOLDCHECK_API_KEYS"] == "********,********"
    assert parse(done.out)["GOLDCHECK_DATABASE_URL"] == "postgresql://me:***@host/db"


@pytest.mark.parametrize("command", [["settings"], ["serve"], ["verify", "in.jsonl", "-o", "out.jsonl"]])
def test_bad_settings(tmp_path: Path, command: list[str]) -> None:
    """A setting that does not fit is named in one line, whatever the command; status 2."""
    done = run(tmp_path, *command, GOLDCHECK_AUDIT_BUDGET="-2", GOLDCHECK_MAX_ITEMS="many")
    assert done.status == 2
    [line] = done.err.splitlines()
    assert "GOLDCHECK_AUDIT_BUDGET: Input should be greater than or equal to 0" in line
    assert "GOLDCHECK_MAX_ITEMS: " in line


@pytest.mark.parametrize("command", [["settings"], ["serve"], ["verify", "in.jsonl", "-o", "out.jsonl"]])
def test_a_data_folder_that_is_a_file(tmp_path: Path, command: list[str]) -> None:
    """A data folder that is a file, or below one, is named in one line; status 2."""
    path = tmp_path / "file"
    path.touch()
    for folder in (path, path / "below" / "it"):
        done = run(folder, *command)
        assert (done.status, done.err) == (2, f"goldcheck: GOLDCHECK_DATA_DIR: {path} is not a folder\n")


def test_misspelt_settings_are_named(tmp_path: Path) -> None:
    """A name that looks like a setting and is none is pointed out."""
    done = run(tmp_path, "settings", GOLDCHECK_AUDIT_SAMPEL="1")
    assert done.status == 0
    assert done.err == "goldcheck: GOLDCHECK_AUDIT_SAMPEL is not a setting; see `goldcheck settings`\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["paint"], "No such command 'paint'."),
        (["serve", "--port", "x"], "Invalid value for '--port'"),
        (["serve", "--colour", "blue"], "No such option: --colour"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    """Wrong arguments are one line on standard error and status 2."""
    done = run(tmp_path, *arguments)
    assert (done.status, done.out) == (2, "")
    [line] = done.err.splitlines()
    assert line.startswith(f"goldcheck: {message}")


def test_version_and_document(tmp_path: Path) -> None:
    """The version is printed, and the OpenAPI document is one of that version."""
    version = run(tmp_path, "--version").out.split()
    document = json.loads(run(tmp_path, "openapi").out)
    assert version == ["goldcheck", document["info"]["version"]]


def test_starts_light() -> None:
    """The command line itself loads neither web framework nor database nor validation."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import app.cli, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    heavy = {"fastapi", "uvicorn", "sqlalchemy", "alembic", "pydantic", "prometheus_client", "sympy", "numpy"}
    assert heavy.isdisjoint(loaded)
