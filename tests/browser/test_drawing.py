"""What is drawn of a sample, for every width and colour scheme, and for everybody."""

from __future__ import annotations

from itertools import pairwise

import httpx
import pytest
from visiting import Visit


@pytest.fixture(scope="module")
def by_verifier(seeded: str) -> dict[str, str]:
    """Ids of the samples of one kind each, by verifier and reason."""
    items = httpx.get(f"{seeded}/v1/audit/verdicts", params={"step_min": 40, "step_max": 40}).json()["items"]
    return {f"{item['verifier']['name']} {item['reason']}": item["id"] for item in items}


def test_mathematics_and_chat(visit: Visit, by_verifier: dict[str, str]) -> None:
    """Formulas are drawn in prompt, response and answers; messages have their roles; the box is marked."""
    visit.open(f"/audit/r/{by_verifier['math equal']}")
    page = visit.page
    assert page.locator(".prompt .role").all_text_contents() == ["system", "user"]
    assert page.locator(".prompt .katex").count() == 1
    assert page.locator(".response .katex").count() == 3
    assert page.locator(".drawing .katex").count() == 2
    assert page.locator(".response .evidence .katex").count() == 1
    assert page.locator(".failed").count() == 0
    loaded = page.evaluate(
        "[...document.fonts].filter(font => font.status === 'loaded').map(font => font.family)"
    )
    assert any("KaTeX" in family for family in loaded)


def test_programs_and_tests(visit: Visit, by_verifier: dict[str, str]) -> None:
    """Programs are coloured; tests show what went in, what was expected and, once revealed, what came out."""
    path = f"/audit/r/{by_verifier['code wrong_answer']}"
    visit.open(path)
    assert visit.page.locator(".response .hljs-keyword").count() >= 2
    assert visit.page.locator(".tests tbody tr").count() == 3
    assert "wrong answer" not in (visit.page.text_content(".tests") or "")
    visit.open(f"{path}?blind=0")
    statuses = visit.page.locator(".tests .status").all_text_contents()
    assert statuses == ["passed", "wrong answer", "runtime error"]
    assert visit.page.locator(".tests details summary").first.text_content() == "input: 6,000 characters"
    assert "ValueError" in (visit.page.text_content(".tests") or "")


def test_look_alikes(visit: Visit, by_verifier: dict[str, str]) -> None:
    """Characters that differ are marked in the raw strings, and named."""
    visit.open(f"/audit/r/{by_verifier['numeric not_a_number']}")
    assert visit.page.text_content('[data-side="expected"] del') == "-"
    assert visit.page.locator('[data-side="extracted"] ins').all_text_contents() == ["\u2212", "U+200B"]
    table = visit.page.text_content(".characters") or ""
    assert "minus sign" in table
    assert "zero width space" in table
    visit.open(f"/audit/r/{by_verifier['words different']}")
    assert "cyrillic small letter a" in (visit.page.text_content(".characters") or "")


@pytest.mark.parametrize(
    "context_options",
    [
        {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        for width, scheme in ((360, "dark"), (800, "light"), (1600, "dark"))
    ],
    ids=lambda options: f"{options['viewport']['width']}-{options['color_scheme']}",
)
def test_every_width_and_scheme(visit: Visit, by_verifier: dict[str, str]) -> None:
    """Nothing sticks out at the side, and the answers are always within reach; colours follow the system."""
    for path in ("/audit", "/audit/dashboard", *(f"/audit/r/{one}?blind=0" for one in by_verifier.values())):
        visit.open(path)
        wide = visit.page.evaluate(
            "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0, path
        if "dashboard" not in path:
            assert visit.page.locator("#label button.correct").is_visible()
    ground = visit.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    dark = visit.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (ground == "rgb(18, 22, 28)") == dark


@pytest.mark.parametrize("path", ["/audit", "/audit?order=newest&blind=0", "/audit/dashboard"])
def test_everything_has_a_name(visit: Visit, path: str) -> None:
    """Fields have labels, buttons and links words, headings come in order, and there is one main part."""
    visit.open(path)
    nameless = visit.page.evaluate(
        """[...document.querySelectorAll('input:not([type=hidden]), select, button:not([hidden]), a')]
        .filter(e => !(e.labels?.length || e.textContent.trim() || e.ariaLabel))
        .map(e => e.outerHTML.slice(0, 120))"""
    )
    assert nameless == []
    levels = visit.page.evaluate(
        """[...document.querySelectorAll('h1,h2,h3,h4')]
        .filter(h => !h.closest('dialog')).map(h => +h.tagName[1])"""
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert visit.page.locator("main").count() == 1
    visit.press("Tab")
    assert visit.page.evaluate("document.activeElement.textContent") == "Skip to the content"
    visit.press("Tab")
    outline = visit.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
