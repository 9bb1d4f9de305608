"""What several groups of tests share: the handed data, and one real service on a free port."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[1]

with contextlib.suppress(ImportError):  # the environments of the browser and of array libraries do without
    from hypothesis import settings

    # A machine may be busy: how long an example takes says nothing about what is right.
    settings.register_profile("untimed", parent=settings(), deadline=None)
    settings.load_profile("untimed")

# A shell has what it starts in the background ignore SIGINT, and so would all that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of handed cases and data."""
    folder = Path(os.environ.get("GOLDCHECK_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no handed cases and data at {folder}; set GOLDCHECK_SHARED")
    return folder


def free_port() -> int:
    """A loopback port that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def running_service(data_dir: Path, *arguments: str, **settings: str) -> Iterator[str]:
    """A real `goldcheck serve` with these arguments and GOLDCHECK_ settings; yields its URL once ready."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    log = data_dir / "service.log"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GOLDCHECK_")}
    environment |= {"GOLDCHECK_DATA_DIR": str(data_dir / "data")} | settings
    with log.open("wb") as output:
        process = subprocess.Popen(
            [_command(), "serve", "--port", str(port), *arguments],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_ready(url, process, log)
        yield url
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def _command() -> str:
    """The command under test: that of this environment, unless the tests run in one of their own."""
    return os.environ.get("GOLDCHECK_COMMAND") or str(Path(sys.executable).with_name("goldcheck"))


def wait_until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when /readyz answers 200; fail with the service's own words when it does not."""
    deadline = time.monotonic() + 90  # many times what it takes: a busy machine must not fail a test
    last = "no answer yet"
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(httpx.TransportError):
            reply = httpx.get(f"{url}/readyz", timeout=5)
            if reply.status_code == 200:
                return
            last = reply.text
        time.sleep(0.05)
    pytest.fail(f"service not ready: {last}\n{log.read_text(errors='replace')[-4000:]}")


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of one service with default settings, shared by all tests that only read or post."""
    with running_service(tmp_path_factory.mktemp("service")) as url:
        yield url


@pytest.fixture(scope="session")
def run_service() -> Callable[..., AbstractContextManager[str]]:
    """Start a service in a folder, for fixtures that several tests share; see `running_service`."""
    return running_service


@pytest.fixture
def start_service(tmp_path: Path) -> Callable[..., AbstractContextManager[str]]:
    """Start a service of one's own: `with start_service("--workers", "2", GOLDCHECK_...="...") as url`."""
    return lambda *arguments, **settings: running_service(tmp_path, *arguments, **settings)


@pytest.fixture(scope="session")
def service_in() -> Callable[..., AbstractContextManager[str]]:
    """Start a service for several tests: `with service_in(folder, GOLDCHECK_...="...") as url`."""
    return running_service
