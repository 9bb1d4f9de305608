"""Stored verdicts -> jobs again: what was judged once, read back exactly and checked by today's contract."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from app.errors import Problem
from app.intake import Intake, Job
from app.parsing import Document, parse_json
from audit import exact_json

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
    question: Any
    """The prompt, or the ground truth where none was sent."""
    job: Job | None
    """None: today's contract does not take the request."""
    refusal: str = ""
    """Why not."""


def read_stored(document: bytes, intake: Intake) -> Stored:
    """Read one stored verdict as the verdict log gives it out."""
    fields = parse_json(bytearray(document)).value
    reply = fields["reply"]
    body = request_of(fields)
    job, refusal = None, ""
    try:
        job = intake.single(Document(body, len(document), may_hold_unstorable=True, may_hold_huge=True))
    except Problem as problem:
        refusal = problem.detail or problem.title
    prompt = fields.get("prompt")
    return Stored(
        id=fields["id"],
        verifier=fields["verifier"]["name"],
        version=fields["verifier"]["version"],
        correct=fields["correct"],
        reason=fields["reason"],
        detail=(reply.get("verdict") or {}).get("detail") or {},
        verify_s=float((reply.get("timing") or {}).get("verify_ms") or 0) / 1e3,
        question=exact_json.dump(body.get("ground_truth") if prompt is None else prompt),
        job=job,
        refusal=refusal,
    )


def request_of(stored: Mapping[str, Any]) -> dict[str, Any]:
    """The body of /v1/verify that asks for a stored verdict again, all but what says nothing about it."""
    request = stored.get("request") or {}
    body = {name: request[name] for name in _REQUEST if name in request}
    body |= {"verifier": stored["verifier"]["name"], "response": stored["response"]}
    body["ground_truth"] = stored.get("ground_truth")
    return body
