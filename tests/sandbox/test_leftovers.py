"""What programs leave behind on the host: nothing, whatever they did and however the service ended."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hosts import abandoned_groups, script, started

from sandbox.engine import Sandbox
from sandbox.layers import procfs
from sandbox.types import Limits

TAG = f"rv-left-{os.getpid()}"
MESSY = f"""
import multiprocessing, os, socket, subprocess, tempfile, threading
from multiprocessing import shared_memory
tag = {TAG!r}
def attempt(action):
    try: return action()
    except OSError: pass
home, temporary = os.path.expanduser('~'), tempfile.gettempdir()
for place in ('.', '/tmp', '/var/tmp', '/dev/shm', '/dev/mqueue', home, temporary):
    attempt(lambda: open(f'{{place}}/{{tag}}', 'w').write('x'))
    attempt(lambda: os.mkdir(f'{{place}}/{{tag}}-folder', 0))
    attempt(lambda: os.mkfifo(f'{{place}}/{{tag}}-pipe'))
attempt(lambda: shared_memory.SharedMemory(tag, create=True, size=4096))
attempt(lambda: multiprocessing.Semaphore())
attempt(lambda: socket.socketpair())
pair = os.pipe()
for _ in range(5):
    attempt(lambda: subprocess.Popen(['/bin/sleep', '300', ], start_new_session=True))
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0: threading.Event().wait()
        os._exit(0)
print('done', flush=True)
os._exit(0)
"""
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/mnt", "/var/lib/goldcheck")
LIMITS = Limits(cpu_time_s=5)


def seen_on_the_host() -> list[str]:
    """Mounts of ours and System V objects of users of ours; other services come and go meanwhile."""
    mounts = [line for line in Path("/proc/self/mounts").read_text().splitlines() if "goldcheck" in line]
    objects = [
        line
        for kind in ("shm", "sem", "msg")
        for line in Path(f"/proc/sysvipc/{kind}").read_text().splitlines()
        if any(word.isdigit() and int(word) in range(60000, 60064) for word in line.split())
    ]
    return [*mounts, *objects]


def tagged() -> list[str]:
    """Files of the programs, in every place that everyone may write to."""
    found = []
    for place in PLACES:
        for folder, folders, files in os.walk(place):
            found += [f"{folder}/{name}" for name in (*folders, *files) if TAG in name]
    return found


async def settled(sandbox: Sandbox) -> tuple[int, int]:
    """Processes and open descriptors of the sandbox, when nothing runs and the next children wait."""
    supervisor = sandbox.supervisor_pid or 0
    looks: list[tuple[int, int]] = []
    while len(looks) < 8 or len(set(looks[-8:])) > 1:
        await asyncio.sleep(0.1)
        looks.append(
            (len(procfs.descendants(supervisor)), len(list(Path(f"/proc/{supervisor}/fd").iterdir())))
        )
        assert len(looks) < 200, looks
    return looks[-1]


@pytest.mark.parametrize("assume", [(), ("no namespaces",), ("no namespaces", "no cgroups", "landlock 4")])
async def test_nothing_is_left_of_a_messy_program(tmp_path: Path, assume: tuple[str, ...]) -> None:
    """No process, file, mount, descriptor, IPC object or shared memory; and no control group in the end."""
    async with started(tmp_path, *assume, slots=2) as sandbox:
        for _ in range(3):
            async for result in sandbox.run(script(MESSY, b"", b"", limits=LIMITS)):
                assert (result.status, result.stdout) == ("exited", b"done\n"), result
            usual = await settled(sandbox)
        async for _ in sandbox.run(script(MESSY, b"", b"", b"", b"", limits=LIMITS)):
            pass
        assert await settled(sandbox) == usual
        assert not tagged()
    assert not seen_on_the_host()
    assert {path.name for path in tmp_path.iterdir()} <= {"slots", "workers", "headers"}
    assert not abandoned_groups()


SERVICE = """
import asyncio, sys
sys.path[:0] = [{root!r}, {tests!r}]
from hosts import started
async def main():
    async with started({run_dir!r}, *{assume!r}, slots=1) as sandbox:
        print(sandbox.supervisor_pid, flush=True)
        from hosts import script
        async for _ in sandbox.run(script({messy!r})): pass
asyncio.run(main())
"""


@pytest.mark.parametrize("assume", [(), ("no namespaces",)])
async def test_what_a_killed_service_left_goes_with_the_next_start(
    tmp_path: Path, assume: tuple[str, ...]
) -> None:
    """Service and supervisor killed at once: all ends, and the next start removes the rest."""
    here = Path(__file__).parent
    source = SERVICE.format(
        root=str(here.parents[1]),
        tests=str(here),
        run_dir=str(tmp_path),
        assume=assume,
        messy=MESSY.replace("print('done', flush=True)\nos._exit(0)", "import time; time.sleep(60)"),
    )
    service = subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE)
    assert service.stdout is not None
    supervisor = int(service.stdout.readline())
    for _ in range(1000):
        beneath = procfs.descendants(supervisor)
        if len(beneath) > 10:  # the program has started its own
            break
        await asyncio.sleep(0.01)
    os.kill(service.pid, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGKILL)
    os.kill(service.pid, signal.SIGKILL)
    service.wait()
    service.stdout.close()
    for _ in range(500):
        if not any(_is_alive(pid) for pid in beneath):
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("something lives on")
    async with started(tmp_path, slots=1):  # with whatever this host offers, not as the one before
        assert not tagged()
    assert not seen_on_the_host()
    assert not abandoned_groups()
    assert not [path for path in (tmp_path / "workers").rglob("*") if path.suffix != ".lock"]


def _is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
