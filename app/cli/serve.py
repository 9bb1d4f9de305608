"""`goldcheck serve`: the service, on sockets that are bound before anything else starts."""

from __future__ import annotations

import errno
import os
import signal
import socket
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

from app.cli.errors import CommandError
from app.cli.settings import load_settings

KEEP_ALIVE_S = 120
"""Longer than the clients' own pools keep an idle connection, so that none is closed under a request."""

BACKLOG = 2048


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Worker processes.")] = 1,
) -> None:
    """Start the service. SIGTERM and SIGINT end it once the requests under way are answered."""
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from app.auth import refusal_to_bind
    from app.logs import configure_logging
    from app.protocol import Protocol

    # Until the server runs, and again when it has drained and gives the signal back.
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, _end)
    settings = load_settings()
    refusal = refusal_to_bind(host, settings)
    if refusal is not None:
        raise CommandError(refusal)
    listener = _listen(host, port)
    configure_logging(settings.log_level)
    typer.echo(f"goldcheck listens on {_url(listener)} (documentation at {_url(listener)}/docs)")
    sys.stdout.flush()
    config = uvicorn.Config(
        "app.main:app",
        workers=workers,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=settings.drain_s,
    )
    if workers > 1:
        # All cores are theirs together: each worker brings its share of processes.
        share = max(1, len(os.sched_getaffinity(0)) // workers)
        os.environ["GOLDCHECK_MATH_WORKERS"] = str(settings.math_workers or share)
        Multiprocess(config, sockets=[listener]).run()
        return
    server = uvicorn.Server(config)
    server.run(sockets=[listener])
    if not server.started:
        raise CommandError("the service did not start; the log says why", 3)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except socket.gaierror as error:
        raise CommandError(f"{host} is no address of this machine: {error.strerror}") from None
    try:
        return socket.create_server(address[:2], family=family, backlog=BACKLOG)
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: f"port {port} on {host} is taken; choose another with --port",
            errno.EACCES: f"port {port} may not be opened by this user",
            errno.EADDRNOTAVAIL: f"{host} is no address of this machine",
            errno.EAFNOSUPPORT: f"{host} is no address of this machine",
        }
        raise CommandError(reasons.get(error.errno or 0, f"{host}:{port}: {error.strerror}")) from None


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _end(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)
