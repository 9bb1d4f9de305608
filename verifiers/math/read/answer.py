"""The text of one answer -> its tree. The only way in."""

from __future__ import annotations

import re

from verifiers.math.read import phrases
from verifiers.math.read.errors import ReadError, TooLarge, UnsupportedKind
from verifiers.math.read.statements import Statements
from verifiers.math.read.tokens import MAX_CHARACTERS, tokenize
from verifiers.math.traverse import children
from verifiers.math.tree import (
    Choice,
    Labelled,
    Listing,
    NamedSet,
    Node,
    Number,
    Relation,
    Set,
    SetOperation,
)

_REACTANT = re.compile(r"[A-Z][a-z]?(?:_\{?\d+\}?|\d*)\s?\+")
_ARROWS = ("->", "\\rightarrow", "\\to ", "\\longrightarrow")
_PART = re.compile(
    r"(?:^|(?<=[\s,;.}]))(?:\\text\{)?(?:[Pp]art\s*)?\(?([a-h]|i{1,3}|iv|v|[1-9])\)[\s~]*\}?[:.]?\s*(?=\S)"
)
_SPACES_AT_END = ("\\,", "\\;", "\\!", "\\:", "\\ ", "\\\\", "~")
_JOINERS_AT_END = (*_SPACES_AT_END, ",", ";", "and", "\\text{and}", "\\text{ and }", "\\quad")
_WORDLIKE = re.compile(r"[^\W\d_]{2,}")
_REALS_EXCEPT = re.compile(
    r"all (?:real numbers|reals|real values of [a-z]|real [a-z])(?: [a-z])?,? "
    r"(?:except|other than|excluding|but|besides)"
    r"(?: for| when)?:? (.+)",
    re.IGNORECASE,
)
_SPACED_GROUPS = re.compile(r"-?\d{1,3}(?: \d{3})+(?:\.\d+)?")
_BASED = re.compile(r"(?<![A-Za-z0-9])\(([0-9A-F]+)\)_")
"""`(101)_2`."""
_EVERY = re.compile(
    r"\A(?:\\text\s*\{\s*)?(?:for\s+)?(?:all|any|every)\s+(?:(?:positive\s+|real\s+|natural\s+)?"
    r"(?:integers?|numbers?|values\s+of)\s*)?\}?\s*(?=[a-z]\s*(?:[<>≥≤]|\\[gl](?:e|t|eq|eqslant)(?![a-z])))"
)
"""`all integers n >= 3` says `n >= 3`."""
MAX_TREE_DEPTH = 120
_LABEL_STARTS = frozenset("(aiPp1\\")
_LETTER_STARTS = frozenset("(ABCDEFGHIJ\\")
_LABEL_ORDER = ("abcdefgh", ["i", "ii", "iii", "iv", "v"], "123456789")


def read_answer(text: str, *, grouped: bool = True) -> Node:
    """The tree of `text`, one answer without the prose around it.

    `grouped`: `1,000` outside brackets is one number (else a list of two).
    Raises `ReadError`, or its kinds `UnsupportedKind` and `TooLarge`.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooLarge(f"longer than {MAX_CHARACTERS} characters")
    text = _trimmed(text)
    if not text:
        raise ReadError("nothing there")
    bare = phrases.plain(text) if len(text) < 400 else text
    if (special := phrases.special(bare)) is not None:
        return special
    if (excepted := _REALS_EXCEPT.fullmatch(bare)) is not None:
        return SetOperation("difference", (NamedSet("R"), Set(_excepted(read_answer(excepted[1])))))
    if text[0] in _LABEL_STARTS and (labelled := _labelled(text, grouped=grouped)) is not None:
        return labelled
    unwrapped = _unwrapped(text)
    if unwrapped[:1] in _LETTER_STARTS and (lettered := phrases.choice_and_content(unwrapped)) is not None:
        return _lettered(*lettered)
    if _is_reaction(text):
        raise UnsupportedKind("a chemical equation")
    text = _BASED.sub(r"\1_", text)
    if (every := _EVERY.match(text)) is not None and every[0].count("{") == every[0].count("}"):
        text = text[every.end() :]
    if _SPACED_GROUPS.fullmatch(text):
        text = text.replace(" ", "")
    try:
        return _shallow(Statements(tokenize(text), grouped=grouped).answer())
    except TooLarge:
        raise
    except ReadError as fault:
        return _in_words(bare, fault)


def _shallow(node: Node) -> Node:
    """`node`, unless it is deeper than what the recursive steps behind take: `x!!!!...` nests without
    brackets."""
    level: list[Node] = [node]
    for _ in range(MAX_TREE_DEPTH):
        level = [child for parent in level for child in children(parent)]
        if not level:
            return node
    raise TooLarge(f"a tree deeper than {MAX_TREE_DEPTH}")


def _trimmed(text: str) -> str:
    """`text` without spaces at both ends and without the sign that ends a sentence."""
    text = _stripped(text, _SPACES_AT_END)
    if text[-1:] in {".", ",", ";", ":"} and text[-2:-1] not in {".", "\\"}:
        text = _stripped(text[:-1], _SPACES_AT_END)
    return text


def _unwrapped(text: str) -> str:
    """`text` without dollar signs, a display command and braces around the whole."""
    while True:
        text = text.removeprefix("\\displaystyle").strip()
        if len(text) < 2 or (text[0], text[-1]) not in {("$", "$"), ("{", "}")}:
            return text
        text = text[1:-1]


def _stripped(text: str, endings: tuple[str, ...]) -> str:
    """`text` without these endings and the white space around them."""
    text = text.strip()
    while ending := next((ending for ending in endings if text.endswith(ending)), ""):
        text = text[: -len(ending)].rstrip()
    return text


def _is_reaction(text: str) -> bool:
    """A chemical equation: an arrow with reactants before it."""
    if "\\ce{" in text or "\\rightleftharpoons" in text:
        return True
    arrow = max(text.rfind(arrow) for arrow in _ARROWS)
    return arrow > 0 and _REACTANT.search(text, 0, arrow) is not None


def _in_words(bare: str, fault: ReadError) -> Node:
    value = phrases.number_word(bare)
    if value is not None:
        return Number(value)
    if (counted := phrases.counted(bare)) is not None:
        return counted
    if isinstance(fault, UnsupportedKind) or not _WORDLIKE.search(bare):
        raise fault
    try:
        return phrases.words(bare)
    except UnsupportedKind:
        raise
    except ReadError:
        raise fault from None


def _excepted(node: Node) -> tuple[Node, ...]:
    """The numbers of `2`, `x = 2` or `-1 and 1`."""
    items = node.items if isinstance(node, Listing) else (node,)
    return tuple(
        item.sides[1] if isinstance(item, Relation) and item.operators == ("=",) else item for item in items
    )


def _lettered(letter: str, content: str) -> Node:
    try:
        return Choice(letter, read_answer(content))
    except ReadError:
        return Choice(letter)


def _labelled(text: str, *, grouped: bool) -> Node | None:
    """`(a) 3 (b) 5` as parts by name; None when there are not at least two labels in order."""
    marks = list(_PART.finditer(text))
    if len(marks) < 2 or marks[0].start() != 0:
        return None
    names = [mark[1] for mark in marks]
    if not any(list(order[: len(names)]) == names for order in _LABEL_ORDER):
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    try:
        parts = [
            (name, read_answer(_stripped(text[mark.end() : end], _JOINERS_AT_END), grouped=grouped))
            for name, mark, end in zip(names, marks, ends, strict=True)
        ]
    except TooLarge:
        raise
    except ReadError:
        return None
    return Labelled(tuple(parts))
