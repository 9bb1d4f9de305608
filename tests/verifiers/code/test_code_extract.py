"""Which texts of a response could be its program (RULES R2)."""

from __future__ import annotations

import sys
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.types import Program
from verifiers.code.extract import extract_program, find_blocks

TEXTS = [
    ("plain fence", "a\n```python\nx\n```\nb", ("x\n",)),
    ("any case, more info", "```Python3 title=a\nx\n```", ("x\n",)),
    ("last of the language", "```py\nx\n```\n```python\ny\n```", ("y\n",)),
    ("language before none", "```python\nx\n```\n```\ny\n```", ("x\n",)),
    ("none before other", "```\nx\n```\n```cpp\ny\n```", ("x\n",)),
    ("tildes hold backticks", "~~~python\n```\n~~~", ("```\n",)),
    ("longer fence holds shorter", "````python\n```\nx\n````", ("```\nx\n",)),
    ("a shorter one does not close", "`````python\nx\n````\ny\n`````", ("x\n````\ny\n",)),
    ("a fence with words does not close", "```python\nx\n``` end\ny\n```", ("x\n``` end\ny\n",)),
    ("never closed", "```python\nx\ny", ("x\ny",)),
    ("indented", "- a\n  ```python\n  if x:\n      y\n\n  ```\n", ("if x:\n    y\n\n",)),
    ("less indented inside", "    ```python\n  x\n        y\n    ```", ("x\n    y\n",)),
    ("tabs", "\t```python\n\tif x:\n\t\ty\n\t```", ("if x:\n\ty\n",)),
    ("CRLF", "```python\r\nx\r\ny\r\n```\r\n", ("x\ny\n",)),
    ("byte order marks", "\ufeff```python\n\ufeffx\n```", ("x\n",)),
    ("empty block", "```python\n```", ("",)),
    ("after thinking", "<think>```python\nx\n```</think>```python\ny\n```\n```python\nz\n```", ("z\n",)),
    ("after the last thinking", "</think>a</think>\n```python\nx\n```", ("x\n",)),
    ("no fence at all", "    return 1\n", ("    return 1\n",)),
    ("inline backticks are no fence", "```print(1)```", ("```print(1)```",)),
]


@pytest.mark.parametrize(("response", "texts"), [row[1:] for row in TEXTS], ids=[row[0] for row in TEXTS])
def test_texts(response: str, texts: tuple[str, ...]) -> None:
    """The chosen text is what stands in the block, its fence's indentation taken off."""
    program = extract_program(response, "python")
    assert program is not None
    assert program.texts == texts


@pytest.mark.parametrize(
    "response",
    [
        "",
        "  \n",
        "</think>",
        "<think>```python\nx\n```",
        "</think>x<think>y",
        "```js\nx\n```",
        "a</think>\n ",
    ],
)
def test_nothing_found(response: str) -> None:
    """No text that could be a program."""
    assert extract_program(response, "python") is None


def test_function_calls_get_all_blocks_last_first() -> None:
    """Which one defines the entry point is for the sandbox to say."""
    response = "```python\na\n```\n```\nb\n```\n```py\nc\n```"
    assert extract_program(response, "python", "f") == Program("python", ("c\n", "a\n"), entry_point="f")


def test_raw_takes_the_whole_text_first() -> None:
    """Fences are not looked for; what follows reasoning is the second choice."""
    assert extract_program("```\nx\n```", "python", mode="raw") == Program("python", ("```\nx\n```",), False)
    program = extract_program("<think>a</think>x", "python", mode="raw")
    assert program == Program("python", ("<think>a</think>x", "x"), False)


@given(st.text(alphabet="`~ \n\tpyx<>/think") | st.text())
@settings(max_examples=50)
def test_any_text_is_taken_apart_without_loss(text: str) -> None:
    """No text raises, and every block's lines are lines of the text, less indentation."""
    lines = {line.lstrip(" \t\ufeff") for line in text.split("\n")}
    for block in find_blocks(text):
        assert {line.lstrip(" \t\ufeff") for line in block.text.split("\n")} <= lines | {""}


def _calls(text: str) -> int:
    """Python and C calls made while a response is scanned: work, without a clock."""
    count = 0

    def profile(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(profile)
    try:
        extract_program(text, "python", "f")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    [
        "```\n",
        "```python\n",
        "~~~\n```\n",
        "`",
        "~",
        " ",
        "\n",
        "\t```",
        "<think>",
        "</think>",
        "  ```py\n  x\n  ```\n",
    ],
)
def test_work_is_linear(piece: str) -> None:
    """Twice the text is at most twice the work."""
    once, twice = _calls(piece * 2_000), _calls(piece * 4_000)
    assert twice <= 2 * once + 50
