"""Small plots as SVG, written by hand: no plotting library is needed to read or repeat a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

FONT = 'font-family="sans-serif" font-size="12"'
INK, FILL, MARK = "#222", "#4c78a8", "#d62728"


def bars(
    path: Path,
    *,
    title: str,
    rows: Sequence[tuple[str, float, str]],
    low: float,
    high: float,
    mark: float | None = None,
) -> None:
    """Horizontal bars from `low` to `high`: name, value, a note beside it. mark: where a line goes down."""
    left, width, step, top = 330, 420, 24, 44
    height = top + step * len(rows) + 36

    def x(value: float) -> float:
        return left + width * (min(max(value, low), high) - low) / (high - low)

    parts = [text(12, 22, title, weight="bold")]
    for n, (name, value, note) in enumerate(rows):
        y = top + step * n
        parts += [
            text(left - 8, y + 15, name, anchor="end"),
            f'<rect x="{left}" y="{y + 3}" width="{x(value) - left:.1f}" height="{step - 8}" fill="{FILL}"/>',
            text(left + width + 10, y + 15, f"{value:.3f}   {note}"),
        ]
    bottom = top + step * len(rows)
    for n in range(6):
        value = low + (high - low) * n / 5
        parts.append(text(x(value), bottom + 18, f"{value:.2f}", anchor="middle"))
    if mark is not None:
        parts.append(line([(x(mark), top), (x(mark), bottom + 4)], MARK))
    write(path, left + width + 150, height, parts)


def text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    """One line of text."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}"'
    return f'<text {place} {FONT} fill="{INK}">{escape(words)}</text>'


def line(points: Sequence[tuple[float, float]], colour: str, width: float = 1.5) -> str:
    """A line through points."""
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def write(path: Path, width: float, height: float, parts: Sequence[str]) -> None:
    """The document, on white."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}">'
    background = '<rect width="100%" height="100%" fill="white"/>'
    path.write_text("\n".join([head, background, *parts, "</svg>"]) + "\n", encoding="utf-8")
