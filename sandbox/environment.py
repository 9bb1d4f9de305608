"""The environment that programs see (RULES R11)."""

from __future__ import annotations

SEED = 0
"""Of `random`, of numpy's global generator, and of string hashes."""
FOR_LOADER = {"LD_BIND_NOW": "1"}
"""Of a master until it runs: else every child looks the same functions up anew, and copies pages to note
them."""


def environment(work: str, packages: str) -> dict[str, str]:
    """Every variable there is. work: the working directory; packages: folder of the offered packages."""
    one_thread = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "HOME": work,
        "TMPDIR": work,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "PYTHONHASHSEED": str(SEED),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": packages,
        **{f"{library}_NUM_THREADS": "1" for library in one_thread},
    }
