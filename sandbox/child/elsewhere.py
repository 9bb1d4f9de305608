"""What test code asks of the process around it that the program, in a process of its own, would not see."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable

_CALLS = frozenset(
    {
        "inspect.signature",
        "inspect.getsource",
        "inspect.iscoroutinefunction",
        "asyncio.iscoroutinefunction",
        "dataclasses.asdict",
        "dataclasses.astuple",
        "dataclasses.is_dataclass",
        "weakref.ref",
        "os.chdir",
        "os.putenv",
        "os.environ.update",
    }
)
_PLACES = frozenset({"sys.argv", "os.environ", "decimal.getcontext.prec"})
"""What is no use to set."""
_SERVED = frozenset({"builtins.input", "builtins.print", "sys.stdin", "sys.stdout", "sys.stderr"})
"""What may be patched: the program's input and output come out in the test process."""


def asked(trees: Iterable[ast.Module]) -> str | None:
    """The first such thing in test code; None if there is none."""
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = _imported(nodes)
    for node in nodes:
        found = _asked_by(node, names)
        if found is not None:
            return found
    return None


def _asked_by(node: ast.AST, names: dict[str, str]) -> str | None:
    if isinstance(node, ast.Attribute) and node.attr == "__context__":
        return "__context__"
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
