"""The process that decides an assert run: only test code runs here, the program's objects are stubs."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from sandbox.child import (
    bare_stack,
    followed,
    known,
    report,
    surroundings,
    test_code,
    uncaught,
    unittest_runs,
)
from sandbox.child.link import Link
from sandbox.child.stubs import RemoteType

if TYPE_CHECKING:
    from unittest import TestResult

FILE_NAME = "tests.py"


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Run the job's test code against the program at the other end of `peer_fd`; report one outcome."""
    request = json.loads(job)
    state, message = _outcome(request, peer_fd)
    report.send(channel_fd, {"state": state, "message": message[:2000]})


def _outcome(request: dict[str, Any], peer_fd: int | None) -> tuple[str, str]:
    if peer_fd is None:
        raise ValueError("no peer")
    try:
        tests = test_code.read(request["setup"], request["code"], request["entry_point"])
    except test_code.InvalidTestsError as error:
        return error.state, error.message
    link = Link(peer_fd, decides=True)
    link.names = tests.words
    link.operations.decorated = tests.decorated
    namespace = _namespace(request)
    state, message = _run(tests, request["entry_point"], link, namespace)
    if link.unsupported is not None:
        return "unsupported", link.unsupported
    if link.lost is not None:
        return "error", link.lost
    return state, message


def _namespace(request: dict[str, Any]) -> dict[str, Any]:
    surroundings.open_streams()
    module = surroundings.fresh_module("__main__", FILE_NAME, "\n".join(request["code"]))
    surroundings.settle(FILE_NAME, imports_from_work=False)
    return module.__dict__


def _run(
    tests: test_code.Examined, entry_point: str | None, link: Link, namespace: dict[str, Any]
) -> tuple[str, str]:
    told = followed.told_by(tests.words)
    link.operations.of_nothing |= told
    for what in sorted(told):
        link.request("follow", (what,))
    if "seed" in tests.words:
        _mirror_seeds(link, "random")
        if "numpy" in tests.words and find_spec("numpy") is not None:
            _mirror_seeds(link, "numpy.random")
    if "variables" in told:
        followed.mirror_variables(link)
    return decide(
        tests, entry_point, namespace, lambda: _prepare(tests, entry_point, link, namespace), link.raised
    )


def decide(
    tests: test_code.Examined,
    entry_point: str | None,
    namespace: dict[str, Any],
    prepare: Callable[[], Mapping[str, Any]],
    of_program: Sequence[BaseException] | None,
) -> tuple[str, str]:
    """Run setup and tests; a pass is their normal end, never the end of the process.

    prepare: puts what the program gives into the namespace, and runs the setup there. of_program: what the
    program has raised; None where every exception may be the program's.
    """
    results: list[TestResult] = []
    try:
        results = unittest_runs.recorded() if "unittest" in tests.words else []
        given = prepare()
        for code in tests.codes:
            bare_stack.call(exec, code, namespace)
        if tests.calls_check:
            bare_stack.call(namespace["check"], namespace[str(entry_point)])
    except test_code.InvalidTestsError as error:
        return error.state, error.message
    except BaseException as error:
        state, message = _ended_by(error, of_program, bool(results))
        if state != "passed":
            return state, message
    failure = unittest_runs.failure(results)
    if failure is not None:
        return "failed", failure
    if not tests.needed:
        return "asserts_nothing", "the test code uses nothing of a program"
    if not tests.needed & given.keys():
        return "error", "the program defines nothing that the test code uses"
    return "passed", ""


def _ended_by(
    error: BaseException, of_program: Sequence[BaseException] | None, has_results: bool
) -> tuple[str, str]:
    """What an exception out of the test code says: of tests that end themselves, their results tell."""
    if isinstance(error, SystemExit):
        is_of_tests = has_results if of_program is None else not _is_among(error, of_program)
        if is_of_tests:
            return ("failed", words(error)) if error.code else ("passed", "")
    uncaught.show(error)
    if isinstance(error, AssertionError):
        return "failed", words(error)
    if of_program is not None and _lacks_module(error, of_program):
        return "unsupported", f"the test code needs what is not here: {words(error)}"
    return "error", words(error)


def _lacks_module(error: BaseException, of_program: Sequence[BaseException]) -> bool:
    """Whether an import of the test code failed; an exception made of the program's class is none."""
    if type(error) not in (ImportError, ModuleNotFoundError) or _is_among(error, of_program):
        return False
    lacking = getattr(error, "name", None) is not None
    context = error.__cause__ or error.__context__
    return lacking or (context is not None and _lacks_module(context, of_program))


def _is_among(error: BaseException, errors: Sequence[BaseException]) -> bool:
    return any(error is known for known in errors)


def _prepare(
    tests: test_code.Examined, entry_point: str | None, link: Link, namespace: dict[str, Any]
) -> dict[str, Any]:
    """Put the program's names where the test code finds them, and give them.

    What the setup defines stays its own, so that a program cannot replace the helpers of its tests; only the
    entry point, and functions that the setup merely announces, are the program's.
    """
    asked = {word for word in tests.words | {str(entry_point)} if _may_be_asked(word)} | tests.overridden
    told: dict[str, Any] = link.request("names", tuple(sorted(asked)))
    given = {name: value for name, value in told.items() if _may_be_given(name, value, tests)}
    link.named = frozenset(
        value for name, value in given.items() if name in tests.classes and isinstance(value, RemoteType)
    )
    namespace.update(given)
    try:
        exec(tests.setup, namespace)  # noqa: S102
    except Exception as error:
        if not _is_among(error, link.raised) and _fails_alone(tests.setup, error):
            raise test_code.InvalidTestsError("invalid_tests", f"setup: {words(error)}") from None
        raise
    for name in (entry_point, *tests.declared):
        if name in given:
            namespace[name] = given[name]
        elif name in tests.vacant:
            namespace.pop(name, None)  # nobody has more than its head
    return given


def _mirror_seeds(link: Link, module: str) -> None:
    """Have `seed` of a module set the program's generator too, when the test code calls it."""
    generator = importlib.import_module(module)
    seed_here = generator.seed

    def seed(*args: Any, **kwargs: Any) -> None:
        seed_here(*args, **kwargs)
        link.request("seed", (module, *args), kwargs)

    vars(generator)["seed"] = seed


def _fails_alone(setup: CodeType, error: Exception) -> bool:
    """Whether the setup fails in the same way without any program, so that no program is to blame."""
    if isinstance(error, NameError):
        return False
    try:
        exec(setup, {"__name__": "__main__"})  # noqa: S102
    except Exception as again:
        return type(again) is type(error)
    return False


def _may_be_given(name: str, value: Any, tests: test_code.Examined) -> bool:
    """A name that the tests use like a module of the library is that module or nothing."""
    if isinstance(value, ModuleType):
        return known.is_meant(name, value)
    return name not in tests.dotted or not known.is_module_word(name)


def _may_be_asked(word: str) -> bool:
    """Built-in names are not taken from the program, unless it is called by one."""
    return word.isidentifier() and not word.startswith("__") and not hasattr(sys.modules["builtins"], word)


def words(error: BaseException) -> str:
    """An exception in a line."""
    try:
        return f"{type(error).__name__}: {error}"[:1500]
    except Exception:
        return type(error).__name__
