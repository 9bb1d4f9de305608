"""Become another program: its files are written, then this process is replaced by its command."""

from __future__ import annotations

import json
import os

from sandbox.bare import signal
from sandbox.child import report


def main(job: bytes, channel_fd: int, peer_fd: int | None) -> None:
    """Write the job's files into the work folder and execute its command.

    job: a line of JSON (`files`: name and size of each, `command`, `environment`, `answers`), then the files.
    answers: the command writes messages to the channel; otherwise it has descriptors 0 to 2 alone.
    """
    del peer_fd
    head, _, rest = job.partition(b"\n")
    orders = json.loads(head)
    begin = 0
    for name, size in orders["files"]:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o700)
        data = memoryview(rest)[begin : begin + size]
        while data:
            data = data[os.write(fd, data) :]
        os.close(fd)
        begin += size
    # The interpreter ignores these, and what is ignored stays so.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    command = orders["command"]
    report.send(channel_fd, {"state": "ready"})
    os.set_inheritable(channel_fd, orders["answers"])
    os.execvpe(command[0], command, {**_plain(), **orders["environment"]})  # noqa: S606 - its own command


def _plain() -> dict[str, str]:
    """The environment without what only Python reads."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
