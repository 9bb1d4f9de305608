"""Messages to the supervisor: JSON frames with a length before them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

_to_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode
_from_text: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().scan_once  # type: ignore[attr-defined]


def read(job: bytes) -> Any:
    """A job as the service wrote it: a line of JSON, without what else `json.loads` does, and a compiled
    program where there is one already."""
    line, _, compiled = job.partition(b"\n")
    request = _from_text(line.decode(), 0)[0]
    if compiled:
        request["compiled"] = compiled
    return request


def send(fd: int, message: Any) -> None:
    """Write one message; raises OSError when nobody listens."""
    send_text(fd, _to_text(message))


def send_ready(fd: int, compiled: bytes = b"") -> None:
    """Say that the program will be run now. compiled: for other runs of the same program."""
    if compiled:
        send(fd, {"state": "ready", "compiled": compiled.hex()})
    else:
        os.write(fd, _READY)


def send_text(fd: int, text: str) -> None:
    """Write one message that already is JSON, in ASCII."""
    data = memoryview(_framed(text))
    while data:
        data = data[os.write(fd, data) :]


def _framed(text: str) -> bytes:
    body = text.encode("ascii")
    return len(body).to_bytes(4, "big") + body


_READY = _framed(_to_text({"state": "ready"}))
