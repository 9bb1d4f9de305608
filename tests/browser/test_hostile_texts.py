"""Texts that try to do something to the page stay texts."""

from __future__ import annotations

import httpx
import pytest
import seeding
from visiting import Visit


@pytest.fixture(scope="module")
def hostile(seeded: str) -> dict[str, str]:
    """Ids of verdicts about hostile responses, by the response's name."""
    return dict(zip(seeding.HOSTILE_TEXTS, seeding.post(seeded, seeding.hostile_items()), strict=True))


@pytest.mark.parametrize("name", seeding.HOSTILE_TEXTS)
def test_it_is_shown_and_does_nothing(visit: Visit, hostile: dict[str, str], name: str) -> None:
    """Blind, revealed, as written, in the queue's part of a page: no script runs, nothing is fetched."""
    path = f"/audit/r/{hostile[name]}"
    for address in (path, f"{path}?blind=0", f"/audit?run=hostile&order=newest&at={hostile[name]}"):
        visit.open(address)
        assert visit.shown == hostile[name]
        visit.press("r")
        assert visit.page.locator(".view-raw").is_visible()
        visit.press("r")
        assert visit.page.evaluate("window.hacked") is None
        assert visit.page.evaluate("window.violations") is None
        assert visit.page.locator("article").count() == 1
        assert (
            visit.page.locator("#fake, #sample script, #sample img, #sample iframe, #sample style").count()
            == 0
        )
        assert visit.page.locator("#sample a[href^='javascript']").count() == 0
        wide = visit.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0


def test_what_is_written_is_what_was_sent(visit: Visit, hostile: dict[str, str], seeded: str) -> None:
    """As written, a response reads as it was judged; what cannot be seen is named."""
    for name in ("script", "template", "program", "katex bomb"):
        visit.open(f"/audit/r/{hostile[name]}")
        response = httpx.get(f"{seeded}/v1/audit/verdicts/{hostile[name]}").json()["response"]
        assert visit.page.text_content(".view-raw") == response
    visit.open(f"/audit/r/{hostile['zero width']}")
    visit.press("r")
    assert "U+200B" in (visit.page.text_content(".view-raw") or "")
    assert "word joiner" in (visit.page.text_content(".characters") or "")
    visit.open(f"/audit/r/{hostile['right to left']}")
    visit.press("r")
    assert "U+202E" in (visit.page.text_content(".view-raw") or "")


def test_a_hostile_note_and_name(visit: Visit, hostile: dict[str, str]) -> None:
    """What labelers type is text too."""
    visit.open(f"/audit/r/{hostile['script']}")
    visit.page.fill("#sample input[name=labeler]", "<img src=x onerror='window.hacked=1'>")
    visit.page.fill("#sample input[name=note]", "<script>window.hacked=1</script>")
    visit.press("Enter")
    visit.press("n")
    visit.page.wait_for_selector(".history")
    assert visit.page.evaluate("window.hacked") is None
    assert "<script>" in (visit.page.text_content(".history") or "")
