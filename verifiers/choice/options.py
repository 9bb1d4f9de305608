"""What a caller may choose for `choice`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verifiers.base import BaseOptions
from verifiers.math.options import SOURCES, Source


class ChoiceOptions(BaseOptions):
    """Options of the `choice` verifier."""

    choices: tuple[str, ...] = Field(default=(), max_length=26)
    """The texts of A, B, C, ... in order. Then the text of a choice counts as its letter,
    and a letter with the
    text of another choice contradicts itself."""
    sources: tuple[Source, ...] = Field(default=SOURCES, min_length=1)
    """Where an answer is looked for."""
    reasoning: Literal["keep", "strip", "require"] = "keep"
    """As in `math`."""
