"""Times as they are told: RFC 3339, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def from_ms(milliseconds: int) -> str:
    """Milliseconds since the epoch, told to the millisecond."""
    return _told(datetime.fromtimestamp(milliseconds / 1000, UTC), "milliseconds")


def from_s(seconds: int) -> str:
    """Seconds since the epoch."""
    return _told(datetime.fromtimestamp(seconds, UTC), "seconds")


def _told(moment: datetime, precision: str) -> str:
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
