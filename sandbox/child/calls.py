"""Define the program once and call its entry point; results leave by value, at once (RULES R5, R6)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from sandbox import values
from sandbox.child import bare_stack, report, surroundings, uncaught
from sandbox.child.nodes import NODE_CLASSES, NodeSignature
from sandbox.child.preload import PRELOADED
from sandbox.child.program import FILE_NAME, Program, UnusableError, choose, compile_source, with_body

MODULE_NAME = "solution"


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Make the job's calls in order; one message a call, none after the process has died."""
    del peer_fd
    request = report.read(job)
    try:
        program = choose(request)
        needs_setup = request["setup"] and not program.has_setup  # else it is part of the program
        setup = compile_source(with_body(request["setup"]), "setup.py") if needs_setup else None
    except UnusableError as error:
        report.send(channel_fd, {"state": error.state, "message": error.message})
        return
    os.set_inheritable(channel_fd, False)
    report.send_ready(channel_fd, program.compiled(request.get("keep", 0)))
    owner = os.getpid()
    namespace, announced = _namespace(program), None
    try:
        if setup is not None:
            bare_stack.call(exec, setup, namespace)
            announced = namespace.get(request["entry_point"])
        bare_stack.call(exec, program.code, namespace)
    except BaseException as error:
        uncaught.show(error)
        _give_up(channel_fd, _words(error))
    try:
        caller = _Caller(request["entry_point"], namespace, announced)
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


class _Caller:
    """The entry point, found anew for every call if it is a method of `Solution`.

    announced: what the setup has of that name, which is not the program's.
    """

    def __init__(self, entry_point: str, namespace: dict[str, Any], announced: Any) -> None:
        self._find = _finder(entry_point, namespace, announced)
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


def _finder(entry_point: str, namespace: dict[str, Any], announced: Any) -> Callable[[], Callable[..., Any]]:
    """How to get at the entry point: at module level if the program put it there, else in `Solution`."""
    found = namespace.get(entry_point)
    if found is announced:
        found = None
    solution = namespace.get("Solution")
    has_method = isinstance(solution, type) and callable(getattr(solution, entry_point, None))
    if callable(found) and not (has_method and found is PRELOADED.get(entry_point)):
        return lambda: found
    if has_method:
        return lambda: getattr(solution(), entry_point)  # type: ignore[misc]
    raise NameError(f"name {entry_point!r} is not defined as a function")


def _words(error: BaseException) -> str:
    """An exception in at most 500 characters, whatever its `__str__` does."""
    try:
        text = str(error)
    except BaseException:
        text = "?"
    return f"{type(error).__name__}: {text:.400}"[:500]
