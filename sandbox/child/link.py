"""The conversation of the two processes of an assert run: one asks, the other answers, and may ask back."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

from sandbox.child.objects import Objects
from sandbox.child.operations import Operations
from sandbox.child.stubs import UnsupportedTestsError

MAX_MESSAGE_BYTES = 64 << 20
_to_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


class LostError(BaseException):
    """The other process is gone or talks nonsense; nothing that the test code catches may hide it."""


class Link:
    """One end. decides: this is the side of the test code, which must not trust the other."""

    def __init__(self, fd: int, *, decides: bool) -> None:
        self._socket = socket.socket(fileno=fd)
        self._file = self._socket.makefile("rb")
        self._owner_pid = os.getpid()
        self.objects = Objects(self, int(decides), trusts=not decides)
        self.operations = Operations(self.objects, guarded=decides)
        self.names: frozenset[str] = frozenset()
        self.lost: str | None = None
        self.unsupported: str | None = None
        self.take_output: Callable[[], str] = str
        self.raised: list[BaseException] = []

    # What stubs need of their owner.

    def ask(self, operation: str, target: Any, *args: Any, **kwargs: Any) -> Any:
        """Have the other side do something; raises what it raised there."""
        return self.request(operation, (target, *args), kwargs)

    def is_foreign(self, value: Any) -> bool:
        """Whether a value stands for an object of the other side."""
        return self.objects.is_foreign(value)

    def text_of(self, error: BaseException) -> str | None:
        """What `str` gave for an exception over there."""
        return self.objects.text_of(error)

    def may_order(self, kind: type) -> bool:
        """Whether the test code itself names the class, and so means to compare its objects."""
        return kind.__name__ in self.names

    def request(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Ask, answer what is asked in between, and give the result or raise it."""
        if self.lost is not None or os.getpid() != self._owner_pid:
            raise LostError(self.lost or "asked from another process")
        pack = self.objects.wire.pack
        try:
            packed = [pack(value) for value in args]
            named = {name: pack(value) for name, value in (kwargs or {}).items()}
        except (TypeError, ValueError) as error:
            raise self.refuse(f"an argument cannot be carried across: {error}") from None
        self._send({"ask": operation, "args": packed, "kwargs": named})
        del args, kwargs, packed, named
        while True:
            message = self._receive()
            if "ask" in message:
                self._answer(message)
            else:
                return self._result(message)

    def serve(self) -> None:
        """Answer until the other side leaves."""
        while True:
            try:
                message = self._receive()
            except LostError:
                return
            self._answer(message)

    def _result(self, message: dict[str, Any]) -> Any:
        error = None
        try:
            value = self._unpacked(message, lambda: self.objects.wire.unpack(message["value"]))
            if message.get("raised"):
                error = (
                    value if isinstance(value, BaseException) else TypeError("raised what is no exception")
                )
        except _NONSENSE as fault:
            raise self._lose(f"a reply that cannot be read: {fault!r:.200}") from None
        if error is not None:
            self.raised.append(error)
            raise error
        return value

    def _answer(self, message: dict[str, Any]) -> None:
        """Do what is asked and send the result; locals must not keep containers alive (see `shared`)."""
        try:
            args, kwargs = self._unpacked(message, lambda: self._arguments(message))
        except _NONSENSE as fault:
            raise self._lose(f"a request that cannot be read: {fault!r:.200}") from None
        reply = self._done(str(message["ask"]), args, kwargs)
        del args, kwargs
        self._send(reply)

    def _done(self, operation: str, args: list[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        pack = self.objects.wire.pack
        try:
            return {"value": pack(self.operations.do(operation, args, kwargs))}
        except (LostError, UnsupportedTestsError):
            raise
        except BaseException as error:
            try:
                return {"raised": True, "value": pack(error.with_traceback(None))}
            except (TypeError, ValueError) as fault:
                return {"raised": True, "value": pack(TypeError(str(fault)))}

    def _arguments(self, message: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        unpack = self.objects.wire.unpack
        args = [unpack(element) for element in message["args"]]
        return args, {str(name): unpack(element) for name, element in message["kwargs"].items()}

    def _unpacked(self, message: dict[str, Any], unpack: Callable[[], Any]) -> Any:
        shared = self.objects.wire.shared
        shared.update(message["shared"])
        if message.get("printed"):
            sys.stdout.write(str(message["printed"]))
        value = unpack()
        shared.forget(message["gone"])
        return value

    def _send(self, message: dict[str, Any]) -> None:
        printed = self.take_output()
        if printed:
            message["printed"] = printed
        text = f"{_to_text(message)[:-1]},{self.objects.wire.shared.collect()}}}"
        body = text.encode("ascii")
        if len(body) > MAX_MESSAGE_BYTES:
            raise self._lose("a message that is too large")
        try:
            self._socket.sendall(len(body).to_bytes(4, "big") + body)
        except OSError as error:
            raise self._lose(f"the other process is gone ({error.strerror})") from None

    def _receive(self) -> dict[str, Any]:
        head = body = b""
        try:
            head = self._file.read(4)
            size = int.from_bytes(head, "big")
            body = self._file.read(size) if len(head) == 4 and size <= MAX_MESSAGE_BYTES else b""
        except OSError:
            pass
        if len(head) < 4 or not body or len(body) < size:
            raise self._lose("the other process has ended")
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise self._lose("a message that is none")
        return message

    def _lose(self, why: str) -> LostError:
        self.lost = why
        return LostError(why)

    def refuse(self, why: str) -> UnsupportedTestsError:
        """Note that the test code does what cannot be carried across."""
        self.unsupported = why
        return UnsupportedTestsError(why)


_NONSENSE = (KeyError, TypeError, ValueError, AttributeError, LookupError, RecursionError, OverflowError)
