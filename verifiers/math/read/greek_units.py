"""Units written with Greek letters as words of the table: `10\\,\\Omega`, `5\\,\\mu\\text{F}`."""

from __future__ import annotations

import re

_GAP = r"(?:\\[,;:!\ ]|[\s~])"
_FONT = r"\\(?:text|mathrm|textrm|rm)\s*\{"
_END = r"(?=\s*(?:\Z|[}.,;/^$)]|\\(?:cdot|times|,|text|mathrm)))"
_OHM = re.compile(
    rf"(?<=[\d}}])(?P<gap>{_GAP}*)(?P<font>{_FONT}\s*)?(?P<prefix>[kMm]?)\s*(?P<inner>\}})?\s*\\Omega\s*"
    rf"(?P<close>\}})?{_END}"
)
_MICRO = re.compile(
    rf"(?<=[\d}}])(?P<gap>{_GAP}*)(?P<outer>{_FONT}\s*)?\\mu\s*(?P<font>{_FONT}\s*)?"
    rf"(?P<unit>mol|[FCAVTHLmsg])(?![A-Za-z])\s*(?P<close>\}})?{_END}"
)


def spelled_out(text: str) -> str:
    """`text` with ohms and micro-units behind a number as `\\text{ohm}` and `\\text{uF}`."""
    text = text.replace("$\\mu$", "\\mu").replace("$\\Omega$", "\\Omega")
    if "\\Omega" in text:
        text = _OHM.sub(_ohm, text)
    if "\\mu" in text:
        text = _MICRO.sub(_micro, text)
    return text


def _ohm(match: re.Match[str]) -> str:
    opened, closed = bool(match["font"]), bool(match["inner"])
    outside = not opened and bool(match["close"])
    if (closed and not opened) or (opened and not closed and not match["close"]):
        return match[0]
    if match["prefix"] and not (match["gap"] or opened):  # 2k\Omega, a product
        return match[0]
    tail = match["close"] if outside or (closed and match["close"]) else ""
    return f" \\text{{{match['prefix']}ohm}}{tail}"


def _micro(match: re.Match[str]) -> str:
    outer, font = bool(match["outer"]), bool(match["font"])
    if (outer and font) or (font and not match["close"]):
        return match[0]
    if not (outer or font or match["gap"]):  # 5\mu m, a product
        return match[0]
    if outer and not match["close"]:
        return match[0]
    tail = "" if outer or font else match["close"] or ""
    return f" \\text{{u{match['unit']}}}{tail}"
