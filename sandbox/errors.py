"""What can go wrong that is not the program's doing."""

from __future__ import annotations


class SandboxUnavailable(Exception):  # noqa: N818 - a state of the host, named as the contract names it
    """No code can be run here: the level is too low, or a control program failed too. The text says why."""
