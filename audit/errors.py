"""What a reader of the log may run into.

AuditError
├── BadCursorError        the cursor was not made by this service: the caller's fault
└── LogUnavailableError   the database cannot be read now
"""

from __future__ import annotations


class AuditError(Exception):
    """Base of the errors that `audit` raises."""


class BadCursorError(AuditError, ValueError):
    """The cursor is not one that a page gave out."""


class LogUnavailableError(AuditError):
    """The database cannot be read now; the message says why."""
