"""Characters that cannot be told apart or seen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.pages.characters import MAX_SHOWN, curious, is_invisible, looks_like


@pytest.mark.parametrize(
    ("character", "like", "invisible"),
    [
        ("\u2212", "-", False),  # minus sign
        ("\u2013", "-", False),
        ("\u0430", "a", False),  # Cyrillic
        ("\u039f", "O", False),  # Greek
        ("\uff11", "1", False),  # full width
        ("\u00b2", "2", False),
        ("\U0001d7d8", "0", False),  # a double-struck digit
        ("\u00d7", "x", False),
        ("\u2044", "/", False),
        ("\u00e9", "", False),
        ("\u4f60", "", False),
        ("-", "", False),
        ("\u200b", "", True),  # zero width space
        ("\u00a0", "", True),
        ("\u202e", "", True),  # right-to-left override
        ("\ufeff", "", True),
        ("\u0301", "", True),  # a combining accent
        ("\0", "", True),
        ("\x1b", "", True),
        ("\n", "", False),
        (" ", "", False),
    ],
)
def test_table(character: str, like: str, invisible: bool) -> None:
    """What each is taken for, and whether anything is drawn."""
    assert looks_like(character) == like
    assert is_invisible(character) == invisible


@given(st.lists(st.text(max_size=60), max_size=3))
def test_all_that_is_not_plain_ascii_is_named(texts: list[str]) -> None:
    """Once each, with its uses counted; plain ASCII never; what cannot be seen is not shown as itself."""
    joined = "".join(texts)
    found = curious(texts)
    wanted = {c for c in joined if not c.isascii() or (not c.isprintable() and c not in "\n\r\t")}
    assert len(found) == min(len(wanted), MAX_SHOWN)
    for one in found:
        character = chr(int(one.code_point.removeprefix("U+"), 16))
        assert one.times == joined.count(character)
        assert one.shown == ("" if one.invisible else character)
        assert one.name
