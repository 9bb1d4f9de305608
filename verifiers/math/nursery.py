"""The single-threaded parent of the workers: imports everything once, then forks on request.

Run as `python -m verifiers.math.nursery FD`. Requests on the socket FD: `f` with a socket attached forks a
worker on that socket and is answered with its pid; `k` with a pid kills that worker. Only this process
reaps its children, so a pid it is told to kill is never another's. It ends, with all workers, when the
socket closes.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys

from verifiers.math.nursery_protocol import REPLY, REQUEST
from verifiers.math.options import MathOptions
from verifiers.math.worker import answer, limit_memory, serve

GC_THRESHOLD = 50_000
"""Objects between two looks for cycles. Judging makes trees, which are none; the default costs a sixth of the
time."""


def main(control: socket.socket) -> None:
    """Fork and kill workers until `control` closes."""
    _warm_up()
    children: set[int] = set()
    control.sendall(REPLY.pack(os.getpid()))
    while True:
        ready, _, _ = select.select([control], [], [], 1.0)
        _reap(children)
        if not ready:
            continue
        request, descriptors, _, _ = socket.recv_fds(control, REQUEST.size, 1)
        if len(request) < REQUEST.size:
            break
        kind, pid = REQUEST.unpack(request)
        if kind == b"f":
            children.add(_fork(control, descriptors[0]))
        elif pid in children:
            os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.kill(pid, signal.SIGKILL)


def _fork(control: socket.socket, descriptor: int) -> int:
    pid = os.fork()
    if pid == 0:
        control.close()
        limit_memory()
        try:
            serve(socket.socket(fileno=descriptor))
        except (BrokenPipeError, ConnectionResetError):
            pass
        finally:
            os._exit(0)
    os.close(descriptor)
    control.sendall(REPLY.pack(pid))
    return pid


def _reap(children: set[int]) -> None:
    for pid in list(children):
        if os.waitpid(pid, os.WNOHANG)[0]:
            children.discard(pid)


def _warm_up() -> None:
    """Import lazily loaded parts and fill FLINT's tables, then keep them out of the collector's way."""
    options = MathOptions().model_dump_json()
    for truth in ("\\frac{x+2}{7}", "\\sqrt{2}", "(1, 2]", "\\{1, 2\\}", "\\sin^2 x", "5 cm"):
        answer("\\boxed{\\cos(x) + \\pi}", truth, options)
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 20)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(socket.socket(fileno=int(sys.argv[1])))
