"""Where and when something was measured: stands in every result."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path


def machine() -> dict[str, object]:
    """Date, processor, load and versions."""
    models = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")
    ]
    return {
        "date": datetime.now(tz=UTC).date().isoformat(),
        "cpu": models[0].partition(":")[2].strip() if models else platform.processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "kernel": platform.release(),
    }
