"""What ends a command."""

from __future__ import annotations


class CommandError(Exception):
    """A command that could not do its work, with one line that says why.

    status: 1 the work was done in part; 2 wrong use: arguments, settings, files, an address that is taken;
    3 the service did not start; 130 interrupted.
    """

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status
