"""The dashboard: tables from the service, plots from the API."""

from __future__ import annotations

import httpx
from visiting import Visit


def test_it_is_drawn(visit: Visit, seeded: str) -> None:
    """Every plot shows lines and their numbers, or says why not; tables hold rates or the reason for none."""
    with httpx.Client(base_url=seeded) as client:
        asked = {"limit": 150, "verifier": "numeric", "status": "scored", "run": "r7"}
        for item in client.get("/v1/audit/verdicts", params=asked).json()["items"]:
            label = {"answer": "correct", "labeler": "grace"}
            client.post(f"/v1/audit/verdicts/{item['id']}/labels", json=label).raise_for_status()
    visit.open("/audit/dashboard")
    visit.page.wait_for_selector("#plots[data-drawn]")
    assert visit.page.get_attribute("#plots", "data-drawn") == "4"
    drawn = visit.page.evaluate(
        """Object.fromEntries([...document.querySelectorAll('[data-plot]')].map(figure => {
            const canvas = figure.querySelector('canvas');
            const pixels = canvas?.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            const colours = new Set();
            for (let i = 0; pixels && i < pixels.length; i += 4)
                if (pixels[i + 3] > 200) colours.add(pixels.slice(i, i + 3).join());
            return [figure.dataset.plot, [colours.size, figure.querySelectorAll('tbody tr').length]];
        }))"""
    )
    assert set(drawn) == {
        "rates-window", "rates-step", "verdicts-window", "flags-step", "second-window", "canaries-window",
    }  # fmt: skip
    for name in ("rates-window", "verdicts-window", "flags-step", "canaries-window"):
        colours, rows = drawn[name]
        assert colours > 2, name
        assert rows >= 1, name
    text = visit.page.text_content("main") or ""
    assert "canaries accepted" in text
    assert "fewer than 20 labels" in text or "no labels yet" in text


def test_it_leads_to_the_queue(visit: Visit) -> None:
    """From each stratum to its samples."""
    visit.open("/audit/dashboard?verifier=numeric")
    visit.page.get_by_role("link", name="Label").first.click()
    visit.page.wait_for_url("**/audit?verifier=numeric**")
    assert "stratum=" in visit.page.url
    assert "labels here count in rates" in (visit.page.text_content(".list .note") or "")
