"""What the setup of a function or assert test announces: heads that are the program's to fill."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_FILE_NAME = "setup.py"
_OPEN = re.compile(r"expected an indented block after .* on line (\d+)")
_NEW_LINE = re.compile(r"\r\n|\r|\n")
"""As the compiler counts."""
_MOST_HEADS = 100

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""Statements that define one."""


def _with_bodies(setup: str) -> str:
    """A setup with heads that nothing follows, as prompts and starter code have them, with bodies that do
    nothing; any other as it is."""
    lines = [*_NEW_LINE.split(setup), "pass"]
    for count in range(_MOST_HEADS):
        try:
            compile("\n".join(lines) + "\n", _FILE_NAME, "exec", dont_inherit=True)
        except IndentationError as error:
            found = _OPEN.match(error.msg)
            if found is None or error.lineno is None:
                return setup
            head = lines[int(found[1]) - 1]
            indentation = head[: len(head) - len(head.lstrip())]
            lines.insert(error.lineno - 1, f"{indentation}    pass")
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return setup
        else:
            return "\n".join(lines) + "\n" if count else setup
    return setup


class Announced(NamedTuple):
    """What a setup only announces: names at module level, and `Class.method` of its classes.

    text: the setup, its open heads with bodies. open: the class or function at its end whose body is missing;
    empty if there is none.
    """

    text: str
    names: frozenset[str] = frozenset()
    open: str = ""

    def of(self, entry_point: str | None) -> frozenset[str]:
        """Names that are the program's or nobody's: its entry point, `Solution`, what is open at the end."""
        solution = {"Solution"} if any(name.startswith("Solution.") for name in self.names) else set()
        return frozenset((self.names & {str(entry_point)}) | solution | ({self.open} - {""}))


def announced(setup: str) -> Announced:
    """Examine a setup; it announces nothing if it does not compile."""
    if not setup:
        return Announced(setup)
    closed = _with_bodies(setup)
    try:
        tree = ast.parse(closed)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Announced(closed)
    definitions = [part for part in tree.body if isinstance(part, Function | ast.ClassDef)]
    is_open = closed != setup and bool(definitions) and _ends_open(definitions[-1])
    return Announced(closed, frozenset(_announced(tree.body)), definitions[-1].name if is_open else "")


def _announced(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, Function) and all(map(_does_nothing, statement.body)):
            yield statement.name
        elif isinstance(statement, ast.ClassDef):
            yield from (f"{statement.name}.{name}" for name in _announced(statement.body))


def _does_nothing(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Return):
        return statement.value is None or ast.dump(statement.value) == ast.dump(ast.Constant(None))
    if isinstance(statement, ast.Raise):
        return "NotImplementedError" in ast.dump(statement)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _ends_open(definition: ast.stmt) -> bool:
    """Whether the body that was put in last is the end of this."""
    last = definition
    while isinstance(last, Function | ast.ClassDef):
        last = last.body[-1]
    return isinstance(last, ast.Pass)
