"""What may lie around an answer in its place: backslashes doubled or lost, and words that announce it."""

from __future__ import annotations

import re

_ESCAPED_TWICE = re.compile(r"\\\\(?=[a-zA-Z]|[()\[\]{}])")
_ESCAPED_ONCE = re.compile(r"(?<!\\)\\[a-zA-Z]")
_ANNOUNCED = re.compile(
    r"(\\text\s*\{)?\s*(?:(?:so|thus|hence|therefore),?\s+)?(?:the\s+)?(?:final\s+|correct\s+)?answer\s*(?:is\b\s*:?|:)\s*"
    r"(?(1)(\})?)",
    re.IGNORECASE,
)
_CONTROLS = {"\a": "a", "\b": "b", "\v": "v", "\f": "f"}
_CONTROL = re.compile(r"\\?([\a\x08\v\f])(?=[a-z])")
"""The form feed of a `\\frac` that was unescaped once too often, and its like."""


def bare(text: str) -> str:
    """`text` as it was meant, without what announces the answer."""
    if not text.isprintable():
        text = _CONTROL.sub(lambda match: "\\" + _CONTROLS[match[1]], text)
    return _unannounced(_unescaped(text))


def _unannounced(text: str) -> str:
    """`text` without "the answer is" before the answer."""
    match = _ANNOUNCED.match(text)
    if match is None or match.end() == len(text):
        return text
    return (match[1] if match[1] and not match[2] else "") + text[match.end() :]


def _unescaped(text: str) -> str:
    """LaTeX that went through JSON twice, so that every backslash is doubled, as it was meant."""
    if "\\\\" in text and _ESCAPED_TWICE.search(text) and not _ESCAPED_ONCE.search(text):
        return _ESCAPED_TWICE.sub(r"\\", text)
    return text
