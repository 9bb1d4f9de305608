"""What a caller may choose for `math`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from verifiers.base import BaseOptions

Source = Literal["boxed", "tags", "phrase", "hash", "bold", "formula", "text"]
SOURCES: tuple[Source, ...] = ("boxed", "tags", "phrase", "hash", "bold", "formula", "text")
"""Places an answer may stand, in the order they are tried."""

Kind = Literal["auto", "text", "choice", "interval", "tuple", "set", "number"]


class MathOptions(BaseOptions):
    """Options of the `math` verifier; every default is the strict reading."""

    sources: tuple[Source, ...] = Field(default=SOURCES, min_length=1)
    """Where an answer is looked for. `("boxed",)` refuses everything outside a box."""
    reasoning: Literal["keep", "strip", "require"] = "keep"
    """`strip`: only what follows the last `</think>` (an unclosed `<think>` answers nothing); `require`: no
    `</think>`, no answer; `keep`: boxes count wherever they stand, other sources only after `</think>`."""
    kind: Kind = "auto"
    """The kind to read both sides as, where the text leaves a choice."""
    decimals: Literal["exact", "rounded"] = "exact"
    """`rounded`: a decimal ground truth accepts every value that rounds to it at its digits."""
    percent: Literal["sign_optional", "value"] = "sign_optional"
    """`sign_optional`: 28% = 28, not 0.28; `value`: 28% = 0.28, not 28."""
    units: Literal["optional", "required", "ignore"] = "optional"
    """`optional`: one side may leave its unit out; `required`: the response may not; `ignore`:
    units do not count."""
    order: Literal["by_kind", "any", "strict"] = "by_kind"
    """`by_kind`: order counts in tuples only; `any`: nowhere; `strict`: in bare lists too."""
    log_base: Literal["10", "e", "2"] = "10"
    """Base of a `log` written without one; `ln` is always natural."""
    assume: dict[str, Literal["real", "positive", "integer", "positive_integer", "complex"]] = Field(
        default_factory=dict, max_length=32
    )
    """What a letter stands for, as `{"n": "positive_integer"}`. Unnamed letters are real."""
