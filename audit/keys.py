"""Callers' labels as keys of tables: short enough for the index of any database."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

SHORT: Final = 100
"""Labels of up to this many characters are always their own key."""

_KEY_BYTES: Final = 400  # PostgreSQL's indexes hold rows of 2,700 bytes


def column_text(text: str) -> str:
    """A text as any database takes it: no lone surrogates, no NUL."""
    if not text.isascii():
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text.replace("\0", "\ufffd")


def index_key(text: str) -> str:
    """A label as it stands in a table's key: one that is too long for an index ends in its hash."""
    text = column_text(text)
    encoded = text.encode()
    if len(encoded) <= _KEY_BYTES:
        return text
    return f"{encoded[:300].decode(errors='ignore')}…{blake2b(encoded, digest_size=16).hexdigest()}"
