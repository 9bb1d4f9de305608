"""`signal` and `socket` without what Python adds to them: whatever a zygote holds makes each child dearer."""

from __future__ import annotations

import importlib
from typing import Any

signal: Any = importlib.import_module("_signal")
socket: Any = importlib.import_module("_socket")
