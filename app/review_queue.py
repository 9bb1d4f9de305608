"""The review queue of one labeler, for its page and for the API."""

from __future__ import annotations

from dataclasses import replace

from app.service import Service
from audit.review import Queue
from audit.types import VerdictFilter


def read_queue(service: Service, wanted: VerdictFilter, labeler: str, limit: int) -> Queue:
    """The queue; with a text in the filter, of what contains it among the newest `limit` found. Blocks."""
    among = None
    if wanted.q is not None:
        page = service.log.search(replace(wanted, labelled=False), None, limit)
        among = [item["id"] for item in page.items]
    return service.review.queue(wanted, labeler, limit, among)
