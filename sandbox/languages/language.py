"""What a language beside Python is to the sandbox: a compiler or a check, and a command."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One language. Words of its commands may name `{source}`, `{stem}`, `{memory_mb}`, `{headers}`.

    name: as callers ask for it. version: command that prints it; the language is offered where that runs
        inside the sandbox.
    source: tells the name of the file that a program is written to; `{stem}` is that without its ending.
    compile: command that turns the source into the file `artifact`, or, where that is empty, only checks it.
    run: command of a run, in a folder that holds the artifact or the source.
    environment: beside that of every program.
    readable: paths, with wildcards, that its commands read besides what every program may read.
    caller: file in `sandbox/languages` that calls functions of a program; empty: it cannot be asked for.
    """

    name: str
    version: Words
    source: Callable[[str], str]
    compile: Words
    run: Words
    artifact: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    readable: Words = ()
    caller: str = ""

    def command(self, words: Words, source: str, memory_bytes: int, headers: str = "") -> list[str]:
        """`words` with what they name filled in. headers: folder of those compiled ahead, if there is one."""
        stem, _, _ = source.rpartition(".")
        values = {"source": source, "stem": stem, "memory_mb": memory_bytes >> 20, "headers": headers or "."}
        return [word.format(**values) for word in words]


def always(name: str) -> Callable[[str], str]:
    """The same file name for every program."""
    return lambda _: name


def first_version(printed: str) -> str:
    """The version in what a command printed; empty if there is none."""
    found = re.search(r"\d+(?:\.\d+)+", printed)
    return found[0] if found else ""
