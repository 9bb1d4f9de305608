"""Empties a full folder in a process of its own, so that other runs do not wait for it."""

from __future__ import annotations

import os

from sandbox.supervisor import folder
from sandbox.supervisor.reactor import READ, Callback, Reactor


class Removal:
    """Forks a process per removal; it ends as soon as the folder is empty."""

    def __init__(self, reactor: Reactor) -> None:
        self._reactor = reactor

    def empty(self, path: str, then: Callback) -> None:
        """Remove everything beneath the folders in `path`, then call `then`."""
        ended, alive = os.pipe2(os.O_CLOEXEC)
        pid = os.fork()
        if pid == 0:
            try:
                for name in os.listdir(path):
                    os.chmod(f"{path}/{name}", 0o700)
                    folder.empty(f"{path}/{name}")
            finally:
                os._exit(0)
        os.close(alive)

        def collect() -> None:
            self._reactor.forget(ended)
            os.close(ended)
            os.waitpid(pid, 0)
            then()

        self._reactor.watch(ended, READ, collect)
