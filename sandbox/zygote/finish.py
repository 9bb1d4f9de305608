"""Ends a child the way Python ends a script, without taking the warm interpreter apart first.

A whole `Py_FinalizeEx` in a forked child frees thousands of objects that the zygote made, and copies their
pages to do so (docs/decisions/0012-ending-a-run.md). What a program can notice of it is done here in the
same order: waiting for threads, atexit, flushing, the end of the program's own objects. Programs that leave
threads running get the real one.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import sys
import threading
import weakref
from contextlib import suppress
from typing import Any, NoReturn

from sandbox.bare import signal
from sandbox.child import bare_stack

_FLUSH_FAILED = 120
"""What Python exits with when standard output could not be written at the end."""


def finish(error: BaseException | None, streams: tuple[Any, Any, Any]) -> NoReturn:
    """End this process.

    error: what the program ended with, if not by running to its end. streams: the standard streams that it
    was given, whatever it has since put in their place.
    """
    interrupted = isinstance(error, KeyboardInterrupt)
    status = _exit_status(error)
    if error is not None:  # nothing of the program is held by how it ended
        error.__traceback__ = error.__context__ = error.__cause__ = None
    del error
    _flush()  # once at the end of the program, whatever comes of it, and once at that of the interpreter
    if threading.active_count() > 1 or threading._threading_atexits:  # type: ignore[attr-defined]  # noqa: SLF001
        bare_stack.call(threading._shutdown)  # type: ignore[attr-defined]  # noqa: SLF001 - as the interpreter
    bare_stack.call(atexit._run_exitfuncs)  # noqa: SLF001
    if not _flush(tell=True):
        status = _FLUSH_FAILED
    if _thread._count():  # noqa: SLF001 - daemon threads: only the interpreter can stop them
        sys.exit(status)
    if gc.isenabled():
        _collect()  # what is garbage already ends before the rest
    _restore_streams()
    let_go()
    for stream in streams[1:]:  # the interpreter writes out what is left in them as it frees them
        with suppress(BaseException):
            stream.flush()
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status)


def rehearse() -> None:
    """Go through it as far as it changes nothing where no program has run."""
    _exit_status(None)
    _flush()
    threading.active_count()
    _flush(tell=True)
    _thread._count()  # noqa: SLF001
    _restore_streams()
    let_go()
    _flush()


def _exit_status(error: BaseException | None) -> int:
    if error is None:
        return 0
    if isinstance(error, SystemExit):
        return _system_exit_status(error.code)
    if not isinstance(error, KeyboardInterrupt):  # which has been shown
        sys.excepthook(type(error), error, error.__traceback__)
    return 1


def _system_exit_status(code: Any) -> int:
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF
    with suppress(Exception):  # as the interpreter does: the status stands, the text is lost
        sys.stderr.write(str(code))
    with suppress(Exception):
        sys.stderr.write("\n")
    return 1


def _flush(*, tell: bool = False) -> bool:
    """Flush standard output and error; False when that failed. tell: say so of standard output."""
    good = True
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name, None)
        if stream is None or _is_closed(stream):
            continue
        try:
            stream.flush()
        except BaseException as error:  # the stream may be any object of the program's
            good = False
            if tell and name == "stdout":
                _tell(stream, error)
    return good


def _tell(stream: Any, error: BaseException) -> None:
    with suppress(BaseException):
        sys.stderr.write(f"Exception ignored in: {stream!r}\n{type(error).__name__}: {error}\n")


def _is_closed(stream: Any) -> bool:
    """Whether it says so; one that cannot tell is not, as for the interpreter."""
    with suppress(BaseException):
        return bool(stream.closed)
    return False


def _restore_streams() -> None:
    """Finalizers print to the original streams; what stood in for them ends before the program's globals."""
    for name in ("stdin", "stdout", "stderr"):
        setattr(sys, name, getattr(sys, f"__{name}__", None))


def let_go() -> None:
    """Drop the program's module: its files are flushed and its finalizers run, with all globals in place.

    Only where something keeps the module, as a module that has imported it does, are they taken away.
    """
    for name in ("last_type", "last_value", "last_traceback", "last_exc"):
        sys.__dict__.pop(name, None)
    main = sys.modules.pop("__main__", None)
    kept = None if main is None else weakref.ref(main)
    del main
    _collect()
    module = None if kept is None else kept()
    if module is not None:
        names = vars(module)
        private = [name for name in names if name.startswith("_") and not name.startswith("__")]
        for name in [*private, *names]:  # the interpreter's own order
            if name != "__builtins__":
                names[name] = None
        _collect()


def mark() -> None:
    """In a zygote: nothing made so far is any program's."""
    _marked[:] = [gc.get_stats()[2]["collections"]]


_marked = [0]


def _collect() -> None:
    """Collect all that the program has made.

    A whole collection also empties the interpreter's lists of free objects, and copies the pages of those
    that the zygote has made. As long as the older generations hold nothing, the younger are all there is.
    """
    _, middle, old = gc.get_count()
    empty = not old and gc.get_stats()[2]["collections"] == _marked[0]
    gc.collect((1 if middle else 0) if empty else 2)
