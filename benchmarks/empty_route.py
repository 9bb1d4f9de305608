"""A FastAPI route with the models of `/v1/verify` that judges nothing: the floor for one item per request."""

from __future__ import annotations

from fastapi import FastAPI

from app.contracts import VerifyRequest
from app.reply_contracts import VerifyReply

app = FastAPI()
REPLY: VerifyReply = {
    "id": "01890a5d-ac96-774b-bcce-b302099a8057",
    "status": "scored",
    "reward": 1.0,
    "reward_components": {"correctness": 1.0},
    "verdict": {
        "correct": True,
        "reason": "within_tolerance",
        "detail": {
            "extracted": "18",
            "source": "last_number",
            "span": [291, 293],
            "parsed": "18",
            "expected": "18",
            "error": "0",
            "tolerance": "1.8001e-05",
        },
    },
    "stop": {
        "stop_reason": "unknown",
        "raw": None,
        "source": "none",
        "terminated": None,
        "truncated": None,
    },
    "include_in_loss": True,
    "failure": None,
    "verifier": {"name": "numeric", "version": "1.0.0", "environment": "b41c0ffee0b41c00"},
    "audit": {"flags": [], "stratum": "accept/plain", "selected": False},
    "timing": {"queue_ms": 0.1, "verify_ms": 0.04},
}


@app.get("/readyz")
async def ready() -> str:
    """It is, at once."""
    return "ready"


@app.post("/v1/verify")
async def verify(request: VerifyRequest) -> VerifyReply:
    """Validate the request, validate the reply."""
    return REPLY
