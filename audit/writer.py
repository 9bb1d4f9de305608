"""The writer's thread: commits what is queued, in groups, and outlives database faults."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InterfaceError, ProgrammingError

from audit.database import DATABASE_ERRORS, fault
from audit.groups import GroupCount
from audit.payload import Encoder
from audit.queue import Unit, UnitQueue
from audit.sampling import Sampler
from audit.store import Count, Store, Transaction
from audit.types import CANARY_ACCEPT, Cell, FaultKind, LogObserver, VerdictRecord

GROUP = 256
"""Records per transaction, about; more only when they came as one unit."""

LINGER_S = 0.1
"""With durability `enqueue`, how long a transaction waits for company: part of the loss window."""

REST_S = 10.0
"""How often a writer says that it is alive, and looks whether the database has grown too large."""

BREATH_S = 0.05
"""Pause between two steps of making it smaller."""

UNSEEN_MS = 6_000
"""What was counted so long ago has reached the queue: more than the log ever holds it back."""

RETRY_S = 0.25
"""Pause before a failed transaction is tried again."""

_log = logging.getLogger("goldcheck.audit")

Settled = Callable[[int, bool], None]
"""Told the number of the last unit of a transaction and whether it is on disk; called from the thread."""


class Writer:
    """Writes until `close`. A database fault is remembered in `fault` and ends with the next commit."""

    def __init__(
        self,
        store: Store,
        queue: UnitQueue,
        sampler: Sampler,
        observer: LogObserver | None,
        settled: Settled,
    ) -> None:
        self._store = store
        self._queue = queue
        self._sampler = sampler
        self._observer = observer
        self._settled = settled
        self._sequence = 0
        self._give_up_at = float("inf")
        self._closing = threading.Event()
        self._emptied = False
        self._rested_until = time.monotonic() + REST_S
        self._is_untidy = False
        self._thread = threading.Thread(target=self._run, name="verdict-log", daemon=True)
        self.fault: tuple[FaultKind, str] | None = None
        self.opened = False
        self.failures = 0

    def start(self) -> None:
        """Begin; the database is opened in the thread."""
        self._thread.start()

    def close(self, deadline_s: float) -> bool:
        """Write what is queued and end, within `deadline_s`; False if something had to be left unwritten."""
        self._give_up_at = time.monotonic() + deadline_s
        self._queue.close()
        self._closing.set()
        self._thread.join(deadline_s)
        return self._emptied

    def _run(self) -> None:
        try:
            self._work()
        finally:
            # Also reached by an error that nobody foresaw, which must not go unnoticed.
            self.fault = ("unavailable", "the writer has ended")

    def _work(self) -> None:
        self._persist(self._open)
        wait_s = REST_S
        while not self._queue.is_drained:
            units = self._queue.take(wait_s)
            if units and not self._write(units):
                break
            if time.monotonic() >= self._rested_until:
                more = self._persist(self._tidy) and self._is_untidy
                wait_s = BREATH_S if more else REST_S
                self._rested_until = time.monotonic() + wait_s
        else:
            self._emptied = True
            if self._store.is_open:
                self._persist(self._store.mark_closed)
        self._store.close()

    def _write(self, units: list[Unit]) -> bool:
        """Write units in one transaction, however long it takes; False if `close` gave up on it."""
        transaction = self._encode(units)
        if not self._persist(lambda: self._commit(transaction)):
            return False
        self._queue.release(units)
        self._tell(transaction)
        self._settled(units[-1].number, True)
        return True

    def _tidy(self) -> None:
        """Say that this writer is alive, and remove a little of what is too much."""
        if not self._store.is_open:
            self._open()
        self._store.mark_alive(self._queue.oldest_ms() - UNSEEN_MS)
        self._is_untidy = self._store.tidy()

    def _open(self) -> None:
        self._store.open()
        self.opened = True

    def _commit(self, transaction: Transaction) -> None:
        if not self._store.is_open:
            self._open()
        began = time.perf_counter()
        try:
            self._store.write(transaction)
        except (DataError, IntegrityError, InterfaceError, ProgrammingError, OverflowError) as error:
            if isinstance(error, DBAPIError) and error.connection_invalidated:
                raise
            # Not the database's fault but a record's: it must not stop all that come after it.
            _log.exception("records that the database refuses are dropped; their verdicts stay counted")
            transaction.drop_rows()
            self._store.write(transaction)
        if self._observer is not None:
            self._observer.committed(time.perf_counter() - began, self._store.size_bytes())

    def _persist(self, act: Callable[[], None]) -> bool:
        """Do `act` until it succeeds or the deadline of `close` has passed; says whether it succeeded."""
        while True:
            try:
                act()
            except DATABASE_ERRORS as error:
                self._note_fault(error)
            else:
                if self.fault is not None:
                    _log.warning("the verdict log writes again")
                    self.fault = None
                return True
            if time.monotonic() >= self._give_up_at:
                return False
            if self._closing.wait(RETRY_S):
                time.sleep(RETRY_S / 5)

    def _note_fault(self, error: Exception) -> None:
        kind, message = fault(error)
        if self.fault is None:
            _log.error("the verdict log cannot write: %s: %s", kind, message)
        self.fault = (kind, f"{kind}: {message}")
        self.failures += 1
        self._store.close()
        if self._observer is not None:
            self._observer.failed(kind)
        self._settled(self._queue.last_number, False)

    def _encode(self, units: list[Unit]) -> Transaction:
        self._sequence += 1
        transaction = Transaction(self._sequence, self._queue.oldest_ms() - UNSEEN_MS)
        encoder = Encoder()
        for unit in units:
            for cell, n in unit.counts.items():
                _of(transaction, cell).verdicts += n
            for group, count in unit.groups.items():
                transaction.groups.setdefault(group, GroupCount()).add(count)
            for cell, n in unit.shed.items():
                _of(transaction, cell).shed += n
            for record in unit.records:
                if self._has_fallen_out(record):
                    continue
                try:
                    encoder.add(record)
                except (TypeError, ValueError, RecursionError):
                    _log.exception("verdict %s cannot be stored", record.id)
                    _of(transaction, record.cell).shed += 1
                else:
                    _of(transaction, record.cell).sampled += 1
        transaction.rows = encoder.rows
        return transaction

    def _has_fallen_out(self, record: VerdictRecord) -> bool:
        """Whether smaller draws have come since it was selected, so that it need not be written."""
        if record.cell.stratum.name == CANARY_ACCEPT:
            return False
        return not self._sampler.holds(record.cell, record.draw)

    def _tell(self, transaction: Transaction) -> None:
        if self._observer is None:
            return
        for (stratum, _), count in transaction.counts.items():
            self._observer.recorded(stratum.name, "sampled", count.sampled)
            self._observer.recorded(stratum.name, "shed", count.shed)
            self._observer.recorded(stratum.name, "skipped", count.verdicts - count.sampled - count.shed)
        self._observer.queued(self._queue.records)


def _of(transaction: Transaction, cell: Cell) -> Count:
    return transaction.counts.setdefault(cell, Count())
