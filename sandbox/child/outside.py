"""Names that test code uses and does not define: what is left is for a program to define."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Sequence

_DYNAMIC = frozenset(
    {"eval", "exec", "globals", "locals", "vars", "modules", "__main__", "__import__", "import_module"}
)
"""What reaches names without writing them as such."""
_EVERYWHERE = frozenset(dir(builtins)) | {"__file__", "__builtins__", "__class__", "__annotations__"}

_Position = tuple[int, int, int]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def names(trees: Sequence[ast.Module]) -> frozenset[str] | None:
    """Names used before the test code binds them, or never bound; None if names are made at run time."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    words = {node.id for node in nodes if isinstance(node, ast.Name)}
    words |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words |= {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    if words & _DYNAMIC:
        return None
    bound: dict[str, _Position] = {}
    for number, tree in enumerate(trees):
        for name, line, column in _bound(tree):
            bound[name] = min((number, line, column), bound.get(name, (number, line, column)))
    for node in nodes:
        if isinstance(node, ast.Global):
            bound.update((name, (0, 0, 0)) for name in node.names if name not in bound)
    outside = set()
    for number, tree in enumerate(trees):
        for used, later in _free(tree):
            here = (number, used.lineno, used.col_offset)
            if used.id not in bound or (not later and here < bound[used.id]):
                outside.add(used.id)
    return frozenset(outside - _EVERYWHERE)


def _free(scope: ast.AST) -> Iterator[tuple[ast.Name, bool]]:
    """Names that a scope takes from around it, and whether that happens only when a function is called.

    Those of a module are all that it uses, for what it binds is a question of order.
    """
    own = set() if isinstance(scope, ast.Module) else {name for name, _, _ in _bound(scope)}
    called = isinstance(scope, _FUNCTIONS)
    of_class = {name: place for name, *place in _bound(scope)} if isinstance(scope, ast.ClassDef) else {}
    for node in _within(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            is_before = [node.lineno, node.col_offset] < of_class.get(node.id, [])
            if node.id not in own or is_before:
                yield node, called
        elif isinstance(node, _SCOPES):
            seen = (
                own if not (of_class and isinstance(node, _FUNCTIONS)) else ()
            )  # methods see past their class
            yield from ((name, later or called) for name, later in _free(node) if name.id not in seen)
    if isinstance(scope, _FUNCTIONS):
        for part in _outer_parts(scope):
            yield from _free_in(part)


def _free_in(part: ast.AST) -> Iterator[tuple[ast.Name, bool]]:
    """Those of an expression beside a scope: a decorator, a default."""
    yield from _free(ast.Module([ast.Expr(part)], []))  # type: ignore[arg-type]


def _outer_parts(function: ast.AST) -> list[ast.AST]:
    arguments: ast.arguments = function.args  # type: ignore[attr-defined]
    defaults = [default for default in arguments.kw_defaults if default is not None]
    return [*getattr(function, "decorator_list", ()), *arguments.defaults, *defaults]


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of one scope; of scopes inside it only the node itself."""
    if isinstance(scope, _FUNCTIONS):
        body = scope.body
        pending: list[ast.AST] = [scope.args, *(body if isinstance(body, list) else [body])]
    else:
        pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.arguments):
            pending.extend([*node.posonlyargs, *node.args, *node.kwonlyargs])
            pending.extend(extra for extra in (node.vararg, node.kwarg) if extra is not None)
        elif not isinstance(node, _SCOPES):
            pending.extend(ast.iter_child_nodes(node))


def _bound(scope: ast.AST) -> Iterator[tuple[str, int, int]]:
    """Names that a scope binds, and the line and column from which on they are."""
    nodes = list(_within(scope))
    ends: dict[int, tuple[int, int]] = {}
    for node in nodes:
        if isinstance(node, _ASSIGNMENTS):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            end = (node.end_lineno or 0, node.end_col_offset or 0)
            ends.update((id(part), end) for target in targets for part in ast.walk(target))
    elsewhere = {name for node in nodes if isinstance(node, ast.Global | ast.Nonlocal) for name in node.names}
    for node in nodes:
        here = ends.get(id(node), (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
        yield from ((name, *here) for name in _bound_by(node) if name not in elsewhere)


def _bound_by(node: ast.AST) -> list[str]:
    """Names that one node binds in its scope."""
    name: str | None = None
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            pass
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            pass
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            pass
        case ast.MatchMapping(rest=name) | ast.arg(arg=name):
            pass
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [(alias.asname or alias.name).partition(".")[0] for alias in aliases]
    return [] if name is None else [name]
