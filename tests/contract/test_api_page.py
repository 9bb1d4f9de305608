"""docs/api.md names every error and every path there is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from serving import Client

from app.errors import CODES
from verifiers.types import FailureKind

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def test_every_error_code_is_listed() -> None:
    """With its status and title."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \| (.+) \|$", PAGE, re.M)
    assert {code: (int(status), title) for code, status, title in rows} == CODES


def test_every_failure_kind_is_listed() -> None:
    """Callers see what null rewards may mean."""
    for kind in get_args(FailureKind):
        assert f"`{kind}`" in PAGE


def test_every_path_is_listed(client: Client) -> None:
    """And none that does not exist."""
    served = set(client.get("/openapi.json").json()["paths"])
    rows = re.findall(r"^\| `(?:GET|POST) .*$", PAGE, re.M)
    listed = {path for row in rows for path in re.findall(r"`(?:GET |POST |DELETE )?(/[\w/{}-]+)`", row)}
    assert listed == served
