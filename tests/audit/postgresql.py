"""A PostgreSQL of one's own, where the host has its programs: started for the tests, gone with them."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg

_NOBODY = 65_534


def is_installed() -> bool:
    """Whether the programs are there."""
    return all(shutil.which(name) for name in ("initdb", "pg_ctl"))


@contextlib.contextmanager
def running(folder: Path) -> Iterator[str]:
    """A server with its data in `folder`; yields the URL of its maintenance database."""
    data, sockets = folder / "data", folder / "s"
    for path in (data, sockets):
        path.mkdir(parents=True)
        if os.geteuid() == 0:
            os.chown(path, _NOBODY, _NOBODY)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = (
        f"-c listen_addresses=127.0.0.1 -c port={port} -c unix_socket_directories={sockets} -c fsync=off"
    )
    _run("initdb", "-D", str(data), "-U", "goldcheck", "-A", "trust", "-E", "UTF8", "--no-sync")
    _run("pg_ctl", "-D", str(data), "-w", "-l", str(data / "log"), "-o", options, "start")
    try:
        yield f"postgresql+psycopg://goldcheck@127.0.0.1:{port}/postgres"
    finally:
        _run("pg_ctl", "-D", str(data), "-m", "immediate", "stop")


def new_database(url: str, name: str) -> str:
    """Make an empty database on the server at `url`; returns its URL."""
    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return url.rpartition("/")[0] + "/" + name


def _run(*command: str) -> None:
    """Run one of PostgreSQL's programs, which refuse to be root."""
    as_nobody: Sequence[str] = ()
    if os.geteuid() == 0:
        as_nobody = ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
    subprocess.run(
        [*as_nobody, *command], check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
