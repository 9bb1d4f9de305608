"""One run: feeds it, collects what it writes, watches what it uses, ends it, says how it went."""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from sandbox import channel
from sandbox.layers.procfs import proportional_bytes
from sandbox.supervisor.account import Account
from sandbox.supervisor.meter import Meter, Sample
from sandbox.supervisor.pipes import Feed, Sink
from sandbox.supervisor.reactor import Callback, Reactor, Timer
from sandbox.supervisor.referee import Referee
from sandbox.supervisor.workplace import Workplace
from sandbox.supervisor.zygotes import ChildLink, Ended, Zygote
from sandbox.types import Limits, RunStatus
from sandbox.zygote.messages import ORDER

_READ_AFTER_S, _LOOK_AFTER_S = 0.003, 0.01
"""Most runs are over before anything has to be read along or measured."""
_LOOK_S = 0.02
_SHORTEST_LOOK_S = 0.001
_FASTEST_GROWTH = 4 << 30  # bytes per second that a program can make resident
OVERSHOOT_BYTES = 64 << 20
"""What it may take beyond its limit between two looks, where nothing but looking bounds it."""
_KILL_PATIENCE_S = 5.0
_AT_ONCE = 32 << 10
"""Bytes of a job that go with the descriptors."""


@dataclass(frozen=True, slots=True)
class Job:
    """One child's part of a run."""

    harness: str
    job: bytes
    stdin: bytes


@dataclass(frozen=True, slots=True)
class Order:
    """A run as the service asks for it."""

    id: int
    kind: str
    jobs: tuple[Job, ...]
    limits: Limits
    alone: bool


@dataclass(slots=True)
class _Streams:
    """What flows to and from one child."""

    stdin: Feed
    stdout: Sink
    stderr: Sink
    channel: Sink


@dataclass(slots=True)
class Outcome:
    """How a run ended; `status` is None when the zygote was lost."""

    status: RunStatus | None
    ends: list[int | None] = field(default_factory=list)
    outputs: list[tuple[bytes, bytes, bytes]] = field(default_factory=list)
    """Standard output, standard error and channel of each child."""
    cpu_time_s: float = 0.0
    wall_time_s: float = 0.0
    peak_memory_bytes: int = 0
    message: str = ""


class Run:
    """Drives one order on one zygote; calls `on_end` exactly once."""

    def __init__(
        self,
        reactor: Reactor,
        order: Order,
        place: Workplace,
        account: Account | None,
        on_end: Callable[[Outcome], None],
    ) -> None:
        self.order = order
        self._reactor = reactor
        self._place = place
        self._account = account
        self._on_end: Callable[[Outcome], None] | None = on_end
        self._zygote: Zygote | None = None
        self._streams: list[_Streams] = []
        self._timer: Timer | None = None
        self._reason: RunStatus | None = None
        self._message = ""
        self._given = self._started = 0.0
        self._has_begun = False
        self._ended = 0.0
        self._referee: Referee | None = None
        self._peak = 0
        self._waited = 0.0

    def start(self, zygote: Zygote, other_tasks: int) -> None:
        """Run on `zygote`. other_tasks: how many its user may have besides those of the run."""
        self._zygote = zygote
        zygote.want(len(self.order.jobs), lambda: self._go(zygote, other_tasks))

    def end(self, reason: RunStatus, message: str = "") -> None:
        """Kill what runs; `reason` becomes the status."""
        if self._reason is not None or self._on_end is None:
            return
        self._reason, self._message = reason, message
        self._ended = time.monotonic()
        self._later(_KILL_PATIENCE_S, self._give_up)
        if self._zygote is not None:
            self._zygote.kill()

    def lose(self) -> None:
        """The zygote is gone, and all that it had forked: killed with the run if memory was short, else by an
        accident."""
        for streams in self._streams:
            for stream in (streams.stdin, streams.stdout, streams.stderr, streams.channel):
                stream.close()
        outcome = Outcome(None, message=self._message)
        if self._account is not None and self._started and self._is_out_of_memory():
            outcome.status = RunStatus.MEMORY_EXCEEDED
            outcome.ends = [None] * len(self.order.jobs)
            outcome.outputs = [(b"", b"", b"")] * len(self.order.jobs)
            outcome.cpu_time_s = self._account.cpu_time_s()
            outcome.wall_time_s = time.monotonic() - self._started
            outcome.peak_memory_bytes = self._account.peak_bytes() or self._peak
        self._finish(outcome)

    def _go(self, zygote: Zygote, other_tasks: int) -> None:
        limits = self.order.limits
        zygote.begin(self._done)
        tasks = limits.processes + other_tasks
        if self._account is not None:
            self._account.open()
        if listeners := zygote.take_listeners():
            self._referee = Referee(self._reactor, zygote.pid, listeners, limits.processes)
        self._started = self._given = time.monotonic()
        if self._reason is not None:  # it was ended while it waited for this
            zygote.kill()
            return
        peers = socket.socketpair() if len(self.order.jobs) > 1 else ()
        for index, (link, job) in enumerate(zip(zygote.children, self.order.jobs, strict=True)):
            peer = [peers[index].fileno()] if peers else []
            self._streams.append(self._equip(link, job, tasks, peer))
        for peer_socket in peers:
            peer_socket.close()
        self._later(_READ_AFTER_S, lambda: self._read_along(zygote))

    def _equip(self, link: ChildLink, job: Job, tasks: int, peer: list[int]) -> _Streams:
        """Give one child its input and its job; peer: a descriptor for it, if it has a peer."""
        limits, ends = self.order.limits, link.take_ends()
        # Before the program begins, so that it finds the same there each time.
        stdin = Feed(self._reactor, ends.stdin, job.stdin)
        cpu_s = math.ceil(limits.cpu_time_s) + 2  # behind our own clock
        order = ORDER.pack(job.harness.encode(), cpu_s, limits.memory_bytes, tasks, len(job.job))
        sent = len(order) + len(job.job)
        with suppress(OSError):  # the child may be gone; its zygote reports that
            sent = link.sock.sendmsg([order, job.job[:_AT_ONCE]], [channel.pack_fds(peer)] if peer else [])
        if rest := memoryview(job.job)[sent - len(order) :]:
            Feed(self._reactor, os.dup(link.sock.fileno()), rest)
        return _Streams(
            stdin=stdin,
            stdout=Sink(self._reactor, ends.stdout, limits.output_bytes, self._exceed),
            stderr=Sink(self._reactor, ends.stderr, limits.stderr_bytes),
            channel=Sink(self._reactor, ends.channel, limits.output_bytes, self._exceed),
        )

    def _exceed(self) -> None:
        self.end(RunStatus.OUTPUT_EXCEEDED)

    def _read_along(self, zygote: Zygote) -> None:
        """It did not end at once."""
        for streams in self._streams:
            streams.stdout.watch()
            streams.stderr.watch()
            streams.channel.watch()
        self._later(_LOOK_AFTER_S - _READ_AFTER_S, lambda: self._begin_to_look(zygote))

    def _begin_to_look(self, zygote: Zygote) -> None:
        meter = Meter(zygote.pid, zygote.base_rss_bytes, self._account)
        self._look(meter, zygote)

    def _look(self, meter: Meter, zygote: Zygote) -> None:
        """Measure, end the run if it is over a limit, or look again when it could be."""
        limits = self.order.limits
        sample = meter.sample(limits.processes)
        if self._referee is not None:
            sample.waited_s = max(sample.waited_s, self._referee.waited_s() - sample.cpu_time_s)
        now = time.monotonic()
        if not self._has_begun:  # what its zygote waits for a core is not the run's time
            self._has_begun = zygote.has_begun()
            self._started = self._started if self._has_begun else now
        elapsed = now - self._started
        memory = self._memory(sample)
        self._peak = max(self._peak, memory)
        self._waited = sample.waited_s
        disk = self._place.look()
        if sample.cpu_time_s > limits.cpu_time_s:
            self.end(RunStatus.CPU_TIME_EXCEEDED)
        elif memory > limits.memory_bytes or self._is_out_of_memory():
            self.end(RunStatus.MEMORY_EXCEEDED)
        elif sample.tasks > limits.processes:
            self.end(RunStatus.VIOLATION, f"more than {limits.processes} tasks")
        elif disk is not None:
            self.end(RunStatus.OUTPUT_EXCEEDED, disk)
        elif elapsed - sample.waited_s > limits.wall_limit_s:
            self.end(RunStatus.WALL_TIME_EXCEEDED)
        elif now - self._given > starved_after_s(limits):
            self.end(RunStatus.STARVED)
        else:
            self._later(self._next_look_s(sample, memory, elapsed), lambda: self._look(meter, zygote))

    def _next_look_s(self, sample: Sample, memory: int, elapsed: float) -> float:
        limits = self.order.limits
        cores = max(1, min(sample.tasks, len(os.sched_getaffinity(0))))
        earliest = min(
            (limits.cpu_time_s - sample.cpu_time_s) / cores,
            (limits.memory_bytes - memory) / _FASTEST_GROWTH,
            limits.wall_limit_s - (elapsed - sample.waited_s),
        )
        return max(_SHORTEST_LOOK_S, min(_LOOK_S, earliest))

    def _memory(self, sample: Sample) -> int:
        """Memory in use by RULES R8: the cheap sum, made exact when it would be too much."""
        if self._account is not None:
            return 0  # bounded and noted by the kernel
        files = self._place.memory_bytes()
        rough = sample.rss_bytes + files
        if rough <= self.order.limits.memory_bytes or (len(sample.processes) < 2 and not files):
            return rough
        exact = proportional_bytes(sample.processes)
        return rough if exact is None else exact[0] + max(exact[1], files)

    def _done(self, ended: Ended) -> None:
        self._ended = self._ended or time.monotonic()
        if not ended.fenced and self._reason is None:
            self.lose()
            return
        outputs = []
        for streams in self._streams:
            streams.stdin.close()
            outputs.append((streams.stdout.finish(), streams.stderr.finish(), streams.channel.finish()))
        own = max(0, ended.use.max_rss_bytes - self._zygote.base_rss_bytes) if self._zygote else 0
        self._peak = max(self._peak, own)
        cpu_time_s = ended.use.cpu_time_s
        if self._account is not None:
            noted = self._account.peak_bytes()
            self._peak = self._peak if noted is None else noted
            cpu_time_s = max(cpu_time_s, self._account.cpu_time_s() - ended.use.zygote_s)
        self._finish(
            Outcome(
                status=self._status(ended, cpu_time_s, own),
                ends=ended.ends,
                outputs=outputs,
                cpu_time_s=cpu_time_s,
                wall_time_s=max(0.0, self._ended - self._started - self._waited),
                peak_memory_bytes=self._peak,
                message=self._message,
            )
        )

    def _is_out_of_memory(self) -> bool:
        return self._account is not None and self._account.is_over()

    def _status(self, ended: Ended, cpu_time_s: float, own_peak: int) -> RunStatus:
        """What ended it: us, a limit that it passed unseen between two looks, or itself."""
        if self._reason is not None:
            return self._reason
        if cpu_time_s > self.order.limits.cpu_time_s:
            return RunStatus.CPU_TIME_EXCEEDED
        if self._is_out_of_memory() or (self._account is None and own_peak > self.order.limits.memory_bytes):
            return RunStatus.MEMORY_EXCEEDED
        first = ended.ends[0]
        return RunStatus.EXITED if first is not None and first >= 0 else RunStatus.SIGNALED

    def _give_up(self) -> None:
        self._message = "the zygote did not answer"
        if self._zygote is not None:
            self._zygote.lose()
        else:
            self.lose()

    def _finish(self, outcome: Outcome) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._referee is not None:
            self._referee.close()
        on_end, self._on_end = self._on_end, None
        if on_end is not None:
            on_end(outcome)

    def _later(self, delay_s: float, callback: Callback) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._reactor.later(delay_s, callback)


def starved_after_s(limits: Limits) -> float:
    """Wall clock after which a run that still has time left by its own account was kept from running."""
    return 3 * limits.wall_limit_s + 5.0
