"""Define the program once and call its entry point; results leave by value, at once (RULES R5, R6)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from functools import partial
from types import CodeType
from typing import Any, NoReturn

from sandbox import values
from sandbox.child import bare_stack, report, setup_text, surroundings, uncaught
from sandbox.child.nodes import NODE_CLASSES, NodeSignature
from sandbox.child.preload import PRELOADED
from sandbox.child.program import FILE_NAME, Program, UnusableError, choose, compile_source, defines
from sandbox.child.test_code import InvalidTestsError

MODULE_NAME = "solution"


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Make the job's calls in order; one message a call, none after the process has died."""
    del peer_fd
    request = report.read(job)
    try:
        program = choose(request)
        announced = setup_text.announced("" if program.has_setup else request["setup"])
        setup = _compiled(announced.text)
    except (UnusableError, InvalidTestsError) as error:
        report.send(channel_fd, {"state": error.state, "message": error.message})
        return
    os.set_inheritable(channel_fd, False)
    report.send_ready(channel_fd, program.compiled(request.get("keep", 0)))
    owner = os.getpid()
    namespace, nobodys = _namespace(program), list[Any]()
    try:
        if setup is not None:
            bare_stack.call(exec, setup, namespace)
            nobodys = _functions(announced.names, namespace)
        bare_stack.call(exec, program.code, namespace)
    except BaseException as error:
        uncaught.show(error)
        _give_up(channel_fd, _words(error))
    try:
        caller = _Caller(_finder(program.source, request["entry_point"], namespace, nobodys), namespace)
    except Exception as error:
        _give_up(channel_fd, _words(error))
    alone = len(request["calls"]) == 1
    for index, call in enumerate(request["calls"]):
        message = caller.result(call, alone)
        if os.getpid() != owner:
            return
        report.send_text(channel_fd, f'{{"index":{index},{message}}}')


def _give_up(channel_fd: int, message: str) -> NoReturn:
    report.send(channel_fd, {"error": message})
    raise SystemExit(1) from None


def _namespace(program: Program) -> dict[str, Any]:
    surroundings.open_streams()
    module = surroundings.fresh_module(MODULE_NAME, FILE_NAME, program.source)
    surroundings.settle(FILE_NAME)
    module.__dict__.update(PRELOADED)
    module.__dict__.update(NODE_CLASSES)
    return module.__dict__


def _compiled(setup: str) -> CodeType | None:
    try:
        return compile_source(setup, "setup.py") if setup else None
    except UnusableError as error:
        raise InvalidTestsError("invalid_tests", f"setup: {error.message}") from None


def _functions(announced: Iterable[str], namespace: dict[str, Any]) -> list[Any]:
    """Functions that the setup only announces, to be collected between setup and program: they are never the
    program's, by whatever name it has them."""
    found = []
    for name in announced:
        owner, _, method = name.rpartition(".")
        within = vars(namespace[owner]) if isinstance(namespace.get(owner), type) else namespace
        found.append(within.get(method))
    return [one for one in found if one is not None]


class _Caller:
    """The entry point, found anew for every call if it is a method of `Solution`."""

    def __init__(self, find: Callable[[], Callable[..., Any]], namespace: dict[str, Any]) -> None:
        self._find = find
        self._nodes = NodeSignature(self._find(), namespace)

    def result(self, call: str, alone: bool) -> str:
        """Make one call; the fields of its message as JSON text."""
        try:
            args, kwargs = values.decode(call.encode())
            args, kwargs = self._nodes.arguments(args, kwargs)
            value = bare_stack.call(partial(self._find(), *args, **kwargs))
        except BaseException as error:
            if alone:
                uncaught.show(error)
            return f'"error":{json.dumps(_words(error))}'
        try:
            return f'"value":{values.encode(self._nodes.value(value))}'
        except BaseException as error:
            return f'"not_plain":{json.dumps(_words(error))}'


def _finder(
    source: str, entry_point: str, namespace: dict[str, Any], announced: list[Any]
) -> Callable[[], Callable[..., Any]]:
    """How to get at the entry point: at module level if the program put it there, else in `Solution`."""
    found, preloaded = namespace.get(entry_point), PRELOADED.get(entry_point)
    if _is_among(found, announced) or (found is preloaded and not _binds(source, entry_point)):
        found = None
    solution = namespace.get("Solution")
    has_method = isinstance(solution, type) and callable(getattr(solution, entry_point, None))
    if has_method and _is_among(_defined(solution, entry_point), announced):  # type: ignore[arg-type]
        has_method = False
    if callable(found) and not (has_method and found is preloaded):
        return lambda: found
    if has_method:
        return lambda: getattr(solution(), entry_point)  # type: ignore[misc]
    raise NameError(f"name {entry_point!r} is not defined as a function")


def _is_among(found: Any, announced: list[Any]) -> bool:
    """Whether it is one of them, or one of them bound to something."""
    return any(one is found or one is getattr(found, "__func__", None) for one in announced)


def _defined(kind: type, name: str) -> Any:
    """What the class or one of its bases has of that name, as it stands there."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def _binds(source: str, name: str) -> bool:
    """Whether a program may have put this name there itself."""
    return "import *" in source or defines(source, name)


def _words(error: BaseException) -> str:
    """An exception in at most 500 characters, whatever its `__str__` does."""
    try:
        text = str(error)
    except BaseException:
        text = "?"
    return f"{type(error).__name__}: {text:.400}"[:500]
