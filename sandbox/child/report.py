"""Messages to the supervisor: JSON frames with a length before them."""

from __future__ import annotations

import json
import os
from typing import Any

_to_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


def send(fd: int, message: Any) -> None:
    """Write one message; raises OSError when nobody listens."""
    send_text(fd, _to_text(message))


def send_text(fd: int, text: str) -> None:
    """Write one message that already is JSON, in ASCII."""
    body = text.encode("ascii")
    data = memoryview(len(body).to_bytes(4, "big") + body)
    while data:
        data = data[os.write(fd, data) :]
