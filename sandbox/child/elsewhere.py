"""What test code asks of the process around it that the program, in a process of its own, would not see."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import sys
from collections.abc import Iterable, Iterator

_CALLS = frozenset(
    {
        "inspect.getsource",
        "inspect.getsourcelines",
        "weakref.ref",
        "os.chdir",
        "os.putenv",
    }
)
_PLACES = frozenset({"sys.argv", "decimal.getcontext.prec"})
"""What is no use to set."""
_SERVED = frozenset(
    {"builtins.input", "builtins.print", "sys.stdin", "sys.stdout", "sys.stderr", "os.environ"}
)
"""What may be patched: the program's input and output come out in the test process, variables follow."""


def asked(trees: Iterable[ast.Module], of_program: frozenset[str]) -> str | None:
    """The first such thing that test code does, in words; None if there is none.

    Told by the text alone: what only shows as it runs would be for a response to bring about.
    of_program: names that the program defines.
    """
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = _imported(nodes)
    bindings = _Bindings(nodes, of_program)
    for node in nodes:
        found = _asked_by(node, names)
        if found is not None:
            return f"asks for what stays in its process: {found}"
        if _extends(node, bindings):
            return "makes a subclass of a class of the program"
        if _starts_processes(node):
            return "starts processes, which cannot reach the program"
    return None


def missing(trees: Iterable[ast.Module]) -> str | None:
    """The first module that test code cannot do without and that is not there, in words."""
    for tree in trees:
        for node in _outside_of_try(tree):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                modules = [str(node.module)]
            for module in modules:
                if importlib.util.find_spec(module.partition(".")[0]) is None:
                    return f"needs what is not here: {module}"
    return None


def _outside_of_try(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Try):
            yield from _outside_of_try(child)


class _Bindings:
    """What the names of test code stand for, as far as its text tells."""

    def __init__(self, nodes: Iterable[ast.AST], of_program: frozenset[str]) -> None:
        self._own = set(dir(builtins))
        self._values: dict[str, list[ast.expr]] = {}
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                self._own.add(node.name)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                self._own.update((alias.asname or alias.name).partition(".")[0] for alias in node.names)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(node.value)
        self._own -= of_program
        self._of_program = of_program

    def is_own(self, node: ast.expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether an expression surely has nothing to do with the program."""
        if any(isinstance(part, ast.Name) and part.id in self._of_program for part in ast.walk(node)):
            return False
        if isinstance(node, ast.Name):
            values = [] if node.id in seen else self._values.get(node.id, [])
            own = bool(values) and all(self.is_own(value, seen | {node.id}) for value in values)
            return own or node.id in self._own
        if isinstance(node, ast.Attribute | ast.Subscript):
            return self.is_own(node.value, seen)
        if isinstance(node, ast.Call):
            parts = [node.func, *node.args, *(keyword.value for keyword in node.keywords)]
            return all(self.is_own(part, seen) for part in parts)
        return isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict)


def _extends(node: ast.AST, bindings: _Bindings) -> bool:
    """Whether a class is made whose bases may have to do with the program."""
    if isinstance(node, ast.ClassDef):
        bases = [*node.bases, *(keyword.value for keyword in node.keywords)]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "type":
        made_of = node.args[1] if len(node.args) > 2 else ast.Constant(None)
        bases = made_of.elts if isinstance(made_of, ast.Tuple | ast.List) else [made_of]
    else:
        return False
    return not all(map(bindings.is_own, bases))


def _starts_processes(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.partition(".")[0] == "multiprocessing" for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        package = str(node.module).partition(".")[0]
        return package == "multiprocessing" or any(a.name == "ProcessPoolExecutor" for a in node.names)
    return isinstance(node, ast.Attribute) and node.attr == "ProcessPoolExecutor"


def _asked_by(node: ast.AST, names: dict[str, str]) -> str | None:
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        place = _path(node.value if isinstance(node, ast.Subscript) else node, names)
        return place if place in _PLACES else None
    if not isinstance(node, ast.Call):
        return None
    called = _path(node.func, names)
    return called if called in _CALLS else _patched(called, node.args, names)


def _patched(called: str, args: list[ast.expr], names: dict[str, str]) -> str | None:
    """What `unittest.mock` is to put another thing in place of, if that is no use."""
    texts = [str(arg.value) if isinstance(arg, ast.Constant) else _path(arg, names) for arg in args]
    if called in ("unittest.mock.patch", "unittest.mock.patch.dict") and texts:
        return None if texts[0] in _SERVED else f"patch of {texts[0]}"
    if called == "unittest.mock.patch.object" and len(texts) > 1:
        target = ".".join(texts[:2])
        in_library = target.partition(".")[0] in sys.stdlib_module_names
        return f"patch of {target}" if in_library and target not in _SERVED else None
    return None


def _imported(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """What imported names stand for."""
    names: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update((alias.asname, alias.name) for alias in node.names if alias.asname)
        elif isinstance(node, ast.ImportFrom):
            names.update((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)
    return names


def _path(node: ast.expr, names: dict[str, str]) -> str:
    """An expression of names and dots as the library calls it; calls in between are left out."""
    if isinstance(node, ast.Attribute):
        return f"{_path(node.value, names)}.{node.attr}"
    if isinstance(node, ast.Call):
        return _path(node.func, names)
    return names.get(node.id, node.id) if isinstance(node, ast.Name) else ""
