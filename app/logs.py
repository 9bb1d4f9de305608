"""One JSON object per line on standard error, for our own words and for those of the libraries."""

from __future__ import annotations

import logging
import sys
import traceback
from typing import Final, TextIO

import structlog
from structlog.typing import EventDict


def _describe_errors_of_the_server(_: object, __: str, event: EventDict) -> EventDict:
    """The server logs what a request raised, with the message: it may quote a response."""
    error = event.get("exc_info")
    if isinstance(error, tuple) and error[1] is not None and event.get("logger") == "uvicorn.error":
        del event["exc_info"]
        event.update(describe_error(error[1]))
    return event


_SHARED: Final[list[structlog.typing.Processor]] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.ExtraAdder(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    _describe_errors_of_the_server,
    structlog.processors.format_exc_info,
]

_OURS: Final = ("app", "audit", "goldcheck", "rollouts", "sandbox", "verifiers", "uvicorn")
_UVICORN: Final = ("uvicorn", "uvicorn.error", "uvicorn.access", "uvicorn.asgi")


class _Handler(logging.StreamHandler[TextIO]):
    """The one handler that this module installs."""


def configure_logging(level: str) -> None:
    """Send log lines to standard error as JSON: ours from `level` on, warnings of the libraries."""
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    handler = _Handler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [*(other for other in root.handlers if not isinstance(other, _Handler)), handler]
    root.setLevel(logging.WARNING)
    for name in _OURS:
        logging.getLogger(name).setLevel(level.upper())
    for name in _UVICORN:
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True
    # We have a line per request of our own, on debug: formatting theirs costs as much as a verdict.
    logging.getLogger("uvicorn.access").setLevel(logging.WARNING)


def describe_error(error: BaseException) -> dict[str, str]:
    """An exception for the log without its message, which may quote a response: type and traceback."""
    frames = traceback.format_tb(error.__traceback__)
    return {"error": type(error).__qualname__, "traceback": "".join(frames)}
