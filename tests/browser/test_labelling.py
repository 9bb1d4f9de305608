"""Labelling with the keyboard alone, and what the page remembers."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from visiting import Visit


def labels_of(url: str, verdict_id: str) -> list[dict[str, Any]]:
    """All labels of a verdict."""
    found: list[dict[str, Any]] = httpx.get(f"{url}/v1/audit/verdicts/{verdict_id}").json()["labels"]
    return found


@pytest.fixture
def labeler(request: pytest.FixtureRequest) -> str:
    """A name of the test's own."""
    return f"by {request.node.name}"[:60]


def test_twenty_samples_by_keyboard(visit: Visit, seeded: str, labeler: str) -> None:
    """Each key gives its answer, with cause and note; drawn, and by whoever said the name."""
    visit.open("/audit")
    visit.name(labeler)
    words = {"y": "correct", "n": "incorrect", "u": "unsure", "g": "bad_ground_truth"}
    expected = {}
    for number, key in enumerate("yynyugyynnyyuyyngyny"):
        verdict_id = visit.shown
        cause = note = None
        if number % 5 == 2:
            visit.press("2")
            cause = "notation"
        if number % 7 == 3:
            visit.page.focus("input[name=note]")
            visit.page.keyboard.type("y n u g 1 j z r")  # no key means anything here
            visit.press("Escape")
            note = "y n u g 1 j z r"
        visit.step(key)
        expected[verdict_id] = (words[key], cause, note)
        assert visit.page.get_attribute(f'li[data-id="{verdict_id}"]', "data-answer") == words[key]
    assert len(expected) == 20
    for verdict_id, (answer, cause, note) in expected.items():
        [label] = [one for one in labels_of(seeded, verdict_id) if one["labeler"] == labeler]
        assert (label["answer"], label["cause"], label["note"]) == (answer, cause, note)
        assert label["drawn"]
    assert visit.page.input_value("#labeler") == labeler
    visit.page.reload()
    assert visit.page.input_value("#labeler") == labeler  # remembered
    assert not set(expected) & set(ids(visit))


def ids(visit: Visit) -> list[str]:
    """Of the list, in order."""
    found: list[str] = visit.page.evaluate(
        "[...document.querySelectorAll('#entries li')].map(li => li.dataset.id)"
    )
    return found


def test_there_and_back(visit: Visit) -> None:
    """`j` and `k` walk without a label; the address follows, and leads there again."""
    visit.open("/audit?limit=20")
    order = ids(visit)
    assert visit.shown == order[0]
    assert [visit.step(key) for key in ("j", "j", "ArrowRight", "k", "ArrowLeft")] == [
        order[1], order[2], order[3], order[2], order[1],
    ]  # fmt: skip
    visit.page.wait_for_url(f"**at={order[1]}")
    assert visit.page.get_attribute("#entries li.current", "data-id") == order[1]
    visit.page.reload()
    assert visit.shown == order[1]
    visit.press("k")
    visit.page.wait_for_function("id => document.getElementById('sample').dataset.id === id", arg=order[0])
    visit.press("k")  # at the beginning: nothing
    assert visit.shown == order[0]


def test_undo(visit: Visit, seeded: str, labeler: str) -> None:
    """`z` takes labels back, the last first, and shows each sample again, blind."""
    visit.open("/audit")
    visit.name(labeler)
    first = visit.shown
    second = visit.step("y")
    visit.step("n")
    counted = visit.page.text_content("#labelled-count")
    assert visit.step("z") == second
    assert visit.step("z") == first
    assert int(visit.page.text_content("#labelled-count") or 0) == int(counted or 0) - 2
    for verdict_id in (first, second):
        given, taken_back = [one for one in labels_of(seeded, verdict_id) if one["labeler"] == labeler]
        assert taken_back["withdraws"] == given["id"]
        assert visit.page.get_attribute(f'li[data-id="{verdict_id}"]', "data-answer") is None
    assert visit.page.locator("#undo").count() == 0
    visit.press("z")  # nothing left to take back
    assert visit.page.locator(".verdict").count() == 0
    visit.step("y")  # and on from there
    visit.step("z")


def test_blind_until_labelled(visit: Visit, labeler: str) -> None:
    """The verdict comes with one's own label; the switch shows it at once, and is part of the address."""
    visit.open("/audit")
    verdict_id = visit.shown
    assert visit.page.locator(".card.verdict").count() == 0
    assert visit.page.locator(".verdict-dot").count() == 0
    visit.page.get_by_role("switch", name="Blind").click()
    visit.page.wait_for_url("**blind=0**")
    assert visit.page.locator(".card.verdict").count() == 1
    visit.open(f"/audit/r/{verdict_id}")
    assert visit.page.locator(".card.verdict").count() == 0
    visit.name(labeler)
    visit.press("u")
    visit.page.wait_for_selector(".card.verdict")
    assert labeler in (visit.page.text_content(".history") or "")
    assert visit.shown == verdict_id  # a permalink stays where it is
    visit.press("z")
    visit.page.wait_for_selector(".card.verdict", state="detached")


def test_keys_are_explained(visit: Visit) -> None:
    """`?` opens the list, in which no key labels, and Escape closes it."""
    visit.open("/audit")
    visit.press("?")
    dialog = visit.page.locator("#help")
    assert dialog.is_visible()
    before = visit.shown
    visit.press("j")
    visit.press("Escape")
    assert not dialog.is_visible()
    assert visit.shown == before


def test_filters_round_trip(visit: Visit) -> None:
    """Filters set on the page stand in the address, find what they should, and survive a reload."""
    visit.open("/audit?order=newest")
    visit.press("/")
    visit.page.keyboard.type("temperature")
    visit.press("Enter")
    visit.page.wait_for_url("**q=temperature**")
    assert len(ids(visit)) == 1
    visit.page.click("#more-filters")
    visit.page.fill("input[name=verifier]", "numeric")
    visit.page.select_option("select[name=correct]", "false")
    visit.page.fill("input[name=step_min]", "40")
    visit.page.get_by_role("button", name="Apply").click()
    visit.page.wait_for_url("**verifier=numeric**")
    assert "step_max" not in visit.page.url  # empty ones are left out
    assert len(ids(visit)) == 1
    visit.page.reload()
    assert visit.page.locator(".chips li").count() == 4
    visit.page.click(".chips a >> nth=0")
    visit.page.wait_for_load_state()
    assert visit.page.locator(".chips li").count() == 3
    visit.open("/audit?order=newest&step_min=100000")
    assert "No stored verdict fits" in (visit.page.text_content("#sample") or "")


def test_a_lost_service_is_said(visit: Visit, labeler: str) -> None:
    """A label that could not be sent is not shown as given."""
    visit.open("/audit")
    visit.name(labeler)
    before = visit.shown
    visit.page.route("**/label?**", lambda route: route.abort())
    visit.page.route("**/label", lambda route: route.abort())
    visit.press("y")
    visit.page.wait_for_selector(".message")
    assert "nothing was stored" in (visit.page.text_content(".message") or "")
    assert visit.shown == before
    assert visit.page.locator("#entries li[data-answer]").count() == 0
    assert all("ERR_FAILED" in fault or "Failed to fetch" in fault for fault in visit.faults)
    visit.faults.clear()


def test_a_refused_label_is_said(visit: Visit, labeler: str) -> None:
    """With the service's own words."""
    visit.open("/audit")
    visit.name(labeler)
    before = visit.shown
    problem = '{"code": "label_not_stored", "detail": "locked: database is locked"}'
    visit.page.route(
        "**/label**",
        lambda route: route.fulfill(status=503, content_type="application/problem+json", body=problem),
    )
    visit.press("y")
    visit.page.wait_for_selector(".message")
    assert "database is locked" in (visit.page.text_content(".message") or "")
    assert visit.shown == before
    assert [fault for fault in visit.faults if "503" not in fault] == []
    visit.faults.clear()
