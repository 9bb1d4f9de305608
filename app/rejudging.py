"""Stored verdicts -> jobs again: what was judged once, read back exactly and checked by today's contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.errors import Problem
from app.intake import Intake, Job
from app.parsing import Document, parse_json
from audit import exact_json
from audit.labels import labels_from_json, truth

_REQUEST: Final = ("options", "stop", "shaping")


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored verdict, and the job that asks for it again."""

    id: str
    verifier: str
    version: str
    correct: bool | None
    """None: it was unscorable."""
    reason: str
    """Reason or failure kind."""
    detail: Mapping[str, Any]
    """`verdict.detail` of its reply."""
    verify_s: float
    body: Mapping[str, Any]
    """The body of /v1/verify that asks for it."""
    answer: str | None
    """What its labels come to."""
    question: Any
    """The prompt, or the ground truth where none was sent."""
    job: Job | None
    """None: today's contract does not take the request, or nobody was there to say so."""
    environment: str = ""


def read_stored(document: bytes, intake: Intake | None) -> Stored:
    """Read one stored verdict as the verdict log gives it out; raises KeyError, TypeError, ValueError.

    intake: makes the job. Numbers are as they were written.
    """
    fields = parse_json(bytearray(document)).value
    reply = fields["reply"]
    body = _request(fields)
    prompt = fields.get("prompt")
    return Stored(
        id=fields["id"],
        verifier=fields["verifier"]["name"],
        version=fields["verifier"]["version"],
        correct=fields["correct"],
        reason=fields["reason"],
        detail=(reply.get("verdict") or {}).get("detail") or {},
        verify_s=float((reply.get("timing") or {}).get("verify_ms") or 0) / 1e3,
        body=body,
        answer=None if (found := truth(labels_from_json(fields["labels"]))) is None else found.answer,
        question=exact_json.dump(body.get("ground_truth") if prompt is None else prompt),
        job=None if intake is None else _job(body, len(document), intake),
        environment=fields["verifier"]["environment"],
    )


def _job(body: dict[str, Any], size: int, intake: Intake) -> Job | None:
    try:
        return intake.single(Document(body, size, may_hold_unstorable=True, may_hold_huge=True))
    except Problem:
        return None


def _request(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What asks for a stored verdict again, all but what says nothing about it."""
    request = stored.get("request") or {}
    body = {name: request[name] for name in _REQUEST if name in request}
    body |= {"verifier": stored["verifier"]["name"], "response": stored["response"]}
    body["ground_truth"] = stored.get("ground_truth")
    return body
