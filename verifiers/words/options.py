"""What a caller may choose for `words`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verifiers.base import BaseOptions
from verifiers.math.options import SOURCES, Source


class WordsOptions(BaseOptions):
    """Options of the `words` verifier."""

    case: Literal["ignore", "exact"] = "ignore"
    """Whether capitals count."""
    articles: Literal["ignore", "exact"] = "ignore"
    """`ignore`: a leading a, an or the says nothing."""
    sources: tuple[Source, ...] = Field(default=SOURCES, min_length=1)
    """Where an answer is looked for."""
    reasoning: Literal["keep", "strip", "require"] = "keep"
    """As in `math`."""
