"""The applications that these tests call."""

from serving import client, live

__all__ = ["client", "live"]
