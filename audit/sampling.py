"""Which verdicts keep their payload: by hash of the id, so that the choice can be repeated and merged."""

from __future__ import annotations

from hashlib import blake2b

SALT = "goldcheck"


def unit_interval(verdict_id: str, salt: str = SALT) -> float:
    """Where `verdict_id` falls in [0, 1): the big-endian blake2b-8 of `salt:verdict_id`, over 2**64."""
    digest = blake2b(f"{salt}:{verdict_id}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def draw(verdict_id: str, unscorable: bool, rate: float) -> float | None:
    """The draw of a verdict whose payload is kept; None if it is not.

    `rate` is the share of scored verdicts to keep, in [0, 1]. Unscorable ones are always kept.
    """
    u = unit_interval(verdict_id)
    return u if unscorable or u < rate else None
