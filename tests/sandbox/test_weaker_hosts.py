"""Hosts that offer less than this one: the threats on each, the handed cases over HTTP, as root and not."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from hosts import WEAKER_HOSTS, script, started
from test_unprivileged import NOBODY, interpreter
from threats import THREATS, Threat

from sandbox.engine import Sandbox

pytestmark = [pytest.mark.hosts, pytest.mark.timeout(1800)]
ROOT = Path(__file__).resolve().parents[2]
SECRET = "rvsecret-in-the-service"
PORT = 8397

USERS = ["root", "ordinary user"] if os.geteuid() == 0 else ["ordinary user"]
LACKING = {
    "nothing": (),
    "namespaces": ("no namespaces",),
    "namespaces, control groups, user notification": ("no namespaces", "no cgroups", "no user notification"),
    "Landlock above 4": ("landlock 4",),
    "Landlock above 2, namespaces": ("landlock 2", "no namespaces"),
    "Landlock above 4, namespaces, user notification": (
        "landlock 4",
        "no namespaces",
        "no user notification",
    ),
}
SIGNALLING = {"killing everyone kills nobody outside", "no core is dumped"}
"""Programs that signal others, which is refused where nothing can keep signals inside."""
WITHOUT_LANDLOCK = {"ho-g-disk-fill", "ho-g-read-shadow-and-keys"}
"""Cases that need files to be confined, by Landlock or by a mount table in which there are no others."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=WEAKER_HOSTS)
async def host(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Sandbox]:
    """A sandbox as on one kind of host."""
    os.environ["GOLDCHECK_SECRET"] = SECRET
    async with started(tmp_path_factory.mktemp("run"), *WEAKER_HOSTS[request.param]) as sandbox:
        yield sandbox
    del os.environ["GOLDCHECK_SECRET"]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("threat", THREATS, ids=lambda threat: threat.name)
async def test_threat_on_a_weaker_host(host: Sandbox, threat: Threat) -> None:
    """The attack ends as the table says, and a good program runs well after it."""
    report = host.report()
    assert report.level in ("strong", "full")
    if report.guarantees["signals"].strength == "refused" and threat.name in SIGNALLING:
        pytest.skip("signals to others are refused on such a host")
    async for result in host.run(script(threat.source, limits=threat.limits)):
        threat.check(result)
    async for result in host.run(script("print(input())", b"still well\n")):
        assert result.stdout == b"still well\n", result


@contextmanager
def serving(folder: Path, user: str, lacking: tuple[str, ...], minimum: str = "strong") -> Iterator[str]:
    """The URL of a service of that user's on a host that lacks something."""
    folder.chmod(0o755)
    for name in ("app", "audit", "rollouts", "sandbox", "verifiers"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).with_name("lacking.py"), folder)
    (folder / "data").mkdir()
    who, python = {}, sys.executable
    if user != "root" and os.geteuid() == 0:
        who, python = {"user": NOBODY, "group": NOBODY, "extra_groups": []}, interpreter()
        os.chown(folder / "data", NOBODY, NOBODY)
    env = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": f"{folder}:{sysconfig.get_path('purelib')}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GOLDCHECK_SECRET": SECRET,
        "GOLDCHECK_MIN_ISOLATION": minimum,
    }
    command = [python, "lacking.py", str(PORT), str(folder / "data"), *lacking]
    service = subprocess.Popen(command, cwd=folder, env=env, **who)  # type: ignore[call-overload]
    try:
        for _ in range(600):
            time.sleep(0.1)
            assert service.poll() is None
            with suppress(httpx.TransportError):
                reply = httpx.get(f"http://127.0.0.1:{PORT}/readyz", trust_env=False)
                if reply.status_code == 200 or "programs are not run here" in reply.text:
                    break
        yield f"http://127.0.0.1:{PORT}"
    finally:
        service.terminate()
        service.wait(60)


def failing(shared: Path, url: str, data: Path) -> list[str]:
    """Handed cases that do not hold, by the driver that comes with them."""
    driver, cases = shared / "cases" / "run_code_cases.py", shared / "cases" / "code"
    options = ["--have", "numpy,sympy", "--secret", SECRET, "--workdir", str(data), "--slack", "60"]
    done = subprocess.run(
        [sys.executable, driver, "--url", url, *options, cases], capture_output=True, text=True, check=False
    )
    assert "passed" in done.stdout, done
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAIL")]


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("lacking", LACKING.values(), ids=LACKING)
def test_handed_cases_hold_on_a_weaker_host(shared: Path, user: str, lacking: tuple[str, ...]) -> None:
    """Every one, as root and as an ordinary user."""
    folder = Path(tempfile.mkdtemp())  # pytest's own folders are closed to others
    try:
        with serving(folder, user, lacking) as url:
            assert failing(shared, url, folder / "data") == []
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("lacking", [(), ("no namespaces",)], ids=["mount table", "no mount table"])
def test_handed_cases_hold_without_landlock_but_for_files(
    shared: Path, user: str, lacking: tuple[str, ...]
) -> None:
    """Told to run code all the same, the files of others are open, unless a mount table hides them."""
    folder = Path(tempfile.mkdtemp())
    try:
        with serving(folder, user, ("no landlock", *lacking), "base") as url:
            guarantees = httpx.get(f"{url}/v1/sandbox", trust_env=False).json()["guarantees"]
            assert guarantees["files"]["strength"] == "none"
            mounted = guarantees["disk"]["strength"] == "kernel"
            assert {*failing(shared, url, folder / "data")} == (set() if mounted else WITHOUT_LANDLOCK)
    finally:
        shutil.rmtree(folder)
        for left in (*Path("/tmp").glob("rvfile-*"), *Path("/var/tmp").glob("rvfile-*")):
            left.unlink()


@pytest.mark.parametrize("user", USERS)
def test_code_is_refused_without_landlock(user: str) -> None:
    """And nothing else is: the default asks for more than such a host has."""
    folder = Path(tempfile.mkdtemp())
    tests = {"type": "stdin_stdout", "cases": [{"stdin": "", "stdout": "1"}]}
    try:
        with serving(folder, user, ("no landlock",)) as url:
            code = {"verifier": "code", "response": "print(1)", "ground_truth": tests}
            number = {"verifier": "numeric", "response": "so 2", "ground_truth": "2"}
            refused = httpx.post(f"{url}/v1/verify", json=code, trust_env=False).json()
            judged = httpx.post(f"{url}/v1/verify", json=number, trust_env=False).json()
            assert (refused["status"], refused["reward"]) == ("unscorable", None)
            assert refused["failure"]["kind"] == "sandbox_unavailable"
            assert judged["reward"] == 1.0
            assert httpx.get(f"{url}/readyz", trust_env=False).status_code == 503
    finally:
        shutil.rmtree(folder)
