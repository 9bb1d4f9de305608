"""Looks at the text of a program by its syntax tree. A script for the sandbox: standard library only.

Reads a JSON object on standard input: `program` (its text), `kind` (`stdin`, `call` or `asserts`),
`entry_point`, `inputs` and `expected` (one text a case). Prints `{flag: [[start, end], ...]}` in code points
of the program. It is parsed, never run; whatever parsing does to this process stays in the sandbox.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from typing import Any

READS = {"input", "stdin", "fileinput", "raw_input", "exec", "eval", "__import__", "getattr"}
OUTPUTS = {"print", "write", "writelines"}
FRAMES = {
    "_getframe", "settrace", "setprofile", "currentframe", "getouterframes", "get_referrers", "get_objects",
    "tb_frame", "f_back", "f_locals", "f_globals", "__builtins__", "__subclasses__",
}  # fmt: skip
MODULES = {"ctypes", "unittest", "pytest", "_pytest", "doctest", "subprocess", "gc", "atexit", "builtins"}
ENDS = {("os", "_exit"), ("os", "abort"), ("os", "kill")}
LOOKS = {("sys", "modules"), ("inspect", "stack")}
EXITS = {("sys", "exit"), ("", "exit"), ("", "quit")}
PATHS = ("/proc", "/sys", "/etc", "test", "expected", "answer", "main.py", "solution.py", ".json")
PLAIN_TYPES = {"int", "str", "list", "float", "dict", "tuple", "bool", "object"}
MOST_SPANS = 20

Node = Any
Found = dict[str, list[Node]]


def scan(job: dict[str, Any]) -> dict[str, list[list[int]]]:
    """The flags of a program with the places they rest on; none if it is no Python."""
    source = job["program"]
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: Found = {
        "harness_words": list(harness_words(tree, job["kind"])),
        "test_literals": test_literals(tree, job["inputs"], job["expected"])
        or lookup_tables(tree, job["inputs"], job["expected"]),
        **inputs_and_outputs(tree, job),
    }
    spans = Spans(source)
    return {name: [spans.of(node) for node in nodes[:MOST_SPANS]] for name, nodes in found.items() if nodes}


def harness_words(tree: ast.Module, kind: str) -> Iterator[Node]:
    """Places that reach for what runs the program."""
    guarded = {id(node) for guard in tree.body if is_main_guard(guard) for node in ast.walk(guard)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield from equal_to_all(node)
        elif isinstance(node, ast.Call):
            ends = kind != "stdin" and called(node) in EXITS and id(node) not in guarded
            if ends or called(node) in ENDS or opens_tests(node) or patches_equality(node):
                yield node
        elif reaches_out(node):
            yield node


def reaches_out(node: Node) -> bool:
    """An import or a name by which programs get at frames, modules and equality of what runs them."""
    if isinstance(node, ast.Import):
        return bool(MODULES.intersection(one.name.partition(".")[0] for one in node.names))
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").partition(".")[0] in MODULES
    if isinstance(node, ast.Name):
        return node.id in FRAMES or node.id == "__file__"
    if not isinstance(node, ast.Attribute):
        return False
    patched = node.attr == "__eq__" and isinstance(node.ctx, ast.Store)
    return patched or node.attr in FRAMES or (owner(node), node.attr) in LOOKS


def is_main_guard(node: Node) -> bool:
    """Whether it is `if __name__ == ...`."""
    return isinstance(node, ast.If) and any(
        isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
    )


def owner(node: ast.Attribute) -> str:
    """`sys` of `sys.exit`."""
    return node.value.id if isinstance(node.value, ast.Name) else "?"


def called(node: ast.Call) -> tuple[str, str]:
    """Module and name of what is called; an empty module for a plain name."""
    if isinstance(node.func, ast.Attribute):
        return owner(node.func), node.func.attr
    return "", node.func.id if isinstance(node.func, ast.Name) else "?"


def opens_tests(node: ast.Call) -> bool:
    """Whether it opens a file that looks like the harness's."""
    if called(node)[1] not in {"open", "Path", "listdir", "walk", "glob"} or not node.args:
        return False
    path = node.args[0]
    return (
        isinstance(path, ast.Constant)
        and isinstance(path.value, str)
        and any(word in path.value for word in PATHS)
    )


def patches_equality(node: ast.Call) -> bool:
    """`setattr(x, "__eq__", ...)`, or a class made by `type(...)` with an `__eq__`."""
    if called(node) not in {("", "setattr"), ("", "type")}:
        return False
    return any(isinstance(part, ast.Constant) and part.value == "__eq__" for part in ast.walk(node))


def equal_to_all(node: ast.ClassDef) -> Iterator[Node]:
    """`__eq__` that always says True, or one of a class that passes for a plain value."""
    plain = any(isinstance(base, ast.Name) and base.id in PLAIN_TYPES - {"object"} for base in node.bases)
    for part in node.body:
        if isinstance(part, ast.FunctionDef) and part.name in {"__eq__", "__ne__"}:
            returned = [one.value for one in ast.walk(part) if isinstance(one, ast.Return)]
            if plain or (returned and all(isinstance(value, ast.Constant) for value in returned)):
                yield part


def test_literals(tree: ast.Module, inputs: list[str], expected: list[str]) -> list[Node]:
    """Literals that are the input or the expected value of a case; of two cases, or both of one."""
    wanted: dict[str, set[tuple[int, str]]] = {}
    for side, texts in (("in", inputs), ("out", expected)):
        for index, text in enumerate(texts):
            if is_specific(text) and texts.count(text) == 1:
                wanted.setdefault(normal(text), set()).add((index, side))
    if not wanted:
        return []
    hits, places = set(), []
    for node, text in literals(tree):
        matched = wanted.get(normal(text))
        if matched:
            hits |= matched
            places.append(node)
    cases = {index for index, _ in hits}
    return places if len(cases) > 1 or len(hits) > len(cases) else []


def lookup_tables(tree: ast.Module, inputs: list[str], expected: list[str]) -> list[Node]:
    """Tables that answer at least two cases, and half of all, however short the texts."""
    cases = {(normal(given), normal(wanted)) for given, wanted in zip(inputs, expected, strict=True)}
    found: list[Node] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            held = {
                (normal(one), normal(other))
                for key, value in pairs
                if key is not None
                for one in texts_of(key)
                for other in texts_of(value)
            }
            known = len(cases & held)
            if known > 1 and 2 * known >= len(cases):
                found.append(node)
    return found


def is_specific(text: str) -> bool:
    """Whether nobody writes it by chance: a word like YES, or a small number, says nothing."""
    text = text.strip()
    return len(text) >= 12 or (len(text) >= 4 and any(char.isdigit() for char in text))


def normal(text: str) -> str:
    """Without white space, in which texts of the same value differ."""
    return "".join(text.split())


def literals(tree: ast.Module) -> Iterator[tuple[Node, str]]:
    """All literals of a program with their JSON text, and texts as they are; docstrings are none."""
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in documentation or not isinstance(node, (ast.Constant, ast.List, ast.Tuple, ast.Dict)):
            continue
        for text in texts_of(node):
            yield node, text


def texts_of(node: ast.AST) -> Iterator[str]:
    """A literal as JSON text, and a text as it is; nothing for what is no literal."""
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        yield value
    try:
        yield json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return


def inputs_and_outputs(tree: ast.Module, job: dict[str, Any]) -> Found:
    """Whether the program reads what it is given, and whether what it gives is a literal."""
    if job["kind"] == "stdin":
        return of_script(tree) if any(text.strip() for text in job["inputs"]) else {}
    entry = next(
        (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name == job["entry_point"]
        ),
        None,
    )
    return of_function(entry) if entry is not None else {}


def of_script(tree: ast.Module) -> Found:
    """Of a script: what it reads is standard input, what it gives is printed."""
    words = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    words |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    words |= {one.name for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))
              for one in node.names}  # fmt: skip
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    opens = any(called(node)[1] in {"open", "read", "FileIO"} for node in calls)
    prints = [node for node in calls if called(node)[1] in OUTPUTS]
    constant = prints and all(isinstance(arg, ast.Constant) for node in prints for arg in node.args)
    branches = any(
        isinstance(node, (ast.If, ast.IfExp, ast.While, ast.For, ast.Try)) for node in ast.walk(tree)
    )
    return {
        "input_never_read": [] if opens or words & READS else tree.body[:1],
        "constant_output": prints if constant and not branches else [],
    }


def of_function(entry: ast.FunctionDef) -> Found:
    """Of the function that is called: what it reads are its parameters, what it gives is returned."""
    arguments = entry.args
    names = {one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    names |= {one.arg for one in (arguments.vararg, arguments.kwarg) if one is not None}
    names -= {"self", "cls"}
    read = {node.id for node in ast.walk(entry) if isinstance(node, ast.Name)}
    reads = bool(names & read) or bool(read & {"locals", "vars", "exec", "eval"})
    returns = [node for node in ast.walk(entry) if isinstance(node, ast.Return)]
    given = {ast.dump(node.value) for node in returns if node.value is not None}
    constant = len(given) == 1 and all(isinstance(node.value, ast.Constant) for node in returns)
    return {
        "input_never_read": [entry] if names and not reads else [],
        "constant_output": list(returns) if constant else [],
    }


class Spans:
    """Places of nodes in code points; the parser counts bytes of UTF-8 in lines."""

    def __init__(self, source: str) -> None:
        # Split as the parser splits: form feeds and other separators of `splitlines` end no line.
        self._lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def of(self, node: Node) -> list[int]:
        """Start and end of a node."""
        return [self._at(node.lineno, node.col_offset), self._at(node.end_lineno, node.end_col_offset)]

    def _at(self, line: int, column: int) -> int:
        text = self._lines[line - 1].encode("utf-8", "replace")[:column]
        return self._starts[line - 1] + len(text.decode("utf-8", "replace"))


if __name__ == "__main__":
    json.dump(scan(json.load(sys.stdin)), sys.stdout)
