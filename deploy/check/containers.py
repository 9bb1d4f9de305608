"""The image's containers: how they are started, and docker's commands."""

from __future__ import annotations

import subprocess

SHIPPED = (
    *("--init", "--read-only", "--user", "10001:10001", "--cap-drop", "ALL"),
    *("--security-opt", "no-new-privileges:true", "--pids-limit", "512", "--memory", "4g"),
    *("--tmpfs", "/tmp:size=256m,mode=1777", "--volume", "/data", "--env", "GOLDCHECK_ALLOW_ANONYMOUS=1"),
)
"""As in docker-compose.yml."""

ROOTED = (
    *("--init", "--user", "0", "--pids-limit", "512", "--memory", "4g", "--volume", "/data"),
    *("--env", "GOLDCHECK_ALLOW_ANONYMOUS=1"),
)
"""Root with the capabilities that the engine gives by default."""


def docker(*arguments: str, stdin: bytes | None = None, check: bool = True, timeout: float = 900) -> str:
    """Output of one docker command."""
    done = subprocess.run(
        ["docker", *arguments], input=stdin, capture_output=True, check=False, timeout=timeout
    )
    if check and done.returncode:
        raise RuntimeError(f"docker {' '.join(arguments[:4])} ...: {done.stderr.decode()[-2000:]}")
    return done.stdout.decode()
