"""The languages beside Python that are looked for at start."""

import glob

from sandbox.languages.bash import BASH
from sandbox.languages.cpp import CPP
from sandbox.languages.go import GO
from sandbox.languages.java import JAVA
from sandbox.languages.javascript import JAVASCRIPT
from sandbox.languages.language import Language
from sandbox.languages.rust import RUST

ALL: dict[str, Language] = {one.name: one for one in (CPP, JAVASCRIPT, BASH, JAVA, GO, RUST)}
"""By name."""


def readable() -> list[str]:
    """What their commands read, as far as it is there."""
    return sorted(
        path
        for language in ALL.values()
        for pattern in language.readable
        for path in glob.glob(pattern)  # noqa: PTH207 - absolute
    )


def can_call(name: str) -> bool:
    """Whether functions of programs in this language can be called; its tests may be `function_call` then."""
    return name == "python" or bool(ALL[name].caller)
