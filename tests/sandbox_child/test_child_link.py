"""The conversation of test code and candidate, with a candidate that lies."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.child.link import Link, LostError


def frame(message: Any) -> bytes:
    """One message as it is sent."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return len(body).to_bytes(4, "big") + body


def told(**fields: Any) -> dict[str, Any]:
    """A message with the parts that every one has."""
    return {"classes": [], "shared": {}, "gone": [], **fields}


class Liar:
    """The other end: says what it is told to and reads what comes."""

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._file = end.makefile("rb")

    def say(self, *messages: Any) -> None:
        """Send messages, or raw bytes as one."""
        self._end.sendall(b"".join(map(frame, messages)))

    def hear(self) -> Any:
        """The next message."""
        return json.loads(self._file.read(int.from_bytes(self._file.read(4), "big")))

    def leave(self) -> None:
        """Close this end."""
        self._file.close()
        self._end.close()


@contextmanager
def conversation() -> Iterator[tuple[Link, Liar]]:
    """The deciding end of a link, and a liar at the other."""
    ours, theirs = socket.socketpair()
    ours.settimeout(10)
    liar = Liar(theirs)
    link = Link(ours.detach(), decides=True)
    try:
        yield link, liar
    finally:
        liar.leave()
        link.close()


ELEMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["list", "builtins", "int", "ff", "x"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*"ibtzva@npowke", "name", "bases"]), inner, max_size=2)
    ),
    max_leaves=8,
)
FIELDS = {"value": ELEMENTS, "raised": st.booleans(), "ask": ELEMENTS, "args": ELEMENTS, "kwargs": ELEMENTS}
PARTS = {"shared": st.dictionaries(st.sampled_from(["1", "2", "x"]), ELEMENTS, max_size=2), "gone": ELEMENTS}
MESSAGES = st.binary(max_size=40) | ELEMENTS | st.fixed_dictionaries(PARTS, optional=FIELDS)


@given(st.lists(MESSAGES, min_size=1, max_size=3))
@settings(max_examples=50)
def test_any_talk_gives_a_value_or_ends_the_run(messages: list[Any]) -> None:
    """Every message is met with a value, an exception of the program's, or the one error of the link."""
    with conversation() as (link, liar):
        liar.say(*messages)
        liar.leave()
        ending = _ending(link)
        assert ending is None or isinstance(ending, LostError) or any(ending is each for each in link.raised)


def _ending(link: Link) -> BaseException | None:
    """What a request raises."""
    try:
        link.request("call", (1,))
    except BaseException as error:
        return error
    return None


def test_no_import_of_the_candidate_ends_the_test_process(tmp_path: Path, monkeypatch: Any) -> None:
    """A module that exits with status 0 as it is imported is not there, rather than a pass."""
    (tmp_path / "sndhdr_exits.py").write_text("raise SystemExit(0)")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "stdlib_module_names", sys.stdlib_module_names | {"sndhdr_exits"})
    with conversation() as (link, liar):
        liar.say(told(value={"n": ["sndhdr_exits", ""]}))
        with pytest.raises(LostError):
            link.request("call", (1,))


PLAIN_CLASS = {
    "name": "C",
    "module": "m",
    "bases": [],
    "specials": ["__len__"],
    "methods": ["go", "__eq__"],
    "hashable": True,
    "plain": None,
    "real": None,
}


def _described(**changes: Any) -> dict[str, Any]:
    return {**PLAIN_CLASS, **changes}


OBJECT: dict[str, Any] = {"p": [7, {"k": 0}]}
NO_CAUSE = {"cause": None, "context": None, "quiet": False}
ERROR = {"e": [7, {"class": {"k": 0}, "args": [], "attributes": {}, "text": "x"} | NO_CAUSE]}
NEVER_EQUAL = [
    (PLAIN_CLASS, OBJECT),
    (_described(methods=["__eq__", "__ne__"], specials=["__eq__", "__ne__", "__hash__"]), OBJECT),
    (_described(real=["builtins", "int"]), OBJECT),
    (_described(real=["numbers", "Rational"]), OBJECT),
    (_described(real=["decimal", "Decimal"]), OBJECT),
    (_described(bases=[{"n": ["builtins", "int"]}]), OBJECT),
    (PLAIN_CLASS, {"k": 0}),
    (_described(bases=[{"n": ["builtins", "type"]}]), {"k": 0}),
    (_described(bases=[{"n": ["builtins", "ValueError"]}]), ERROR),
    (PLAIN_CLASS, {"t": [2]}),
    (PLAIN_CLASS, {"@": 1}),
    (PLAIN_CLASS, {"n": ["builtins", "int"]}),
    (PLAIN_CLASS, {"v": ["decimal.Decimal", ["3"]]}),
]


@pytest.mark.parametrize(("described", "element"), NEVER_EQUAL, ids=range(len(NEVER_EQUAL)))
def test_nothing_that_is_told_equals_a_number(described: Any, element: Any) -> None:
    """Whatever a class claims of itself, its objects are not 2, nor True, nor an int that is."""
    with conversation() as (link, liar):
        liar.say(told(classes=[[0, described]], value=element))
        try:
            value = link.request("call", (1,))
        except LostError:
            return
        liar.leave()
        assert not value == 2  # noqa: SIM201 - both operators are meant
        assert not 2 == value  # noqa: SIM201, SIM300
        assert value != 2
        assert value not in (2, [2], "2", None)


NOT_NAMED = [
    ["os", "system"],
    ["os", "_exit"],
    ["sys", "exit"],
    ["builtins", "exec"],
    ["builtins", "eval"],
    ["builtins", "open"],
    ["unittest.case", "SkipTest"],
    ["unittest", ""],
    ["sandbox.child.link", ""],
    ["posix", "kill"],
    ["winreg", ""],
    ["no_such_module", ""],
    ["builtins", "__import__"],
    ["builtins", "getattr"],
    ["builtins", "setattr"],
    ["builtins", "print"],
    ["random", "_os"],
    ["random", "_os.sys.exit"],
    ["random", "_os._exit"],
    ["random", "_inst"],
    ["re", "_cache"],
    ["json", "codecs.open"],
    ["heapq", "__builtins__"],
    ["copy", "types.FunctionType.__globals__"],
    ["typing", "get_type_hints"],
    ["collections", "namedtuple"],
    ["functools", "singledispatch"],
    ["test.__main__", ""],
    ["venv.__main__", "rc"],
    ["this", ""],
    ["idlelib.idle", ""],
    [1, 2],
]


@pytest.mark.parametrize("name", NOT_NAMED, ids=str)
def test_what_does_something_cannot_be_named(name: list[Any]) -> None:
    """The candidate names types and functions that only compute; for the rest the run ends."""
    with conversation() as (link, liar):
        liar.say(told(value={"n": name}))
        with pytest.raises(LostError):
            link.request("call", (1,))


NO_EXPRESSIONS = [
    ["made", "sympy.core.sympify", "sympify", [["symbol", "x", {}]]],
    ["made", "sympy.parsing.sympy_parser", "parse_expr", []],
    ["made", "os", "system", [["symbol", "x", {}]]],
    ["made", "sympy.core.add", "Add", ["__import__('os')._exit(0)"]],
    ["made", "sympy.core.add", "Add", [{"n": ["os", ""]}]],
    ["matrix", "sympy.matrices.dense", "MutableDenseMatrix", 1, 1, ["__import__('os')._exit(0)"]],
    ["function", "f", ["x"]],
    ["rational", "1 + 1", "1"],
    ["rational", 1, 2],
    ["unknown"],
    [],
    "x",
]


@pytest.mark.parametrize("element", NO_EXPRESSIONS, ids=range(len(NO_EXPRESSIONS)))
def test_no_text_becomes_an_expression(element: Any) -> None:
    """Classes of sympy and their arguments make expressions; functions, texts and other classes do not."""
    with conversation() as (link, liar):
        liar.say(told(value={"y": element}))
        with pytest.raises(LostError):
            link.request("call", (1,))


class Exported:
    """An object of the test code."""

    value = 3

    def method(self) -> int:
        """Just a value."""
        return 4


REFUSED = [
    *(("get", name) for name in ("__globals__", "__class__", "_private", "gi_frame", "f_globals")),
    *(("special", name) for name in ("__getattribute__", "__reduce_ex__", "__setattr__")),
    ("method", "__init__"),
    ("delete", "__doc__"),
    ("exec", "x"),
]


@pytest.mark.parametrize(("operation", "name"), REFUSED)
@pytest.mark.parametrize("target", [lambda: 1, Exported(), Exported], ids=["function", "object", "class"])
def test_inside_of_the_test_process_is_not_shown(operation: str, name: str, target: Any) -> None:
    """Of what the test code hands over, only its public side can be reached."""
    reply = _answer_to(target, operation, name)
    assert reply["raised"]


def test_classes_and_functions_of_the_test_cannot_be_changed() -> None:
    """Neither set nor deleted; attributes of plain objects can."""
    for target in (Exported, lambda: 1):
        assert _answer_to(target, "set", "value", 9)["raised"]
        assert _answer_to(target, "delete", "value")["raised"]
    assert not _answer_to(Exported(), "set", "value", 9).get("raised")
    assert Exported.value == 3


def test_only_what_was_handed_over_can_be_operated_on() -> None:
    """No number that was not given out, nothing named, no value as a target."""
    for element in ({"o": 99}, {"n": ["builtins", "int"]}, {"n": ["operator", "setitem"]}, 5, {"t": []}):
        with conversation() as (link, liar):
            liar.say(told(ask="call", args=[element], kwargs={}), told(value=1))
            try:
                assert link.request("call", (Exported(),)) == 1
            except LostError:
                continue
            liar.hear()
            assert liar.hear()["raised"]


def _answer_to(target: Any, operation: str, *args: Any) -> Any:
    """What the candidate gets for an operation on something that it was handed."""
    with conversation() as (link, liar):
        liar.say(told(ask=operation, args=[{"o": 0}, *args], kwargs={}), told(value=None))
        link.request("call", (target,))
        liar.hear()
        return liar.hear()


def test_shared_containers_follow_changes_of_both_sides() -> None:
    """Two honest ends: a list that both hold, and that either changes, stays one list."""
    left, right = socket.socketpair()
    deciding, serving = Link(left.detach(), decides=True), Link(right.detach(), decides=False)
    kept: list[list[Any]] = []
    serving.operations.names = lambda _: {"keep": kept.append, "change": lambda: kept[0].append({"b": 2})}
    thread = threading.Thread(target=serving.serve)
    thread.start()
    try:
        names = deciding.request("names", ("keep", "change"))
        mine: list[Any] = [1]
        names["keep"](mine)
        mine.append((2, [3]))
        names["change"]()
        assert mine == [1, (2, [3]), {"b": 2}]
        assert kept == [mine]
        mine[1][1].append(4)
        names["change"]()
        assert kept[0][1] == (2, [3, 4])
        assert mine[-1] == {"b": 2}
    finally:
        deciding.close()
        thread.join()
        serving.close()
