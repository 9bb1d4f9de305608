"""The conversation of the two processes of an assert run: one asks, the other answers, and may ask back."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sandbox.bare import socket
from sandbox.child.objects import Objects
from sandbox.child.operations import Operations

MAX_MESSAGE_BYTES = 64 << 20
_to_text = json.JSONEncoder(check_circular=False, separators=(",", ":")).encode


class UnsupportedTestsError(BaseException):
    """The test code does what cannot be carried to the other process; no `except Exception` may hide it."""


class LostError(BaseException):
    """The other process is gone or talks nonsense; nothing that the test code catches may hide it."""


class Link:
    """One end. decides: this is the side of the test code, which must not trust the other."""

    def __init__(self, fd: int, *, decides: bool) -> None:
        self._socket = socket.socket(fileno=fd)
        self._file = open(fd, "rb", closefd=False)  # noqa: SIM115 - pathlib is not loaded here
        self._owner_pid = os.getpid()
        self.objects = Objects(self, int(decides), trusts=not decides)
        self.operations = Operations(self.objects, guarded=decides)
        self.names: frozenset[str] = frozenset()
        self.named: frozenset[type] = frozenset()
        self._trusts = not decides
        self.lost: str | None = None
        self.unsupported: str | None = None
        self.take_output: Callable[[], str] = str
        self.raised: list[BaseException] = []
        self._turn = threading.RLock()
        self._may_ask = True

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

    def asks_for(self, word: str) -> bool:
        """Whether the text of the test code has this word."""
        return word in self.names

    def means_class(self, kind: type) -> bool:
        """Whether the test code itself names the class or a base of it, and so means its methods."""
        return self._trusts or not self.named.isdisjoint(kind.__mro__)

    def request(self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> Any:
        """Ask, answer what is asked in between, and give the result or raise it."""
        with self._turn:
            if self.lost is not None or os.getpid() != self._owner_pid or not self._may_ask:
                raise LostError(self.lost or "asked out of turn")
            ends = _ends_iteration(operation, args) or "StopIteration" in self.names
            self._send({"ask": operation, **self._packed(args, kwargs or {})})
            del args, kwargs
            while True:
                message = self._receive()
                if "ask" in message:
                    self._answer(message)
                else:
                    return self._result(message, ends)

    def _packed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        pack = self.objects.wire.pack
        try:
            return {
                "args": [pack(value) for value in args],
                "kwargs": {name: pack(value) for name, value in kwargs.items()},
            }
        except TypeError as error:
            raise self.refuse(f"an argument cannot be carried across: {error}") from None

    def serve(self) -> None:
        """Answer until the other side leaves; threads of the program may only ask while it answers."""
        while True:
            self._may_ask = False
            try:
                message = self._receive()
            except LostError:
                return
            self._may_ask = True
            self._answer(message)

    def close(self) -> None:
        """Leave the conversation; the other side's `serve` then ends."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._file.close()
        self._socket.close()

    def _result(self, message: dict[str, Any], ends_iteration: bool) -> Any:
        try:
            value = self._unpacked(message, lambda: self.objects.wire.unpack(message["value"]))
        except BaseException as fault:
            raise self._lose(f"a reply that cannot be read: {fault!r:.200}") from None
        if not message.get("raised"):
            return value
        error = value if isinstance(value, BaseException) else TypeError("raised what is no exception")
        if isinstance(error, StopIteration) and not ends_iteration:
            # Out of a function it would end the loops of the test code, and pass for an end of their data.
            error = RuntimeError("a function of the program raised StopIteration")
        self.raised.append(error)
        raise error

    def _answer(self, message: dict[str, Any]) -> None:
        """Do what is asked and send the result; locals must not keep containers alive (see `shared`)."""
        try:
            args, kwargs = self._unpacked(message, lambda: self._arguments(message))
        except BaseException as fault:
            raise self._lose(f"a request that cannot be read: {fault!r:.200}") from None
        reply = self._done(str(message["ask"]), args, kwargs)
        del args, kwargs
        if os.getpid() != self._owner_pid:
            os._exit(0)  # a copy of the process that came back from the call too
        with self._turn:
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
        self.objects.learn(message["classes"])
        with shared.taken(message["shared"]):
            if message.get("printed"):
                sys.stdout.write(str(message["printed"]))
            value = unpack()
        shared.forget(message["gone"])
        return value

    def _send(self, message: dict[str, Any]) -> None:
        printed = self.take_output()
        if printed:
            message["printed"] = printed
        shared = self.objects.wire.shared.collect()
        message["classes"] = self.objects.take_descriptions()  # named in the message, or in what is shared
        text = f"{_to_text(message)[:-1]},{shared}}}"
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
            pass  # the same as its end
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


def _ends_iteration(operation: str, args: tuple[Any, ...]) -> bool:
    """Whether StopIteration is the proper end of what is asked."""
    if operation == "special":
        return bool(args[1] == "__next__")
    return operation == "method" and args[1] in ("send", "throw", "__next__")
