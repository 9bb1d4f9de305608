"""The bytes between the pool and the parent of its workers."""

from __future__ import annotations

import struct

REQUEST = struct.Struct("!ci")
"""`f` (fork on the attached socket) or `k` (kill), and a pid."""
REPLY = struct.Struct("!i")
"""A pid: of the parent when it is ready, then of each new worker."""
