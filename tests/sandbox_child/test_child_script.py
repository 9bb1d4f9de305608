"""A script in the harness does what `python main.py` does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bare import run_case

from sandbox.types import Program, RunStatus, ScriptCase

SAME: dict[str, str] = {
    "streams": """
import sys
for s in (sys.stdin, sys.stdout, sys.stderr):
    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through, s.buffer.raw.mode)
    print(s is getattr(sys, '__' + s.name.strip('<>') + '__'), s.fileno())
""",
    "input": "import sys\nprint(repr(input()), repr(sys.stdin.readline()), repr(sys.stdin.read()))",
    "raw input": "import os, sys\nprint(os.read(0, 3), sys.stdin.buffer.read())",
    "open descriptor": "print(open(0).read())",
    "iterate": "import sys\nprint([line for line in sys.stdin])",
    "undecodable": "import sys\nprint(ascii(sys.stdin.read()))",
    "main": "print(__name__, __builtins__.__name__, __doc__, __spec__, sorted(globals()))",
    "argv": "import sys\nprint(sys.argv, sys.path[0] == __import__('os').getcwd())",
    "import main": "import __main__\nx = 5\nprint(__main__.x)",
    "module of a class": "class A: pass\nprint(A.__module__, A)",
    "pickle": "import pickle\nclass A: pass\nprint(type(pickle.loads(pickle.dumps(A()))) is A)",
    "dataclass": "import dataclasses\n@dataclasses.dataclass\nclass A:\n    x: 'int' = 1\nprint(A())",
    "exit in the middle": "print(1)\nexit()\nprint(2)",
    "exit with a status": "import sys\nprint(1)\nsys.exit(7)",
    "exit with words": "import sys\nsys.exit('no more')",
    "quit": "quit(3)",
    "exit by the system": "import os\nprint(1, flush=True)\nprint(2)\nos._exit(4)",
    "exception": "print(1)\n[][0]",
    "exception in an exception": "try:\n    1 / 0\nexcept ZeroDivisionError:\n    {}['a']",
    "group": "raise ExceptionGroup('g', [ValueError(1), KeyError(2)])",
    "own hook": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1 / 0",
    "broken hook": "import sys\nsys.excepthook = lambda *a: {}['x']\n1 / 0",
    "atexit": "import atexit\natexit.register(print, 'bye')\nprint('hi')",
    "atexit after an exception": "import atexit\natexit.register(print, 'bye')\n1 / 0",
    "threads are joined": """
import threading, time
threading.Thread(target=lambda: (time.sleep(0.05), print('late'))).start()
print('early')
""",
    "error in a thread": """
import threading
t = threading.Thread(target=lambda: 1 / 0)
t.start()
t.join()
print(1)
""",
    "standard output closed": "import sys\nprint(1)\nsys.stdout.close()",
    "standard error": "import sys\nprint('e', file=sys.stderr)\nsys.stderr.write('f')",
    "future": """'doc'
from __future__ import annotations
def f(x: nothing): pass
print(f.__annotations__, __doc__)
""",
    "depth of recursion": """
def depth(n):
    try:
        return depth(n + 1)
    except RecursionError:
        return n
print(depth(0))
""",
    "recursion raised": """
import sys
sys.setrecursionlimit(30000)
def f(n): return n and 1 + f(n - 1)
print(f(20000))
""",
    "collector": "import gc\nprint(gc.isenabled())",
    "no line end": "print(1)",
    "form feed": "\x0cprint(1)\x0c\n",
}


def _plain(source: str, stdin: bytes, folder: Path) -> tuple[int, bytes, bytes]:
    (folder / "main.py").write_text(source, "utf-8")
    done = subprocess.run(
        [sys._base_executable, "main.py"],
        input=stdin,
        capture_output=True,
        cwd=folder,
        env={"LANG": "C.UTF-8", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1"},
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def _comparable(text: bytes) -> list[bytes]:
    """Without folders, and without the lines of source that tracebacks show."""
    lines = [line for line in text.splitlines() if not re.match(rb"[ |]*(    |\^)", line)]
    return [re.sub(rb'File "[^"]*"', b"File", line) for line in lines]


@pytest.mark.parametrize("name", SAME)
def test_same_as_plain_python(name: str, tmp_path: Path) -> None:
    """Status and both streams are those of the interpreter."""
    stdin = b"one\r\ntwo \xc3\xa9\n\xff\nend" if name == "undecodable" else b"one\r\ntwo \xc3\xa9\nend"
    code, stdout, stderr = _plain(SAME[name], stdin, tmp_path)
    result = run_case(Program("python", (SAME[name],)), ScriptCase(stdin))
    assert (result.exit_code, result.stdout) == (code, stdout)
    if "hook" not in name:
        assert _comparable(result.stderr) == _comparable(stderr)


def test_tracebacks_show_the_source_and_no_frame_of_ours() -> None:
    """As a user of `python main.py` sees them."""
    result = run_case(Program("python", ("def f():\n    raise ValueError('x')\nf()\n",)), ScriptCase(b""))
    told = re.sub(r'"[^"]*/main.py"', '"main.py"', result.stderr.decode())
    lines = [line for line in told.splitlines() if "^" not in line]
    assert lines == [
        "Traceback (most recent call last):",
        '  File "main.py", line 3, in <module>',
        "    f()",
        '  File "main.py", line 2, in f',
        "    raise ValueError('x')",
        "ValueError: x",
    ]
    assert b"sandbox" not in result.stderr


def test_nothing_of_ours_is_in_sight() -> None:
    """No module of ours, no descriptor besides the streams, an empty folder."""
    source = """
import os, sys
print([name for name in sys.modules if name.split('.')[0] in ('sandbox', 'verifiers', 'app')])
def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
print([fd for fd in range(3, 64) if is_open(fd)], os.listdir('.'))
"""
    assert run_case(Program("python", (source,)), ScriptCase(b"")).stdout == b"[]\n[] []\n"


@pytest.mark.parametrize(
    ("text", "fenced", "status"),
    [
        ("# only\n\n   # comments\n", True, RunStatus.NO_CODE),
        ("", True, RunStatus.NO_CODE),
        ("print(", True, RunStatus.COMPILE_ERROR),
        ("return 1", True, RunStatus.COMPILE_ERROR),
        ("print('\0')", True, RunStatus.COMPILE_ERROR),
        ("'\ud800'", True, RunStatus.COMPILE_ERROR),
        ("(" * 100_000, True, RunStatus.COMPILE_ERROR),
        ("-" * 500_000 + "1", True, RunStatus.COMPILE_ERROR),
        ("a" + ".a" * 200_000, True, RunStatus.COMPILE_ERROR),
        ("x = " + "[" * 5_000 + "]" * 5_000, True, RunStatus.COMPILE_ERROR),
        ("1" * 10_000, True, RunStatus.COMPILE_ERROR),
        ("Some words here.", False, RunStatus.NO_CODE),
        ("print(", False, RunStatus.NO_CODE),
        ("print(1)", False, RunStatus.EXITED),
    ],
)
def test_what_is_no_program(text: str, fenced: bool, status: RunStatus) -> None:
    """A block that does not compile is a compile error; a text without fences that does not is no program."""
    assert run_case(Program("python", (text,), fenced), ScriptCase(b"")).status is status


def test_second_text_counts_where_the_first_is_no_program() -> None:
    """With `extract: raw`, what follows the reasoning."""
    program = Program("python", ("<think>x</think>print(2)", "print(2)"), fenced=False)
    assert run_case(program, ScriptCase(b"")).stdout == b"2\n"
