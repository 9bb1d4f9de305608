"""What the setup of a function or assert test announces: heads that are the program's to fill."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_FILE_NAME = "setup.py"
_OPEN = re.compile(r"expected an indented block after .* on line (\d+)")
_MOST_HEADS = 100

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""Statements that define one."""


def with_bodies(setup: str) -> str:
    """A setup with heads that nothing follows, as prompts and starter code have them, with bodies that do
    nothing; any other as it is."""
    lines = [*setup.splitlines(), "pass"]
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


def announced(setup: str) -> frozenset[str]:
    """Names of functions and classes at module level that the setup only announces, and in `Solution` of
    methods, as `Solution.name`. A class whose last method is an open head is announced as a whole."""
    closed = with_bodies(setup)
    try:
        tree = ast.parse(closed)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    names = set(_announced(tree.body))
    definitions = [part for part in tree.body if isinstance(part, Function | ast.ClassDef)]
    if closed != setup and definitions and _ends_open(definitions[-1]):
        names.add(definitions[-1].name)
    return frozenset(names)


def _announced(body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, Function | ast.ClassDef) and _announces(statement):
            yield statement.name
        if isinstance(statement, ast.ClassDef):
            methods = [part for part in statement.body if isinstance(part, Function)]
            yield from (f"{statement.name}.{part.name}" for part in methods if _announces(part))


def _announces(statement: ast.stmt) -> bool:
    """A function that does nothing, or a class of such methods and nothing else."""
    if isinstance(statement, ast.ClassDef):
        methods = [part for part in statement.body if isinstance(part, Function)]
        rest = [part for part in statement.body if not isinstance(part, Function)]
        return bool(methods) and all(map(_announces, methods)) and all(map(_does_nothing, rest))
    return isinstance(statement, Function) and all(map(_does_nothing, statement.body))


def _does_nothing(statement: ast.stmt) -> bool:
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
