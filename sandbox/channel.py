"""Small JSON messages with descriptors over a unix socket of type SEQPACKET."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sandbox.bare import socket

if TYPE_CHECKING:
    import socket as full

_LARGEST = 16 << 10
_MOST_FDS = 8
_DESCRIPTOR = struct.Struct("i")
_CREDENTIALS = struct.Struct("iII")  # struct ucred: pid, uid, gid

_FDS_SPACE = socket.CMSG_SPACE(_MOST_FDS * _DESCRIPTOR.size)
_PID_AND_FD_SPACE = socket.CMSG_SPACE(_CREDENTIALS.size) + socket.CMSG_SPACE(_DESCRIPTOR.size)

_NOW = int(socket.MSG_DONTWAIT | socket.MSG_CMSG_CLOEXEC)

Message = dict[str, Any]


def pair() -> tuple[full.socket, full.socket]:
    """Two joined sockets; the first learns the sender's pid with each message (`receive_with_pid`)."""
    import socket

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return ours, theirs


def pack_fds(fds: Sequence[int]) -> tuple[int, int, bytes]:
    """For `sendmsg`: descriptors to be sent along."""
    return socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack(f"{len(fds)}i", *fds)


def send(sock: full.socket, message: Message, fds: Sequence[int] = ()) -> None:
    """Send one message; raises `OSError` when the other side is gone."""
    data = json.dumps(message).encode()
    sock.sendmsg([data], [pack_fds(fds)] if fds else [])


def receive(sock: full.socket) -> tuple[Message, list[int]] | None:
    """The next message and its descriptors; None at the end."""
    try:
        data, passed, _, _ = sock.recvmsg(_LARGEST, _FDS_SPACE, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:  # the other side went with messages unread
        return None
    fds = [fd for _, _, packed in passed for (fd,) in _DESCRIPTOR.iter_unpack(packed)]
    return (json.loads(data), fds) if data else None


def receive_with_pid(sock: full.socket) -> tuple[bytes, int, int | None] | None:
    """The next message, whatever it says, the pid of its sender, vouched for by the kernel, and a descriptor
    if one came with it.

    Raises `BlockingIOError` when there is none yet; None at the end.
    """
    data, ancillary, _, _ = sock.recvmsg(_LARGEST, _PID_AND_FD_SPACE, _NOW)
    if not data:
        return None
    pid, fd = 0, None
    for level, kind, payload in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
            pid = _CREDENTIALS.unpack(payload)[0]
        elif (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            fd = _DESCRIPTOR.unpack(payload[: _DESCRIPTOR.size])[0]
    return data, pid, fd
