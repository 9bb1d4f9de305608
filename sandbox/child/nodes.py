"""Linked lists and binary trees as LeetCode writes them: arrays outside, `ListNode` and `TreeNode` inside."""

from __future__ import annotations

import collections
import types
import typing
from collections.abc import Callable
from typing import Any

_MAX_NODES = 2_000_000


class ListNode:
    """A node of a linked list."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:  # noqa: A002 - LeetCode's own name
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val = val
        self.left = left
        self.right = right


NODE_CLASSES = {"ListNode": ListNode, "TreeNode": TreeNode}
Convert = Callable[[Any], Any]


class NodeSignature:
    """How a function's annotations ask for its arguments and its result to be converted."""

    def __init__(self, function: Callable[..., Any], namespace: dict[str, Any]) -> None:
        self._namespace = namespace
        annotations = _annotations(function)
        names = set(_mentioned(annotations.values()))
        self.parameters: dict[str, Convert] = {}
        self.result: Convert | None = None
        self._names: list[str] = []
        if names:
            self.result = self._converter(annotations.pop("return", None), _from_node)
            found = {name: self._converter(note, _to_node) for name, note in annotations.items()}
            self.parameters = {name: convert for name, convert in found.items() if convert is not None}
            self._names = _parameter_names(function)

    def arguments(self, args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Arguments with arrays made into nodes where the annotations ask for them."""
        if not self.parameters:
            return args, kwargs
        names = self._names
        args = [self.parameters.get(name, _same)(value) for name, value in zip(names, args, strict=False)] + (
            args[len(names) :]
        )
        return args, {name: self.parameters.get(name, _same)(value) for name, value in kwargs.items()}

    def value(self, result: Any) -> Any:
        """The result with nodes made into arrays where the annotation says so."""
        return self.result(result) if self.result is not None else result

    def _converter(self, note: Any, direction: Callable[[str, type], Convert]) -> Convert | None:
        """What to do with a value of this annotation: a node, or a list of such, or nothing (None)."""
        if isinstance(note, str | typing.ForwardRef):
            text = note if isinstance(note, str) else note.__forward_arg__
            try:
                note = eval(text, self._namespace)  # noqa: S307 - the program's own annotation, in its process
            except Exception:
                return None
            return self._converter(note, direction) if not isinstance(note, str) else None
        origin = typing.get_origin(note)
        if origin in (typing.Union, types.UnionType):
            found = [self._converter(part, direction) for part in typing.get_args(note)]
            return next((convert for convert in found if convert is not None), None)
        if origin in (list, collections.abc.Sequence, collections.abc.Iterable):
            inner = self._converter(typing.get_args(note)[0], direction)
            return None if inner is None else lambda items: [inner(item) for item in items]
        for name in NODE_CLASSES:
            if isinstance(note, type) and note.__name__ == name:
                return direction(name, note)
        return None


def _same(value: Any) -> Any:
    return value


def _annotations(function: Callable[..., Any]) -> dict[str, Any]:
    if hasattr(function, "__wrapped__"):
        import inspect

        function = inspect.unwrap(function)
    found = getattr(function, "__annotations__", None)
    return dict(found) if isinstance(found, dict) else {}


def _parameter_names(function: Callable[..., Any]) -> list[str]:
    import inspect  # which takes milliseconds, and is seldom needed

    return list(inspect.signature(function).parameters)


def _mentioned(notes: Any) -> list[str]:
    text = " ".join(note if isinstance(note, str) else repr(note) for note in notes)
    return [name for name in NODE_CLASSES if name in text]


def _to_node(name: str, node_class: type) -> Convert:
    build = _list_from_array if name == "ListNode" else _tree_from_array
    return lambda items: build(node_class, items) if isinstance(items, list) else items


def _from_node(name: str, node_class: type) -> Convert:
    del node_class
    return _array_from_list if name == "ListNode" else _array_from_tree


def _list_from_array(node_class: type, items: list[Any]) -> Any:
    head = None
    for item in reversed(items):
        node = node_class(item)
        node.next = head
        head = node
    return head


def _array_from_list(head: Any) -> list[Any]:
    items: list[Any] = []
    while head is not None:
        items.append(head.val)
        head = head.next
        if len(items) > _MAX_NODES:
            raise ValueError("the linked list has no end")
    return items


def _tree_from_array(node_class: type, items: list[Any]) -> Any:
    """Level order; None stands for a missing child, whose own children are not listed."""
    if not items or items[0] is None:
        return None
    values = iter(items)
    root = node_class(next(values))
    waiting = collections.deque([root])
    while waiting:
        parent = waiting.popleft()
        for side in ("left", "right"):
            value = next(values, None)
            child = None if value is None else node_class(value)
            setattr(parent, side, child)
            if child is not None:
                waiting.append(child)
    return root


def _array_from_tree(root: Any) -> list[Any]:
    items: list[Any] = []
    waiting = collections.deque([root])
    while waiting:
        node = waiting.popleft()
        items.append(None if node is None else node.val)
        if node is not None:
            waiting.extend((node.left, node.right))
        if len(items) > _MAX_NODES:
            raise ValueError("the tree has no end")
    while items and items[-1] is None:
        items.pop()
    return items
