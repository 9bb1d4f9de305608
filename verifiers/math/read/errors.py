"""What can go wrong while reading an answer.

ReadError
|- UnsupportedKind   a proof, prose, a chemical equation: nothing this verifier compares
`- TooLarge          longer, deeper or with more digits than is read
"""

from __future__ import annotations


class ReadError(Exception):
    """The text is no answer in the grammar."""


class UnsupportedKind(ReadError):
    """The text is an answer of a kind that is refused on purpose."""


class TooLarge(ReadError):
    """The text is beyond the limits on length, nesting or digits."""
