"""What the review pages say: the list to go through, and everything about the sample that is shown."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, get_args

from app.pages.query import PageQuery
from app.pages.sample import Sample, read_sample
from app.reply_contracts import StopReason
from app.review_queue import read_queue
from app.service import Service
from audit.errors import BadCursorError
from audit.review import Agreement, Queue, QueueItem

CAUSES: Final = (
    "extraction",
    "notation",
    "equivalent form",
    "rounding",
    "units",
    "weak tests",
    "hard-coded answers",
    "limits",
    "other",
)
"""Why a verdict may be wrong, by the keys 1 to 9."""

WORDS: Final = {
    "correct": "correct",
    "incorrect": "incorrect",
    "unsure": "unsure",
    "bad_ground_truth": "ground truth is bad",
}
"""Answers for people."""

UNDO_S: Final = 12 * 3600
"""Older labels are not taken back by a key."""


@dataclass(frozen=True, slots=True)
class Review:
    """One request for a review page."""

    service: Service
    query: PageQuery
    labeler: str
    root: str
    """Path below which the service is served; usually empty."""
    permanent: bool
    """The page is about one verdict, with no list beside it."""
    whole: bool
    """Long texts are not folded."""
    complaints: tuple[str, ...] = ()

    def of(self, labeler: str) -> Review:
        """The same page for somebody else."""
        return replace(self, labeler=labeler)

    def address(self, **changes: Any) -> str:
        """This list with other filters."""
        encoded = self.query.encoded(**changes)
        return f"{self.root}/audit" + (f"?{encoded}" if encoded else "")

    def address_of(self, verdict_id: str, **changes: Any) -> str:
        """Where a verdict is shown in the same way."""
        if not self.permanent:
            return self.address(at=verdict_id, **changes)
        blind = changes.get("blind", "1" if self.query.blind else "0")
        whole = "whole=1" if changes.get("whole") else ""
        asked = "&".join(filter(None, ["blind=0" if blind == "0" else "", whole]))
        return f"{self.root}/audit/r/{verdict_id}" + (f"?{asked}" if asked else "")


class ListEntry(NamedTuple):
    """A line of the list. verdict: empty where it must not be seen."""

    id: str
    verifier: str
    data_source: str
    step: int | None
    second_look: bool
    labelled: bool
    verdict: str


def review_values(review: Review) -> dict[str, Any]:
    """What the template `review.html` needs. Blocks."""
    service, query = review.service, review.query
    queue: Queue | None = None
    next_page = None
    complaints = list(review.complaints)
    if query.order == "queue":
        queue = read_queue(service, query.filter, review.labeler, query.limit)
        entries = [_queued(item) for item in queue.items]
    else:
        try:
            page = service.log.search(query.filter, query.cursor, query.limit)
        except BadCursorError as error:
            complaints.append(str(error))
            page = service.log.search(query.filter, None, query.limit)
        entries = [_entry(item, review) for item in page.items]
        next_page = None if page.next is None else review.address(cursor=page.next)
    shown = query.at or (entries[0].id if entries else "")
    return {
        **sample_values(review, shown, queue, complaints),
        "entries": entries,
        "next_page": next_page,
        "chips": [
            (name.replace("_", " "), value, review.address(**{name: None}))
            for name, value in query.filters.items()
        ],
        "vocabulary": service.review.vocabulary(),
        "stop_reasons": get_args(StopReason),
        "agreement": service.review.agreement() if queue is not None else Agreement(0, 0, None),
    }


def sample_values(
    review: Review, verdict_id: str, queue: Queue | None = None, complaints: list[str] | None = None
) -> dict[str, Any]:
    """What the template `sample.html` needs, and what those around it share. Blocks."""
    query = review.query
    sample = _sample(review, verdict_id) if verdict_id else None
    last = _last_label(review)
    title = "Nothing to label" if sample is None else f"{sample.stored['verifier']['name']} {sample.id[-8:]}"
    return {
        "page": "review",
        "query": query,
        "queue": queue,
        "labeler": review.labeler,
        "address": review.address,
        "here": review.address_of(verdict_id),
        "whole_address": review.address_of(verdict_id, whole="1"),
        "reveal_address": review.address_of(verdict_id, blind="0"),
        "state": query.encoded(),
        "permanent": review.permanent,
        "counts_in_rates": query.counts_in_rates and not review.permanent,
        "title": title,
        "message": "; ".join(complaints or ()),
        "sample": sample,
        "revealed": sample is not None and (sample.mine is not None or not query.blind),
        "outcome": "" if sample is None else outcome(sample),
        "words": WORDS,
        "causes": CAUSES,
        **last,
    }


def outcome(sample: Sample) -> str:
    """Correct, incorrect or unscorable."""
    correct = sample.stored["correct"]
    return "unscorable" if correct is None else "correct" if correct else "incorrect"


def _sample(review: Review, verdict_id: str) -> Sample | None:
    document = review.service.log.get(verdict_id)
    if document is None:
        return None
    return read_sample(document, review.labeler, blind=review.query.blind, whole=review.whole)


def _queued(item: QueueItem) -> ListEntry:
    key = item.stratum
    return ListEntry(item.id, key.verifier, key.data_source, item.step, item.second_look, False, "")


def _entry(item: dict[str, Any], review: Review) -> ListEntry:
    shown = not review.query.blind or item["labelled"]
    word = {True: "correct", False: "incorrect", None: "unscorable"}[item["correct"]]
    return ListEntry(
        item["id"],
        item["verifier"]["name"],
        item["data_source"] or "",
        item["step"],
        False,
        item["labelled"],
        word if shown else "",
    )


def _last_label(review: Review) -> dict[str, Any]:
    """The labeler's last label, and how the verdict compares with it: for whoever wants to take it back."""
    nothing: dict[str, Any] = {"last": None, "last_verdict": "", "last_differs": False}
    if not review.labeler:
        return nothing
    since_ms = int((time.time() - UNDO_S) * 1000)
    found = review.service.review.last_label(review.labeler, since_ms)
    if found is None:
        return nothing
    label, correct = found
    word = {True: "correct", False: "incorrect", None: "unscorable"}[correct]
    differs = {label.answer, word} == {"correct", "incorrect"}
    return {"last": label, "last_verdict": word, "last_differs": differs}
