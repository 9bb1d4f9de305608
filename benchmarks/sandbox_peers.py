"""The same tests by other means, each in the style of what it stands for. Trusted programs only.

`plain`: an interpreter a test. `bubblewrap`: the same inside `bwrap`. `in_process`: one process a submission,
where each test executes the program with streams replaced, as LiveCodeBench's grader does. `asserts_in_fork`:
one forked process a submission with its guard and alarm, as human-eval does.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from sandbox.layers import procfs

TIME_S = 6
BUBBLEWRAP = shutil.which("bwrap")
_FORK = multiprocessing.get_context("fork")
_INSIDE = (
    *("--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"),
    *("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"),
)


@contextmanager
def _script(source: str) -> Iterator[str]:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(source)
        file.flush()
        yield file.name


def plain(source: str, inputs: Sequence[str]) -> list[str]:
    """Outputs of a script, each from an interpreter of its own."""
    with _script(source) as path:
        return [_output([sys.executable, path], text) for text in inputs]


def bubblewrap(source: str, inputs: Sequence[str]) -> list[str]:
    """The same in new namespaces with a read-only view."""
    before = set(procfs.descendants(os.getpid()))
    with _script(source) as path:
        outputs = [_output([str(BUBBLEWRAP), *_INSIDE, sys.executable, path], text) for text in inputs]
    # It does not wait for the process that it runs a command in, whose CPU time nobody would be charged with.
    for pid in set(procfs.descendants(os.getpid())) - before:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
    return outputs


def _output(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout


def plain_calls(source: str, name: str, arguments: Sequence[Any]) -> list[Any]:
    """Results of a function, each call in an interpreter of its own."""
    tail = f"\nimport json\nprint(json.dumps({name}(*json.loads(input()))))\n"
    return [json.loads(text) for text in plain(source + tail, [json.dumps(args) for args in arguments])]


def bubblewrap_calls(source: str, name: str, arguments: Sequence[Any]) -> list[Any]:
    """The same in new namespaces."""
    tail = f"\nimport json\nprint(json.dumps({name}(*json.loads(input()))))\n"
    texts = bubblewrap(source + tail, [json.dumps(args) for args in arguments])
    return [json.loads(text) for text in texts]


def in_process(source: str, inputs: Sequence[str]) -> list[str]:
    """Outputs of a script, all from one process without isolation."""

    def work() -> list[str]:
        return [_executed(source, text) for text in inputs]

    return _forked(work)


def in_process_calls(source: str, name: str, arguments: Sequence[Any]) -> list[Any]:
    """Results of a function, all from one process without isolation."""

    def work() -> list[Any]:
        namespace: dict[str, Any] = {}
        exec(compile(source, "main.py", "exec"), namespace)  # our own
        results = []
        for args in arguments:
            signal.alarm(TIME_S)
            results.append(namespace[name](*args))
            signal.alarm(0)
        return results

    return _forked(work)


def asserts_in_fork(source: str, name: str, cases: Sequence[tuple[Any, Any]]) -> list[str]:
    """Run asserts about a function after it, guarded and bounded."""
    tests = "\n".join(f"assert {name}(*{args!r}) == {expected!r}" for args, expected in cases)

    def work() -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            rmtree, rmdir, chdir = shutil.rmtree, os.rmdir, os.chdir
            chdir(folder)
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
            os.rmdir = os.system = os.putenv = os.remove = shutil.rmtree = None  # type: ignore[assignment]
            signal.setitimer(signal.ITIMER_REAL, TIME_S)
            exec(compile(f"{source}\n{tests}\n", "main.py", "exec"), {})  # our own
            signal.setitimer(signal.ITIMER_REAL, 0)
            shutil.rmtree, os.rmdir = rmtree, rmdir
            chdir("/")
        return ["passed"]

    return _forked(work)


def _executed(source: str, text: str) -> str:
    streams = sys.stdin, sys.stdout
    sys.stdin, sys.stdout = io.StringIO(text), io.StringIO()
    signal.alarm(TIME_S)
    try:
        exec(compile(source, "main.py", "exec"), {"__name__": "__main__"})  # our own
        return sys.stdout.getvalue()
    finally:
        signal.alarm(0)
        sys.stdin, sys.stdout = streams


def _forked(work: Callable[[], Any]) -> Any:
    """What `work` returns in a process that is forked for it, as both graders do."""
    ours, theirs = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_send, args=(theirs, work))
    process.start()
    theirs.close()
    result = ours.recv()
    process.join()
    return result


def _send(connection: Connection, work: Callable[[], Any]) -> None:
    connection.send(work())
