"""Bad calls and overload -> RFC 9457 problem details, one shape on every error path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import pydantic_core
import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.fault_words import describe
from app.logs import describe_error
from app.parsing import REPLACEMENT

MEDIA_TYPE: Final = "application/problem+json"
MAX_ERRORS: Final = 100
_MAX_TEXT: Final = 500

CODES: Final[Mapping[str, tuple[int, str]]] = {
    "malformed_http": (400, "This is not an HTTP request"),
    "malformed_json": (400, "The body is not JSON"),
    "json_too_deep": (400, "The JSON is nested too deeply"),
    "malformed_npz": (400, "The body is not an npz archive"),
    "malformed_gzip": (400, "The body is not what its Content-Encoding says"),
    "unauthorized": (401, "A valid key is needed"),
    "anonymous_refused": (403, "No keys are set and this address is not loopback"),
    "foreign_origin": (403, "No keys are set and a foreign web page asks"),
    "foreign_change": (403, "A foreign web page asks for a change"),
    "not_found": (404, "There is nothing at this path"),
    "unknown_verifier": (404, "There is no verifier of this name"),
    "unknown_verdict": (404, "There is no stored verdict with this id"),
    "unknown_label": (404, "There is no label with this id that could be taken back"),
    "method_not_allowed": (405, "This path does not take this method"),
    "body_too_large": (413, "The body is too large"),
    "too_many_items": (413, "The batch holds too many items"),
    "response_too_large": (413, "A response is too large"),
    "unsupported_media_type": (415, "The body must be JSON"),
    "unsupported_content_encoding": (415, "The body must be plain or gzip"),
    "invalid_request": (422, "The request does not fit the contract"),
    "invalid_query": (422, "A query parameter does not fit the contract"),
    "idempotency_mismatch": (422, "This Idempotency-Key came with another body before"),
    "internal_error": (500, "The service failed"),
    "log_unavailable": (503, "The verdict log cannot be read now"),
    "label_not_stored": (503, "The label was not stored; send it again"),
    "overloaded": (503, "Too much is waiting already"),
    "shutting_down": (503, "The service is shutting down"),
}
"""Every `code`, its HTTP status and title. They are stable; `detail` is for people only."""


class Problem(Exception):  # noqa: N818 - RFC 9457's own word
    """A request that is not served. `errors` are the places at fault, `total` how many there are in all."""

    def __init__(
        self,
        code: str,
        detail: str = "",
        errors: Iterable[Fault] = (),
        total: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail or code)
        self.code = code
        self.status, self.title = CODES[code]
        self.detail = detail
        self.errors = list(errors)
        self.total = len(self.errors) if total is None else total
        self.headers = dict(headers or {})

    def response(self) -> Response:
        """The HTTP response for it."""
        body: dict[str, Any] = {
            "type": f"urn:goldcheck:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "code": self.code,
            "detail": clip(self.detail or self.title),
        }
        if self.errors:
            body["errors"] = [error.as_dict() for error in self.errors[:MAX_ERRORS]]
            body["errors_total"] = self.total
        return Response(pydantic_core.to_json(body), self.status, headers=self.headers, media_type=MEDIA_TYPE)


@dataclass(frozen=True, slots=True)
class Fault:
    """One place in a request and what is wrong with it."""

    pointer: str
    """JSON pointer (RFC 6901)."""
    message: str
    code: str = "invalid_request"

    def as_dict(self) -> dict[str, str]:
        """As it stands in the reply."""
        return {"pointer": clip(self.pointer), "message": clip(self.message)}


@dataclass(slots=True)
class Faults:
    """All places at fault in one request: the first hundred, and how many in all."""

    first: list[Fault] = field(default_factory=list)
    total: int = 0
    codes: set[str] = field(default_factory=set)

    def add(self, fault: Fault) -> None:
        """Count one more, and keep it if it is among the first."""
        self.total += 1
        self.codes.add(fault.code)
        if len(self.first) < MAX_ERRORS:
            self.first.append(fault)

    def add_validation(self, error: pydantic_core.ValidationError, base: str, value: object) -> None:
        """Add what pydantic found in `value`, which stands at the pointer `base`."""
        self.total += error.error_count()
        self.codes.add("invalid_request")
        if len(self.first) >= MAX_ERRORS:
            return
        found: dict[str, str] = {}
        for one in error.errors(include_url=False, include_input=False):
            pointer = base + _pointer(one["loc"], value, missing=one["type"] == "missing")
            known = found.get(pointer)
            if known is not None:  # each branch of a union complains on its own
                self.total -= 1
            words = describe(one)
            found[pointer] = words if known is None else f"{known}; or: {words}"
        room = MAX_ERRORS - len(self.first)
        self.first.extend(Fault(pointer, message) for pointer, message in list(found.items())[:room])

    def raise_if_any(self) -> None:
        """Refuse the request: by the common code of all faults, or as `invalid_request`."""
        if not self.total:
            return
        code = next(iter(self.codes)) if len(self.codes) == 1 else "invalid_request"
        where = self.first[0].pointer or "the body"
        detail = f"{where}: {self.first[0].message}"
        if self.total > 1:
            detail += f" (and {self.total - 1} more)"
        raise Problem(code, detail, self.first, self.total)


def escape_pointer(part: str | int) -> str:
    """One reference token of a JSON pointer."""
    return str(part).replace("~", "~0").replace("/", "~1")


def clip(text: str) -> str:
    """Bound a text that may quote the request, and make it fit for UTF-8."""
    text = text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"
    return text.encode("utf-8", "replace").decode() if text.isascii() else _encodable(text)


def _encodable(text: str) -> str:
    return "".join(REPLACEMENT if "\ud800" <= character <= "\udfff" else character for character in text)


def _pointer(location: tuple[int | str, ...], value: Any, *, missing: bool) -> str:
    """A pydantic location as a pointer into `value`: names of union branches in it are left out."""
    pointer = ""
    for position, part in enumerate(location):
        container: Any = value
        if (isinstance(value, dict) and part in value) or (isinstance(value, list) and isinstance(part, int)):
            value = container[part]
        elif not (missing and position == len(location) - 1):
            continue
        pointer += "/" + escape_pointer(part)
    return pointer


def install_handlers(app: FastAPI) -> None:
    """Let every error path of `app` answer with problem details."""
    app.add_exception_handler(Problem, _answer_problem)
    app.add_exception_handler(HTTPException, _answer_http_exception)
    app.add_exception_handler(RequestValidationError, _answer_bad_query)
    app.add_exception_handler(Exception, _answer_unexpected)


def _answer_problem(_: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)  # noqa: S101 - narrows the type that Starlette leaves open
    return error.response()


def _answer_http_exception(_: Request, error: Exception) -> Response:
    """Starlette's own 404 and 405."""
    assert isinstance(error, HTTPException)  # noqa: S101
    codes = {HTTPStatus.NOT_FOUND: "not_found", HTTPStatus.METHOD_NOT_ALLOWED: "method_not_allowed"}
    code = codes.get(HTTPStatus(error.status_code))
    if code is None:
        raise error
    headers = dict(error.headers or {})
    if headers.get("Allow") == "GET":
        headers["Allow"] = "GET, HEAD"
    return Problem(code, headers=headers).response()


def _answer_bad_query(_: Request, error: Exception) -> Response:
    """Query and path parameters that FastAPI validates itself."""
    assert isinstance(error, RequestValidationError)  # noqa: S101
    faults = [
        Fault("/" + "/".join(escape_pointer(part) for part in one["loc"]), describe(one))
        for one in error.errors()[:MAX_ERRORS]
    ]
    return Problem("invalid_query", faults[0].message, faults, len(error.errors())).response()


async def _answer_unexpected(request: Request, error: Exception) -> Response:
    """A fault of ours outside all verdicts."""
    structlog.get_logger().error("request failed", path=request.url.path, **describe_error(error))
    return Problem("internal_error").response()
