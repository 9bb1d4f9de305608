"""Which of the texts is the program, and its code object (RULES R2, R3)."""

from __future__ import annotations

import marshal
import symtable
import warnings
from types import CodeType
from typing import Any, NamedTuple

from sandbox.child import setup_text
from sandbox.child.surroundings import path_of, remember_lines

FILE_NAME = "main.py"


class UnusableError(Exception):
    """There is nothing to run; `state` is `no_code` or `compile_error`."""

    def __init__(self, state: str, message: str) -> None:
        super().__init__(message)
        self.state = state
        self.message = message


class Program(NamedTuple):
    """A program that compiled. `has_setup`: the setup text was put before it, as a body needs its head.
    `warned`: the compiler had something to say.
    """

    source: str
    code: CodeType
    has_setup: bool = False
    warned: bool = False

    def compiled(self, most_bytes: int) -> bytes:
        """For `choose` in another run; empty if that takes more bytes, or would not do the same there."""
        if not most_bytes or self.warned:
            return b""
        try:
            compiled = marshal.dumps(tuple(self))
        except ValueError:  # nested too deeply
            return b""
        if len(compiled) > most_bytes or not _is_same(self.code, marshal.loads(compiled)[1]):  # noqa: S302
            return b""
        return compiled


def _is_same(one: Any, other: Any) -> bool:
    """Whether constant sets go through their items in the same order; all else is as it was."""
    if isinstance(one, CodeType):
        return _is_same(one.co_consts, other.co_consts)
    if isinstance(one, frozenset) and list(one) != list(other):
        return False
    return not isinstance(one, tuple | frozenset) or all(map(_is_same, one, other))


def choose(job: dict[str, Any]) -> Program:
    """Pick and compile the program of a job; raises UnusableError.

    job: `texts` in order of preference, `fenced`, `entry_point` to look for or None, `setup`, `keep` if it
    will be asked for `compiled`; or that of another run (docs/decisions/0026-compiled-once.md).
    """
    if "compiled" in job:
        return _again(job["compiled"])
    return _noting_warnings(job) if "keep" in job else _chosen(job)


def _again(compiled: bytes) -> Program:
    """What another run has compiled, if there its file lay where it lies here."""
    program = Program(*marshal.loads(compiled))  # noqa: S302 - in the sandbox, by the sandbox
    if program.code.co_filename == path_of(FILE_NAME):
        return program
    return program._replace(code=compile_source(program.source))


def _noting_warnings(job: dict[str, Any]) -> Program:
    noted: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as noted:
            program = _chosen(job)
    finally:
        for one in noted:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno)
    return program._replace(warned=bool(noted))


def _chosen(job: dict[str, Any]) -> Program:
    texts: list[str] = job["texts"]
    if not job["fenced"]:
        return _first_that_is_a_program(texts, job["setup"], job["entry_point"])
    text = _preferred(texts, job["entry_point"] if job["prefer_entry_point"] else None)
    if is_blank(text):
        raise UnusableError("no_code", "the code block holds no code")
    return _compiled(text, job["setup"], job["entry_point"])


def is_blank(text: str) -> bool:
    """Nothing but blanks and comments."""
    return all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines())


def defines(source: str, name: str) -> bool:
    """Whether running `source` as a module can bind `name` there, or as a method of a class `Solution`."""
    try:
        module = symtable.symtable(source, FILE_NAME, "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return False
    return _binds(module, name) or any(
        child.get_type() == "class" and child.get_name() == "Solution" and _binds(child, name)
        for child in module.get_children()
    )


def _binds(table: symtable.SymbolTable, name: str) -> bool:
    try:
        symbol = table.lookup(name)
    except KeyError:
        return False
    return symbol.is_assigned() or symbol.is_imported()


def _preferred(texts: list[str], entry_point: str | None) -> str:
    if entry_point is not None and len(texts) > 1:
        for text in texts:
            if defines(text, entry_point):
                return text
    return texts[0]


def _first_that_is_a_program(texts: list[str], setup: str, entry_point: str | None) -> Program:
    for text in texts:
        if not is_blank(text):
            try:
                return _compiled(text, setup, entry_point)
            except UnusableError:
                continue
    raise UnusableError("no_code", "the response is no program and holds no code block")


def _compiled(text: str, setup: str, entry_point: str | None) -> Program:
    needs_setup = bool(setup and entry_point) and not defines(text, str(entry_point))
    if needs_setup and not (_is_whole(text) and _is_announced(str(entry_point), setup)):
        whole = f"{setup.rstrip()}\n{text}"
        if defines(whole, str(entry_point)):
            try:
                return Program(whole, compile_source(whole), has_setup=True)
            except UnusableError:
                pass
    return Program(text, compile_source(text))


def _is_whole(text: str) -> bool:
    """Whether it is a module by itself, and so no body of a head in a setup."""
    try:
        compile_source(text)
    except UnusableError:
        return False
    return True


def _is_announced(name: str, setup: str) -> bool:
    return bool(setup_text.announced(setup).names & {name, f"Solution.{name}"})


def compile_source(source: str, file_name: str = FILE_NAME) -> CodeType:
    """Compile a module; raises UnusableError, whatever the compiler trips over."""
    path = path_of(file_name)
    remember_lines(path, source)
    try:
        return compile(source.removeprefix("\ufeff"), path, "exec", dont_inherit=True)
    except SyntaxError as error:
        raise UnusableError("compile_error", f"{type(error).__name__}: {error}") from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as error:
        raise UnusableError("compile_error", f"{type(error).__name__}: {error}") from None
