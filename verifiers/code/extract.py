"""Which texts of a response could be its program: one linear scan for fences (RULES R2).

Whether a text is a program, and which of several defines the entry point, is decided in the sandbox.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sandbox.types import Program

ExtractMode = Literal["fenced", "raw"]

LANGUAGE_WORDS = {
    "python": "python",
    "py": "python",
    "python3": "python",
    "py3": "python",
    "cpp": "cpp",
    "c++": "cpp",
    "cc": "cpp",
    "javascript": "javascript",
    "js": "javascript",
    "node": "javascript",
    "bash": "bash",
    "sh": "bash",
    "golang": "go",
    "rs": "rust",
}
"""First words of an info string, and the language each stands for."""

_FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. language: canonical name, the info word if it is unknown, or "" if there is none."""

    language: str
    text: str


def canonical_language(word: str) -> str:
    """The language a word stands for; a word that stands for none is itself."""
    return LANGUAGE_WORDS.get(word.lower(), word.lower())


def extract_program(
    response: str, language: str, entry_point: str | None = None, mode: ExtractMode = "fenced"
) -> Program | None:
    """The program of a response as far as the text tells, or None if it holds no code for `language`.

    entry_point: a function that is going to be called, so that an earlier block may be preferred.
    """
    text = response.removeprefix(_BOM).replace("\r\n", "\n")
    answer = _after_thinking(text)
    if mode == "raw":
        texts: tuple[str, ...] = (text,) if answer is None or answer == text else (text, answer)
        return Program(language, texts, fenced=False)
    if answer is None:
        return None
    blocks = find_blocks(answer)
    if not blocks:
        return Program(language, (answer,), fenced=False) if answer.strip() else None
    chosen = [block.text for block in blocks if block.language == language]
    if not chosen:
        chosen = [block.text for block in blocks if not block.language]
    if not chosen:
        return None
    preferred = tuple(reversed(chosen)) if entry_point is not None else (chosen[-1],)
    return Program(language, preferred, entry_point=entry_point)


def _after_thinking(text: str) -> str | None:
    """What follows the last `</think>`; None where thinking never ends."""
    _, closing, answer = text.rpartition("</think>")
    if "<think>" in answer:
        return None
    return answer.removeprefix(_BOM) if closing else text


def find_blocks(text: str) -> list[Block]:
    """All fenced blocks in order; one that is never closed ends with the text."""
    blocks: list[Block] = []
    opening: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            if "`" not in fence[3] or fence[2][0] == "~":
                opening = fence
        elif _closes(fence, opening):
            blocks.append(_block(text, opening, fence.start()))
            opening = None
    if opening is not None:
        blocks.append(_block(text, opening, len(text)))
    return blocks


def _closes(fence: re.Match[str], opening: re.Match[str]) -> bool:
    return fence[2][0] == opening[2][0] and len(fence[2]) >= len(opening[2]) and not fence[3].strip()


def _block(text: str, opening: re.Match[str], end: int) -> Block:
    content = text[opening.end() + 1 : end].removeprefix(_BOM)
    indent = len(opening[1])
    if indent:
        content = "\n".join(_unindented(line, indent) for line in content.split("\n"))
    words = opening[3].split(maxsplit=1)
    return Block(canonical_language(words[0]) if words else "", content)


def _unindented(line: str, indent: int) -> str:
    """The line without its first `indent` blanks, as far as it has them."""
    blanks = len(line) - len(line.lstrip(" \t"))
    return line[min(indent, blanks) :]
