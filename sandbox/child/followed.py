"""What test code may put in place of parts of the library, for the program to use too.

Only what the words of the test code name is followed: the program then reaches over for every use.
"""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Callable
from typing import Any, Protocol, TextIO


class Asker(Protocol):
    """What is needed of the link to the test code."""

    def request(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Have the other side do something."""
        ...


def told_by(words: frozenset[str]) -> frozenset[str]:
    """What test code of these words may replace; also the operations by which the program reaches for it."""
    return frozenset(what for what, telling in _TELLING.items() if any(told <= words for told in telling))


_TELLING = {
    "stderr": ({"stderr"}, {"redirect_stderr"}),
    "print": ({"builtins", "print"},),
    "variables": ({"environ"}, {"getenv"}),
    "logging": ({"assertLogs"}, {"assertNoLogs"}, {"getLogger"}),
}


def follow(link: Asker, what: str) -> None:
    """Have the program use what the test code has in this place."""
    _FOLLOWERS[what](link)


class _ErrorStream:
    """Standard error of the program, line by line or in parts, as it is written."""

    encoding = "utf-8"

    def __init__(self, link: Asker, own: TextIO) -> None:
        self._link = link
        self._own = own

    def write(self, text: str) -> int:
        """As of any text stream."""
        self._link.request("stderr", (str(text),))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


def _follow_stderr(link: Asker) -> None:
    sys.stderr = _ErrorStream(link, sys.stderr)


def _follow_print(link: Asker) -> None:
    print_here = builtins.print

    def print_there(*values: Any, **how: Any) -> None:
        if how.get("file") is None:
            link.request("print", values, how)
        else:
            print_here(*values, **how)

    builtins.print = print_there


def _follow_logging(link: Asker) -> None:
    """Records go to the handlers of both sides; the levels of either let them through."""
    import logging

    is_enabled_here = logging.Logger.isEnabledFor
    handle_here = logging.Logger.callHandlers

    def handle(self: logging.Logger, record: logging.LogRecord) -> None:
        is_enabled = is_enabled_here(self, record.levelno)
        link.request("logging", (record.name, record.levelno, record.getMessage(), is_enabled))
        if is_enabled:
            handle_here(self, record)

    logging.Logger.isEnabledFor = lambda self, level: True  # type: ignore[method-assign]
    logging.Logger.callHandlers = handle  # type: ignore[method-assign]


def mirror_variables(link: Asker) -> None:
    """Have the environment of the other process follow `os.environ` of this one."""
    put_here, unset_here = os.putenv, os.unsetenv

    def put(name: bytes, value: bytes) -> None:
        put_here(name, value)
        if not _following:
            link.request("variables", (os.fsdecode(name), os.fsdecode(value)))

    def unset(name: bytes) -> None:
        unset_here(name)
        if not _following:
            link.request("variables", (os.fsdecode(name), None))

    os.putenv, os.unsetenv = put, unset  # type: ignore[assignment]


_following: list[str] = []
"""The variable that is being set because it was set over there."""


def set_variable(name: str, value: str | None) -> None:
    """Set or remove a variable as it was over there."""
    _following.append(name)
    try:
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    finally:
        _following.pop()


def log(name: str, level: int, message: str, is_enabled: bool) -> None:
    """On the side of the test code: a record of the program, for its handlers."""
    import logging

    logger = logging.getLogger(str(name))
    if is_enabled or logger.isEnabledFor(int(level)):
        logger.handle(logger.makeRecord(logger.name, int(level), "program", 0, str(message), (), None))


_FOLLOWERS: dict[str, Callable[[Asker], None]] = {
    "stderr": _follow_stderr,
    "print": _follow_print,
    "logging": _follow_logging,
    "variables": mirror_variables,
}
