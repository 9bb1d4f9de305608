"""The review pages without a browser: what they show, what they hide, what they refuse."""

from __future__ import annotations

import re
import time
from html import unescape
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from serving import Client, serving, verify

NEW_LABELER = {"labeler": "ada"}
HOSTILE = (
    "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> {{ 7*7 }} <a hx-get=/healthz>x</a> \\boxed{1}"
)


def judged(client: Client, run: str, **fields: Any) -> str:
    """The id of a verdict of the numeric verifier in a run."""
    meta = {"run": run, "data_source": run} | fields.pop("meta", {})
    body = {"verifier": "numeric", "response": "\\boxed{4}", "ground_truth": "5", "meta": meta}
    return str(verify(client, **(body | fields))["id"])


def page(client: Client, path: str, expected: int = 200, **headers: str) -> str:
    """A page's HTML."""
    reply = client.get(path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    assert reply.status_code == expected, reply.text
    assert reply.headers["content-type"].startswith("text/html")
    return reply.text


def send(client: Client, path: str, known_as: str = "", /, **fields: str) -> httpx.Response:
    """Post a form as the page's script does, as somebody known by a cookie."""
    return client.post(
        path,
        content=urlencode(fields),
        headers={
            "content-type": "application/x-www-form-urlencoded",
            "hx-request-type": "partial",
            "origin": "http://localhost",
            "sec-fetch-site": "same-origin",
            "cookie": f"goldcheck_labeler={known_as}",
        },
    )


def shown_id(html: str) -> str:
    """Of the sample on a page."""
    found = re.search(r'<article id="sample" data-id="([^"]+)"', html)
    assert found is not None, html
    return found[1]


def queued(html: str) -> list[str]:
    """Ids in the list of a page."""
    return re.findall(r'<li data-id="([^"]+)"', html)


def test_a_page_allows_no_code_but_its_own(pages: Client) -> None:
    """A strict policy; scripts and styles by address only; every address is served."""
    judged(pages, "policy")
    for path in ("/audit", "/audit/dashboard"):
        reply = pages.get(path)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self';" in policy
        assert "unsafe-inline" not in policy.replace("style-src-attr 'unsafe-inline'", "")
        assert reply.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?![^>]*(src=|application/json))", reply.text)
        assert "<style" not in reply.text
        assert " style=" not in reply.text
        assert not re.search(r"\son\w+=", reply.text)
        names = re.findall(r'<(?:script|link)[^>]*(?:src|href)="([^"]+)"', reply.text)
        assert len(names) >= 4
        for name in names:
            assert name.startswith("/assets/")
            assert pages.get(name).status_code == 200


@pytest.mark.parametrize(
    "field", ["response", "prompt", "ground_truth", "data_source", "prompt_id", "labels"]
)
def test_nothing_that_came_from_outside_is_markup(pages: Client, field: str) -> None:
    """Wherever it stands, in blind mode and revealed, in a page and in its part."""
    fields: dict[str, Any] = (
        {"meta": {field: HOSTILE}} if field in {"data_source", "prompt_id"} else {field: HOSTILE}
    )
    if field == "labels":
        fields = {}
    verdict_id = judged(pages, f"hostile-{field}", **fields)
    if field == "labels":
        reply = send(
            pages,
            f"/audit/r/{verdict_id}/label",
            answer="correct",
            labeler=HOSTILE,
            note=HOSTILE,
            cause=HOSTILE,
        )
        assert reply.status_code == 200
    for path in (
        f"/audit/r/{verdict_id}",
        f"/audit/r/{verdict_id}?blind=0",
        f"/audit?order=newest&run=hostile-{field}&blind=0",
        "/audit/dashboard?by=data_source",
    ):
        html = page(pages, path)
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "<a hx-get" not in html
        assert "49" not in re.sub(r"[0-9a-f-]{8,}", "", html) or "{{ 7*7 }}" in unescape(html)


def test_verdicts_are_hidden_until_labelled(pages: Client) -> None:
    """Verdict, reward, stratum and other labels appear with one's own label, or when asked for."""
    verdict_id = judged(pages, "blind", stop={"reason": "length"})
    send(pages, f"/audit/r/{verdict_id}/label", labeler="grace", answer="unsure", note="from grace", stay="1")
    secrets = ("outside_tolerance", "reject/", "correctness", "from grace", "incorrect</span>")
    path = f"/audit/r/{verdict_id}"
    blind = page(pages, path, cookie="goldcheck_labeler=ada")
    assert not any(secret in blind for secret in secrets)
    assert "truncated" in blind  # of the generation, not of the verdict
    revealed = page(pages, f"{path}?blind=0")
    assert all(secret in revealed for secret in secrets)
    answer = send(pages, f"{path}/label", "ada", answer="incorrect", stay="1")
    assert all(secret in answer.text for secret in secrets)
    assert all(secret in page(pages, path, cookie="goldcheck_labeler=ada") for secret in secrets)
    listed = page(pages, "/audit?order=newest&run=blind", cookie="goldcheck_labeler=linus")
    assert "outside_tolerance" not in listed


def test_labelling_walks_through_the_queue(pages: Client) -> None:
    """A label is stored with its labeler and whether it was drawn; the next sample comes back."""
    sent = {judged(pages, "walk", prompt=f"question {n}") for n in range(3)}
    html = page(pages, "/audit?data_source=walk")
    ids = queued(html)
    assert set(ids) == sent
    assert shown_id(html) == ids[0]
    reply = send(
        pages,
        f"/audit/r/{ids[0]}/label?data_source=walk",
        answer="correct", cause="extraction", note=" looks right ", drawn="1", next=ids[1], **NEW_LABELER,
    )  # fmt: skip
    assert shown_id(reply.text) == ids[1]
    assert "you found an error" in reply.text
    assert reply.headers["x-labelled"] == f"{ids[0]} correct"
    assert "goldcheck_labeler=ada" in reply.headers["set-cookie"]
    assert "HttpOnly" in reply.headers["set-cookie"]
    [label] = pages.get(f"/v1/audit/verdicts/{ids[0]}").json()["labels"]
    assert {name: label[name] for name in ("answer", "labeler", "cause", "drawn")} == {
        "answer": "correct",
        "labeler": "ada",
        "cause": "extraction",
        "drawn": True,
    }
    assert queued(page(pages, "/audit?data_source=walk", cookie="goldcheck_labeler=ada")) == ids[1:]


def test_a_label_is_taken_back(pages: Client) -> None:
    """Its sample is shown again, blind, and is in the queue again."""
    verdict_id = judged(pages, "undo")
    reply = send(
        pages, f"/audit/r/{verdict_id}/label?data_source=undo", "ada", answer="correct", next=verdict_id
    )
    found = re.search(r'action="(/audit/labels/[^"]+)"', reply.text)
    assert found is not None
    back = send(pages, unescape(found[1]), "ada")
    assert shown_id(back.text) == verdict_id
    assert back.headers["x-labelled"] == f"{verdict_id} "
    assert "outside_tolerance" not in back.text
    assert queued(page(pages, "/audit?data_source=undo", cookie="goldcheck_labeler=ada")) == [verdict_id]


def test_at_the_end_of_the_list_a_new_one_is_drawn(pages: Client) -> None:
    """The page is loaded anew."""
    verdict_id = judged(pages, "end")
    reply = send(pages, f"/audit/r/{verdict_id}/label?data_source=end", "ada", answer="correct", next="")
    assert reply.headers["hx-redirect"] == "/audit?data_source=end"
    html = page(pages, "/audit?data_source=end", cookie="goldcheck_labeler=ada")
    assert "Every sample within these filters has its label" in html


def test_pages_work_without_their_script(pages: Client) -> None:
    """Forms go and come back by redirection."""
    verdict_id = judged(pages, "plain")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    sent = urlencode({"answer": "unsure", "labeler": "ada", "stay": "1"})
    reply = pages.post(f"/audit/r/{verdict_id}/label", content=sent, headers=headers)
    assert (reply.status_code, reply.headers["location"]) == (303, f"/audit/r/{verdict_id}")
    named = pages.post(
        "/audit/labeler", content=urlencode({"labeler": " Ada  L. ", "back": "/audit?run=x"}), headers=headers
    )
    assert (named.status_code, named.headers["location"]) == (303, "/audit?run=x")
    assert "goldcheck_labeler=Ada%20L." in named.headers["set-cookie"]


@pytest.mark.parametrize(
    "back", ["https://evil.example/audit", "//evil.example/audit", "/docs", "", "javascript:x"]
)
def test_the_way_back_stays_here(pages: Client, back: str) -> None:
    """No page sends people elsewhere."""
    headers = {"content-type": "application/x-www-form-urlencoded"}
    reply = pages.post("/audit/labeler", content=urlencode({"labeler": "ada", "back": back}), headers=headers)
    assert reply.headers["location"] == "/audit"


FILTERS = {
    "verifier": "numeric",
    "version": "1.0.0",
    "data_source": "filters",
    "run": "filters",
    "step_min": "1",
    "step_max": "9",
    "stratum": "reject/plain",
    "correct": "0",
    "status": "scored",
    "stop_reason": "eos",
    "q": "need & <le>",
}


def test_every_filter_stands_in_the_address(pages: Client) -> None:
    """They find what fits, come back in links, and each can be taken out alone."""
    fields = {
        "response": "need & <le> \\boxed{4}",
        "stop": {"reason": "stop", "engine": "vllm", "matched": None},
    }
    wanted = judged(pages, "filters", **fields, meta={"step": 5})
    judged(pages, "filters", **fields, meta={"step": 50})
    html = page(pages, "/audit?" + urlencode({**FILTERS, "order": "newest", "blind": "0"}))
    assert queued(html) == [wanted]
    links = [unescape(link) for link in re.findall(r'<li><a href="([^"]+)" title="Remove', html)]
    assert len(links) == len(FILTERS)
    for link, left_out in zip(links, FILTERS, strict=True):
        given = dict(httpx.URL(link).params)
        assert given == {name: value for name, value in FILTERS.items() if name != left_out} | {
            "order": "newest", "blind": "0",
        }  # fmt: skip
    again = page(pages, links[0])
    assert queued(again) == [wanted]


@pytest.mark.parametrize(
    ("query", "counts"),
    [
        ("", True),
        ("verifier=numeric&version=1.0.0&data_source=rates&stratum=reject/plain", True),
        ("run=rates", False),
        ("q=box", False),
        ("step_min=1", False),
        ("flag=x", False),
        ("order=newest", False),
    ],
)
def test_labels_count_in_rates_only_when_drawn(pages: Client, query: str, counts: bool) -> None:
    """Not where somebody looked for something."""
    verdict_id = judged(pages, "rates", meta={"step": 3})
    html = page(pages, f"/audit?{query}&at={verdict_id}")
    assert (f'name="drawn" value="{int(counts)}"') in html
    assert 'name="drawn" value="0"' in page(pages, f"/audit/r/{verdict_id}")


def test_what_does_not_fit_is_said_and_left_out(pages: Client) -> None:
    """A bad parameter does not cost the page."""
    html = page(pages, "/audit?step_min=x&correct=perhaps&order=up&limit=0&cursor=zzz&verifier=numeric")
    for words in ("step_min must be an integer", "correct must be true or false", "order must be"):
        assert words in unescape(html)
    assert "not one that a page gave out" in unescape(page(pages, "/audit?order=newest&cursor=zzz"))


def test_a_verdict_that_is_not_stored(pages: Client) -> None:
    """Is a page of its own."""
    for verdict_id in ("x", "0197f0c4-5b1e-7c3a-9d52-0e8b6f3a2c11", "%3Cb%3E"):
        html = page(pages, f"/audit/r/{verdict_id}", 404)
        assert "No stored verdict" in html
        assert "<b>" not in html


@pytest.mark.parametrize(
    ("path", "fields", "status"),
    [
        ("/audit/r/{id}/label", {"answer": "perhaps"}, 422),
        ("/audit/r/{id}/label", {}, 422),
        ("/audit/r/none/label", {"answer": "correct"}, 404),
        ("/audit/labels/none/withdraw", {}, 404),
        ("/audit/labeler", {"labeler": "  "}, 422),
        ("/audit/r/{id}/label", {"answer": "correct", "note": "x" * 70_000}, 413),
        ("/audit/r/{id}/label", {"answer": "correct", "note": "x" * 20_000}, 422),
        ("/audit/r/{id}/label", {"answer": "correct", "cause": "x" * 2_000}, 422),
    ],
)
def test_bad_forms(pages: Client, path: str, fields: dict[str, str], status: int) -> None:
    """Are refused with the API's problems."""
    reply = send(pages, path.format(id=judged(pages, "bad")), "ada", **fields)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"


def test_an_address_holds_no_nul(pages: Client) -> None:
    """PostgreSQL refuses one even in a question: what is looked for is what would be stored."""
    assert "<code>a\ufffd</code>" in page(pages, "/audit/r/a%00", 404)


def test_texts_of_forms_are_stored_as_those_of_the_api(pages: Client) -> None:
    """NUL and lone surrogates become U+FFFD, as any database takes them; the label is counted."""
    verdict_id = judged(pages, "unstorable")
    before = labels_counted(pages)
    sent = b"answer=unsure&labeler=a%00da&cause=%00&note=%ED%A0%80x"
    headers = {"content-type": "application/x-www-form-urlencoded", "cookie": "goldcheck_labeler=%00"}
    reply = pages.post(f"/audit/r/{verdict_id}/label", content=sent, headers=headers)
    assert reply.status_code in {200, 303}
    (label,) = pages.get(f"/v1/audit/verdicts/{verdict_id}").json()["labels"]
    assert (label["labeler"], label["cause"]) == ("a\ufffdda", "\ufffd")
    assert set(label["note"]) == {"\ufffd", "x"}
    assert labels_counted(pages) == before + 1


def labels_counted(client: Client) -> float:
    """Labels of all answers, by the metrics."""
    found = re.findall(
        r"^goldcheck_audit_labels_total\{.*\} (.+)$", client.get("/metrics").text, re.MULTILINE
    )
    return sum(map(float, found))


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"content-type": "text/plain"},
        {"content-type": "multipart/form-data"},
    ],
)
def test_other_pages_cannot_label(pages: Client, headers: dict[str, str]) -> None:
    """Nothing is stored that another site's page sends."""
    verdict_id = judged(pages, "foreign")
    usual = {"content-type": "application/x-www-form-urlencoded"}
    sent = urlencode({"answer": "correct", "labeler": "eve"})
    reply = pages.post(f"/audit/r/{verdict_id}/label", content=sent, headers=usual | headers)
    assert reply.status_code in {403, 415}
    assert pages.get(f"/v1/audit/verdicts/{verdict_id}").json()["labels"] == []


def test_long_texts_are_folded(pages: Client) -> None:
    """Their beginning and end are shown, and all of it on demand; evidence at the end stays marked."""
    verdict_id = judged(pages, "long", response="word " * 40_000 + "\\boxed{4}")
    html = page(pages, f"/audit/r/{verdict_id}")
    assert len(html) < 200_000
    assert "152,009 characters left out" in html
    assert re.search(r'class="math evidence"[^>]*>\\boxed\{4\}<', html)
    assert len(page(pages, f"/audit/r/{verdict_id}?whole=1")) > 400_000


def test_pages_ask_for_the_key(tmp_path_factory: pytest.TempPathFactory) -> None:
    """As the password of Basic, for which browsers ask people."""
    with serving(tmp_path_factory.mktemp("keyed"), api_keys="secret") as client:
        while client.get("/readyz").status_code != 200:
            time.sleep(0.01)
        reply = client.get("/audit")
        assert reply.status_code == 401
        assert "Basic" in reply.headers["www-authenticate"]
        assert client.get("/audit", auth=("anybody", "secret")).status_code == 200
        assert client.get("/assets/audit/audit.css").status_code == 401
