"""What can be read off test code before it runs: its names, and whether it can assert anything at all."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from io import StringIO
from types import CodeType
from typing import NamedTuple

from sandbox.child import elsewhere, outside, setup_text
from sandbox.child.program import UnusableError, compile_source

_WORD = re.compile(r"\w+")
_ASSERTING = re.compile(r"(?:assert|fail|raises|expect|check|verify|exit)", re.IGNORECASE)
"""Calls that can make a test fail, by the last part of their name."""


class InvalidTestsError(Exception):
    """The test code is unusable, whatever the program does; `state` is for the verdict."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state
        self.message = message


class Examined(NamedTuple):
    """Compiled test code.

    words: everything in it that could be a name. needed: names that only a program can define. classes: those
    of them that it takes for classes. dotted: names before a dot. declared: what the setup only announces.
    vacant: of that, what is nobody's where no program defines it. overridden: built-in names by which the
    program is called. decorated: classes that go through decorators of the program. calls_check: `check` is
    to be called with the entry point.
    """

    setup: CodeType
    codes: tuple[CodeType, ...]
    words: frozenset[str]
    needed: frozenset[str]
    classes: frozenset[str]
    dotted: frozenset[str]
    declared: frozenset[str]
    vacant: frozenset[str]
    overridden: frozenset[str]
    decorated: frozenset[str]
    calls_check: bool


def read(setup: str, texts: Sequence[str], entry_point: str | None, *, apart: bool = True) -> Examined:
    """Compile and examine test code; raises InvalidTestsError. apart: the program has another process."""
    announced = setup_text.announced(setup)
    setup = announced.text
    setup_tree, *trees = [_parse(text) for text in (setup, *texts)]
    body = [statement for tree in trees for statement in tree.body]
    calls_check = _only_defines_check(body)
    if calls_check and entry_point is None:
        raise InvalidTestsError("asserts_nothing", "`check` is never called, and there is no entry_point")
    reachable = _reachable([*setup_tree.body, *body], {"check"} if calls_check else set())
    if not any(map(_can_fail, reachable)):
        raise InvalidTestsError("asserts_nothing", "no assertion in the test code can be reached")
    setup_code, codes = _compile(setup, "setup.py"), tuple(_compile(text, "tests.py") for text in texts)
    words = frozenset(word for text in (setup, *texts) for word in _WORD.findall(text))
    vacant = announced.of(entry_point)
    declared = frozenset(name for name in announced.names if "." not in name) | vacant
    functions = {part.name for part in setup_tree.body if isinstance(part, setup_text.Function)} & declared
    all_trees = [setup_tree, *trees]
    told = outside.names(all_trees)
    needed = words if told is None else told
    used = _names_used(node for tree in trees for node in ast.walk(tree))
    needed |= {
        name for name in (entry_point, *declared) if name is not None and (calls_check or name in used)
    }
    overridden = _overridden(entry_point, trees, [setup_code, *codes], needed)
    needed |= overridden
    asked = (
        elsewhere.asked([setup_tree, *trees], needed) if apart else elsewhere.missing([setup_tree, *trees])
    )
    if asked is not None:
        raise InvalidTestsError("unsupported", f"the test code {asked}")
    return Examined(
        setup=setup_code,
        codes=codes,
        words=words,
        needed=needed,
        classes=frozenset(name for name in _taken_for_classes(all_trees) if name in needed) - functions,
        dotted=frozenset(_dotted(all_trees)),
        declared=declared,
        vacant=vacant,
        overridden=overridden,
        decorated=frozenset(_decorated(all_trees, needed)),
        calls_check=calls_check,
    )


def _overridden(
    entry_point: str | None, trees: Sequence[ast.Module], codes: Sequence[CodeType], needed: frozenset[str]
) -> frozenset[str]:
    """Built-in names that are the program's: an entry point, or what tests call that name nothing else.

    Such a test asserts something only if it fails without a program.
    """
    names = {entry_point} if entry_point is not None else set() if needed else _called_by_all(trees)
    found = frozenset(name for name in names if hasattr(builtins, name))
    return found if entry_point is not None or (found and _fail_alone(codes)) else frozenset()


def _called_by_all(trees: Sequence[ast.Module]) -> set[str]:
    """The one function that every assertion calls without a call inside."""
    conditions = [node.test for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Assert)]
    called = [
        {
            node.func.id
            for node in ast.walk(condition)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and not any(isinstance(part, ast.Call) for arg in node.args for part in ast.walk(arg))
        }
        for condition in conditions
    ]
    common = set.intersection(*called) if called else set()
    return common if len(common) == 1 else set()


def _fail_alone(codes: Sequence[CodeType]) -> bool:
    namespace: dict[str, object] = {"__name__": "__main__"}
    try:
        with redirect_stdout(StringIO()):
            for code in codes:
                exec(code, namespace)  # noqa: S102
    except BaseException:
        return True
    return False


def _parse(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InvalidTestsError("invalid_tests", f"the test code does not compile: {error}") from None


def _compile(text: str, name: str) -> CodeType:
    try:
        return compile_source(text, name)
    except UnusableError as error:
        raise InvalidTestsError("invalid_tests", f"the test code does not compile: {error.message}") from None


def _only_defines_check(body: Sequence[ast.stmt]) -> bool:
    """HumanEval's shape: a function `check`, and nothing at module level that uses it."""
    defines = any(
        isinstance(statement, setup_text.Function) and statement.name == "check" for statement in body
    )
    return defines and "check" not in _names_used(_at_once(body))


def _reachable(body: Sequence[ast.stmt], called: set[str]) -> list[ast.AST]:
    """Nodes that can run: those at module level, and the bodies of what those name, and so on."""
    definitions: dict[str, list[ast.AST]] = {}
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, setup_text.Function | ast.ClassDef):
                definitions.setdefault(node.name, []).append(node)
    nodes = list(_at_once(body))
    known: set[str] = set()
    pending = called | _names_used(nodes)
    while pending:
        name = pending.pop()
        known.add(name)
        for definition in definitions.get(name, ()):
            inner = list(ast.walk(definition))
            nodes.extend(inner)
            pending |= _names_used(inner) - known
    everything = not _LISTING.isdisjoint(known)
    if everything or _runs_all_classes(nodes):
        for definition in (node for found in definitions.values() for node in found):
            if everything or isinstance(definition, ast.ClassDef):
                nodes.extend(ast.walk(definition))
    return nodes


_LISTING = frozenset({"globals", "locals", "vars", "dir", "eval", "exec", "getmembers"})
"""What finds definitions that nobody names, as in a loop that calls all `test_*`."""


def _at_once(body: Iterable[ast.stmt]) -> Iterable[ast.AST]:
    """Nodes that run with the module itself: not the bodies of functions, nor of classes."""
    pending: list[ast.AST] = list(body)
    while pending:
        node = pending.pop()
        if isinstance(node, setup_text.Function | ast.ClassDef):
            pending.extend(node.decorator_list)
            continue
        yield node
        pending.extend(ast.iter_child_nodes(node))


def _names_used(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            names.add(node.value)
    return names


def _dotted(trees: Iterable[ast.Module]) -> Iterable[str]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                yield node.value.id


def _taken_for_classes(trees: Iterable[ast.Module]) -> Iterable[str]:
    """Names that are written as those of classes are, that have attributes, or that objects are checked for.

    Only of their objects may the own operators give what a plain value would: a program may write a class
    where a function is asked for.
    """
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.Name) and node.id[:1].isupper() and "_" not in node.id:
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr not in _OF_FUNCTIONS:
                yield node.value.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CHECKS:
            checked_for = [part for arg in node.args[1:] for part in ast.walk(arg)]
            yield from (part.id for part in checked_for if isinstance(part, ast.Name))


_CHECKS = ("isinstance", "issubclass")
_OF_FUNCTIONS = frozenset(dir(_parse)) | {"cache_clear", "cache_info", "__wrapped__"}


def _decorated(trees: Iterable[ast.Module], of_program: frozenset[str]) -> Iterable[str]:
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            parts = [part for decorator in node.decorator_list for part in ast.walk(decorator)]
            if not of_program.isdisjoint(_names_used(parts)):
                yield node.name


def _runs_all_classes(nodes: Iterable[ast.AST]) -> bool:
    """`unittest.main()` and loaders run classes that nobody names."""
    used = _names_used(nodes)
    return "unittest" in used and bool(used & {"main", "TestLoader", "defaultTestLoader", "makeSuite"})


def _can_fail(node: ast.AST) -> bool:
    if isinstance(node, ast.Assert):
        return _is_open(node.test)
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return bool(_ASSERTING.match(name))


def _is_open(condition: ast.expr) -> bool:
    """Whether a condition depends on anything, or always fails: `assert True` asserts nothing."""
    if isinstance(condition, ast.Constant):
        return not condition.value
    return any(isinstance(part, ast.Name) for part in ast.walk(condition))
