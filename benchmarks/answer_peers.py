"""The peers of the `math` verifier, run in the environment of the benchmark and never beside the service.

python benchmarks/answer_peers.py judge math-verify     # items as JSON lines in, verdicts as JSON lines out
python benchmarks/answer_peers.py judge prm800k-style
python benchmarks/answer_peers.py suite DIRECTORY       # Math-Verify's own test pairs as JSON lines
"""

from __future__ import annotations

import importlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

STRICT_OFF = "False"


def math_verify(response: str, truth: str) -> bool:
    """Math-Verify with its defaults, the ground truth put between dollar signs."""
    from math_verify import parse, verify

    return bool(verify(parse(f"${truth}$"), parse(response)))


def prm800k_style(response: str, truth: str) -> bool:
    """The last box, a comparison of normalised strings, then sympy's parser and `simplify`."""
    given = _normal(_last_box(response))
    expected = _normal(truth)
    if not given:
        return False
    return given == expected or _sympy_equal(given, expected)


def _last_box(response: str) -> str:
    start = response.rfind("\\boxed{")
    if start < 0:
        return ""
    depth = 0
    for position in range(start + 6, len(response)):
        depth += (response[position] == "{") - (response[position] == "}")
        if depth == 0:
            return response[start + 7 : position]
    return ""


def _normal(text: str) -> str:
    text = re.sub(r"\\left|\\right|\\[!,;:]|\\text\{\s*[a-zA-Z ]+\}|\^\\circ|\\\$|\\%|%|\$", "", text)
    text = text.replace("dfrac", "frac").replace("tfrac", "frac").replace(" ", "")
    text = re.sub(r"\\frac(\d)(\d)", r"\\frac{\1}{\2}", text)
    text = re.sub(r"\\sqrt(\w)", r"\\sqrt{\1}", text)
    return re.sub(r"^[a-z]=", "", text).rstrip(".")


def _sympy_equal(given: str, expected: str) -> bool:
    from sympy import simplify
    from sympy.parsing.sympy_parser import parse_expr

    if any(len(set(re.findall("[a-zA-Z]", text))) > 12 or "^{" in text for text in (given, expected)):
        return False
    try:
        plain = [
            re.sub(r"\\frac\{(.*?)\}\{(.*?)\}", r"((\1)/(\2))", text)
            .replace("\\sqrt{", "sqrt(")
            .replace("\\pi", "pi")
            .replace("^", "**")
            .replace("{", "(")
            .replace("}", ")")
            for text in (given, expected)
        ]
        return bool(simplify(parse_expr(f"({plain[0]})-({plain[1]})")) == 0)
    except Exception:
        return False


def judge_lines(peer: Callable[[str, str], bool]) -> None:
    """Judge items from standard input until it ends."""
    for line in sys.stdin:
        response, truth = json.loads(line)
        begin = time.process_time()
        try:
            correct = peer(response, truth)
        except Exception:
            correct = False
        print(json.dumps([correct, time.process_time() - begin]), flush=True)


def suite(directory: Path) -> Iterator[dict[str, Any]]:
    """The pairs of Math-Verify's tests that carry over: a gold, a prediction, and 0 or 1 expected."""
    sys.path[:0] = [str(directory), str(directory / "src")]
    for path in sorted((directory / "tests").glob("test_*.py")):
        module = importlib.import_module(f"tests.{path.stem}")
        for name, function in vars(module).items():
            if name.startswith("test_"):
                for mark in getattr(function, "pytestmark", []):
                    yield from _rows(path.stem, name, mark)


def _rows(module: str, name: str, mark: Any) -> Iterator[dict[str, Any]]:
    if mark.name != "parametrize":
        return
    names = mark.args[0]
    names = [part.strip() for part in names.split(",")] if isinstance(names, str) else list(names)
    for values in mark.args[1]:
        row = dict(zip(names, values if len(names) > 1 else (values,), strict=False))
        expected = row.get("expected", row.get("result"))
        texts = isinstance(row.get("gold"), str) and isinstance(row.get("pred"), str)
        if texts and expected in (0, 1) and str(row.get("strict")) != STRICT_OFF:
            yield {
                "test": f"{module}.{name}",
                "gold": row["gold"],
                "pred": row["pred"],
                "expected": int(expected),
            }


if __name__ == "__main__":
    if sys.argv[1] == "suite":
        for found in suite(Path(sys.argv[2]).resolve()):
            print(json.dumps(found))
    else:
        judge_lines({"math-verify": math_verify, "prm800k-style": prm800k_style}[sys.argv[2]])
