"""What may lie around an answer in its place: backslashes doubled or lost, and words that announce it."""

from __future__ import annotations

import re

from verifiers.numeric.words import NO_LABEL

_CHANGING = frozenset(
    ("root", "square", "third", "quarter", "log", "least", "most", "between", "all", "part", "if", "such")
)
_ESCAPED_TWICE = re.compile(r"\\\\(?=[a-zA-Z]|[()\[\]{}])")
_ESCAPED_ONCE = re.compile(r"(?<!\\)\\[a-zA-Z]")
_ANNOUNCED = re.compile(
    r"(\\text\s*\{)?\s*(?:(?:so|thus|hence|therefore),?\s+)?(?:the\s+)?(?:final\s+|correct\s+)?answer\s*(?:is\b\s*:?|:)\s*"
    r"(?(1)(\})?)",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?P<text>\\(?:text|mathrm|textbf)\s*\{\s*)?(?P<words>[A-Za-z]+(?:[ ,'-]+[A-Za-z]+){0,9}?)\s*"
    r"(?::|\s(?:is|equals)\b(?:\s+equal\s+to\b)?:?)(?P<close>\s*\})?\s*(?=\S)"
)
"""What names the answer: `\\text{Probability: }`, `The total is`."""
_VALUE = re.compile(r"\d|\\(?!text|mathrm|mathbf)|[π√∞]")
_BOLD = re.compile(r"(?<![\w)\]}])\*\*(?=\S)([^*\n]+)(?<=\S)\*\*(?![\w(])")
"""Markdown; a power has a base before it."""
_CONTROLS = {"\a": "a", "\b": "b", "\v": "v", "\f": "f"}
_CONTROL = re.compile(r"\\?([\a\x08\v\f])(?=[a-z])")
"""The form feed of a `\\frac` that was unescaped once too often, and its like."""


def bare(text: str) -> str:
    """`text` as it was meant, without what announces the answer."""
    if not text.isprintable():
        text = _CONTROL.sub(lambda match: "\\" + _CONTROLS[match[1]], text)
    if "**" in text:
        text = _BOLD.sub(r"\1", text)
    return _unannounced(_unescaped(text))


def _unannounced(text: str) -> str:
    """`text` without "the answer is" before the answer."""
    match = _ANNOUNCED.match(text)
    if match is None or match.end() == len(text):
        return _unlabelled(text)
    return (match[1] if match[1] and not match[2] else "") + text[match.end() :]


def _unlabelled(text: str) -> str:
    """`text` without words that name its value; those that deny or change it are kept, and so refused."""
    match = _LABEL.match(text)
    if match is None or not _VALUE.search(text, match.end()) or (match["close"] and not match["text"]):
        return text
    words = match["words"].lower().replace(",", " ").split()
    if max(map(len, words)) < 3 or (NO_LABEL | _CHANGING) & set(words):
        return text
    return ("" if match["close"] else match["text"] or "") + text[match.end() :]


def _unescaped(text: str) -> str:
    """LaTeX that went through JSON twice, so that every backslash is doubled, as it was meant."""
    if "\\\\" in text and _ESCAPED_TWICE.search(text) and not _ESCAPED_ONCE.search(text):
        return _ESCAPED_TWICE.sub(r"\\", text)
    return text
