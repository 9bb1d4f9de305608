"""The image's bill of materials agrees with what the Dockerfile installs, and the page with the bill."""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
BILL = json.loads((ROOT / "deploy" / "contents.cdx.json").read_text("utf-8"))
NOT_LOCKED = {"goldcheck", "pip", "setuptools"}
"""Ourselves, and what every virtual environment begins with."""
HINT = "run deploy/check.sh, or deploy/check/bill.py on an image of this tree"


@pytest.fixture
def bill(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The script that writes both files."""
    folder = ROOT / "deploy" / "check"
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return runpy.run_path(str(folder / "bill.py"))


def locked(lock: str, python: str, removed: set[str]) -> dict[str, str]:
    """Name -> version of what is locked for Linux and that Python, but for what the Dockerfile removes."""
    short = python.rpartition(".")[0]
    environment = {"sys_platform": "linux", "python_full_version": python, "python_version": short}
    found = [Requirement(line) for line in re.findall(r"^([a-z0-9][^\\\n]*?) *\\?$", lock, re.MULTILINE)]
    return {
        one.name: str(one.specifier).removeprefix("==")
        for one in found
        if one.name not in removed and (one.marker is None or one.marker.evaluate(environment))
    }


def in_the_image(kind: str) -> dict[str, str]:
    """Name -> version of the packages of one registry; names as the registry writes them."""
    found = (re.fullmatch(rf"pkg:{kind}/(.+)@(.+)", one["purl"]) for one in BILL["components"])
    return {unquote(one[1]): unquote(one[2]) for one in found if one}


def test_python_packages_are_those_of_the_lock() -> None:
    """None missing, none of another version, none more."""
    facts = {one["name"]: one["value"] for one in BILL["metadata"]["properties"]}
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    removed = {*re.search(r"pip uninstall --quiet --yes (.*)", dockerfile)[1].split()}  # type: ignore[index]
    wanted = locked(LOCK.read_text("utf-8"), facts["goldcheck:python"], removed)
    assert len(wanted) > 30
    there = {name: version for name, version in in_the_image("pypi").items() if name not in NOT_LOCKED}
    assert there == wanted, HINT


@pytest.mark.parametrize(
    ("line", "python", "expected"),
    [
        ("extra==1.2 \\\n    --hash=sha256:00\n", "3.11.2", {"extra": "1.2"}),
        ("extra==1.2 ; sys_platform == 'win32' \\\n", "3.11.2", {}),
        ("extra==1.2 ; python_full_version < '3.11.5' \\\n", "3.11.2", {"extra": "1.2"}),
        ("extra==1.2 ; python_full_version < '3.11.5' \\\n", "3.11.9", {}),
        ("removed==1 \\\n    # via extra\n", "3.11.2", {}),
    ],
)
def test_the_lock_is_read_as_pip_reads_it(line: str, python: str, expected: dict[str, str]) -> None:
    """Markers are those of the image's Python."""
    assert locked(line, python, {"removed"}) == expected


def test_the_files_for_the_browser_are_those_that_are_there(bill: dict[str, Any]) -> None:
    """By name and version."""
    there = {one["name"]: one["version"] for one in bill["browser_files"]()}
    assert in_the_image("npm") == there, HINT


def test_the_page_is_the_bill(bill: dict[str, Any]) -> None:
    """Nobody has edited either."""
    assert (ROOT / "docs" / "image-contents.md").read_text("utf-8") == bill["page"](BILL), HINT


def test_every_package_says_its_licence() -> None:
    """Or where its own words are."""
    told = {one["purl"]: one["licenses"][0]["license"]["name"] for one in BILL["components"]}
    assert [purl for purl, licence in told.items() if not licence or licence == "not stated"] == []
