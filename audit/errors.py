"""What callers of the audit may run into.

AuditError
├── BadCursorError        the cursor was not made by this service: the caller's fault
├── UnknownVerdictError   no stored verdict has this id
├── UnknownLabelError     no label that could be taken back has this id
├── LabelNotStoredError   the database takes no writes now
└── LogUnavailableError   the database cannot be read now
"""

from __future__ import annotations


class AuditError(Exception):
    """Base of the errors that `audit` raises."""


class BadCursorError(AuditError, ValueError):
    """The cursor is not one that a page gave out."""


class LogUnavailableError(AuditError):
    """The database cannot be read now; the message says why."""


class UnknownVerdictError(AuditError, LookupError):
    """There is no stored verdict with this id."""


class UnknownLabelError(AuditError, LookupError):
    """There is no label with this id, or it is itself a withdrawal."""


class LabelNotStoredError(AuditError):
    """The database takes no writes now; the message says why. Nothing was stored."""
