"""JSON numbers that keep the text they were written as, so that a gold of 0.1 is one tenth exactly."""

from __future__ import annotations


class FloatLiteral(float):
    """A float that remembers its JSON literal in `text`."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> FloatLiteral:
        """Read `text`, the literal as written in the JSON document."""
        self = super().__new__(cls, text)
        self.text = text
        return self
