"""The supervisor: takes orders from the service over a socket, runs them on its seats."""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from collections.abc import Mapping
from typing import Any

from sandbox import frames
from sandbox.environment import environment
from sandbox.layers import process
from sandbox.supervisor.dispatcher import Dispatcher
from sandbox.supervisor.masters import Masters
from sandbox.supervisor.placement import Unplaceable, library_path
from sandbox.supervisor.reactor import READ, WRITE, Reactor
from sandbox.supervisor.run import Job, Order, Outcome
from sandbox.supervisor.seats import Seat, Share
from sandbox.supervisor.selftest import SELF_TEST, judge
from sandbox.supervisor.setup import Setup, prepare
from sandbox.supervisor.slots import Slots
from sandbox.supervisor.tasks import TaskCount
from sandbox.supervisor.uids import UidRangeExhausted
from sandbox.types import Limits

_CHUNK = 64 << 10


class Supervisor:
    """Serves one worker of the service until that worker closes the socket or is gone."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._reactor = Reactor()
        self._decoder = frames.Decoder()
        self._outgoing = bytearray()
        self._is_behind = False
        self._dispatcher: Dispatcher | None = None
        self._setup: Setup | None = None
        self._masters: Masters | None = None
        self._seats: list[Seat] = []
        self._service = os.getppid()

    def serve(self) -> None:
        """Run until the service goes."""
        self._sock.setblocking(False)
        self._reactor.watch(self._sock.fileno(), READ, self._hear)
        self._reactor.later(1.0, self._look_after_service)
        try:
            self._reactor.run()
        finally:
            self._end()

    def _hear(self) -> None:
        try:
            data = self._sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._reactor.stop()
            return
        try:
            for header, blobs in self._decoder.feed(data):
                self._obey(header, blobs)
        except frames.MalformedError:
            self._reactor.stop()

    def _obey(self, header: Mapping[str, Any], blobs: list[bytes]) -> None:
        if header["op"] == "start":
            self._start(header)
        elif self._dispatcher is None:
            return
        elif header["op"] == "run":
            self._dispatcher.add(_order(header, blobs))
        else:
            self._dispatcher.cancel(header["id"])

    def _start(self, config: Mapping[str, Any]) -> None:
        try:
            self._setup = setup = prepare(config)
            slots = Slots(f"{config['run_dir']}/slots", config["slots"], setup.memory_bytes)
        except (OSError, Unplaceable, UidRangeExhausted) as error:
            self._send(
                {"op": "failed", "level": "none", "reason": f"the sandbox could not be set up: {error}"}
            )
            return
        self._masters = Masters(
            self._reactor, setup.placed, setup.plan, config["modules"], self._reactor.stop
        )
        tasks = TaskCount(setup.uids[0] is not None, setup.plan["counts_tasks"], config["slots"])
        self._seats = [
            Seat(self._reactor, self._masters, Share(place, uid, tasks, account))
            for place, uid, account in zip(setup.workplaces, setup.uids, setup.accounts, strict=True)
        ]
        self._dispatcher = Dispatcher(self._reactor, self._seats, slots, self._report)
        self._dispatcher.add(SELF_TEST)
        for seat in self._seats[1:]:
            seat.prepare("lean")

    def _report(self, order: Order, outcome: Outcome) -> None:
        if order is SELF_TEST and self._setup is not None:
            self._send_readiness(outcome, self._setup)
            return
        blobs = [blob for output in outcome.outputs for blob in output]
        header = {
            "op": "result",
            "id": order.id,
            "status": outcome.status,
            "ends": outcome.ends,
            "cpu_time_s": outcome.cpu_time_s,
            "wall_time_s": outcome.wall_time_s,
            "peak_memory_bytes": outcome.peak_memory_bytes,
            "message": outcome.message,
        }
        self._send(header, blobs)

    def _send_readiness(self, outcome: Outcome, setup: Setup) -> None:
        gc.freeze()  # what there is stays; to go through it takes longer than a run
        level, guarantees, reason = judge(outcome, setup)
        work = f"{setup.plan['box']}/work" if setup.plan["mounts"] else f"{setup.workplaces[0].path}/work"
        header = {
            "op": "ready",
            "level": level,
            "reason": reason,
            "guarantees": guarantees,
            "python": ".".join(map(str, sys.version_info[:3])),
            "environment": environment(work, setup.placed.packages) | library_path(setup.placed),
            "placement": setup.placed.how,
            "headers": setup.plan["headers"],
        }
        self._send(header)

    def _send(self, header: Mapping[str, Any], blobs: list[bytes] | None = None) -> None:
        waiting = bool(self._outgoing)
        self._outgoing += frames.encode(dict(header), blobs or [])
        if not waiting:
            self._flush()

    def _flush(self) -> None:
        fd = self._sock.fileno()
        try:
            while self._outgoing:
                with memoryview(self._outgoing) as view:
                    sent = self._sock.send(view[:_CHUNK])
                del self._outgoing[:sent]
        except BlockingIOError:
            if not self._is_behind:
                self._is_behind = True
                self._reactor.forget(fd)
                self._reactor.watch(fd, READ | WRITE, self._hear_and_flush)
            return
        except OSError:
            self._reactor.stop()
            return
        if self._is_behind:
            self._is_behind = False
            self._reactor.forget(fd)
            self._reactor.watch(fd, READ, self._hear)

    def _hear_and_flush(self) -> None:
        self._flush()
        self._hear()

    def _look_after_service(self) -> None:
        """A process that the service forked may hold its end of the socket open after it."""
        if os.getppid() != self._service:
            self._reactor.stop()
        self._reactor.later(1.0, self._look_after_service)

    def _end(self) -> None:
        for seat in self._seats:
            seat.close()
        if self._masters is not None:
            self._masters.close()
        if self._setup is not None and self._setup.groups is not None:
            self._setup.groups.close()


def _order(header: Mapping[str, Any], blobs: list[bytes]) -> Order:
    pairs = zip(header["harnesses"], blobs[::2], blobs[1::2], strict=True)
    return Order(
        id=header["id"],
        kind=header["kind"],
        jobs=tuple(Job(harness, job, stdin) for harness, job, stdin in pairs),
        limits=Limits(**header["limits"]),
        alone=header["alone"],
    )


def main(fd: int) -> None:
    """Entry point of the exec'ed process."""
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C reaches the whole terminal; the service says when to end
    process.hide()
    Supervisor(socket.socket(fileno=fd)).serve()
