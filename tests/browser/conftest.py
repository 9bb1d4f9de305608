"""A headless Chromium, and services with something to look at. See `make test-browser`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import Any

import pytest
import seeding

if find_spec("playwright") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from playwright.sync_api import Browser, sync_playwright
    from visiting import Visit, watched

RunService = Callable[..., AbstractContextManager[str]]

_ARGUMENTS = [
    "--no-sandbox",  # tests may run as root, where Chromium's own sandbox does not start
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=_ARGUMENTS
        )
        yield browser
        browser.close()


@pytest.fixture
def context_options() -> dict[str, Any]:
    """What a test's browser is like; tests may parametrize it."""
    return {"viewport": {"width": 1280, "height": 900}}


@pytest.fixture
def visit(browser: Browser, seeded: str, context_options: dict[str, Any]) -> Iterator[Visit]:
    """A new browser profile at the seeded service. Any fault on the page, or any way out, fails the test."""
    context = browser.new_context(**context_options)
    visit = watched(context, seeded)
    yield visit
    context.close()
    assert visit.faults == []


@pytest.fixture(scope="session")
def seeded(run_service: RunService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of a service that has judged some of everything."""
    folder = tmp_path_factory.mktemp("seeded")
    with run_service(folder, GOLDCHECK_AUDIT_BUDGET="5000", GOLDCHECK_AUDIT_DURABILITY="commit") as url:
        seeding.post(url, seeding.numeric_items(200))
        seeding.post(url, seeding.shown_items())
        yield url
