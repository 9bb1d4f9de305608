"""Serves the application as on a host that lacks something: `lacking.py PORT DATA_DIR [what it lacks]`."""

from __future__ import annotations

import functools
import sys

import uvicorn

import sandbox.config
from app.main import create_app
from app.settings import Settings


def main(port: str, data_dir: str, *lacking: str) -> None:
    """Serve until told to end. What may be lacking: `assume` of `sandbox.supervisor.setup.prepare`."""
    sandbox.config.SandboxConfig = functools.partial(sandbox.config.SandboxConfig, assume=lacking)  # type: ignore[assignment,misc]
    uvicorn.run(create_app(Settings(data_dir=data_dir)), port=int(port), log_config=None)  # type: ignore[arg-type]


main(*sys.argv[1:])
