"""What ordinary programs may rely on."""

from __future__ import annotations

import asyncio

import pytest

from sandbox.types import CaseResult, Limits, RunStatus

pytestmark = pytest.mark.asyncio(loop_scope="session")

WORKS = {
    "threads": """
import threading
ts = [threading.Thread(target=print, args=('t',)) for _ in range(16)]
for t in ts: t.start()
for t in ts: t.join()
""",
    "fork": """
import os
pids = []
for _ in range(15):
 pid = os.fork()
 if pid == 0: os._exit(0)
 pids.append(pid)
assert all(os.waitpid(p, 0)[1] == 0 for p in pids)
""",
    "no signal is held back": """
import os, signal, subprocess
assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set()
assert signal.getsignal(signal.SIGCHLD) is signal.SIG_DFL
heard = []
signal.signal(signal.SIGCHLD, lambda *_: heard.append(1))
subprocess.run(['/bin/true'], check=True)
assert heard
""",
    "nothing is loaded for nothing": """
import os, sys
assert not {'unittest', 'argparse', 'pathlib', 'urllib', 'difflib'} & set(sys.modules), sorted(sys.modules)
assert not [name for name in os.environ if name.startswith('LD_') and name != 'LD_LIBRARY_PATH']
""",
    "what modules do at a fork": """
import os, random, threading, time
assert os.register_at_fork.__module__ == 'posix'
assert threading.main_thread().native_id == os.getpid()
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
order = []
os.register_at_fork(before=lambda: order.append('before'), after_in_child=lambda: order.append('child'))
state = random.getstate()
pid = os.fork()
if pid == 0:
 right = order == ['before', 'child'] and random.getstate() != state and threading.active_count() == 1
 os._exit(0 if right else 1)
assert os.waitpid(pid, 0)[1] == 0
assert order == ['before'] and random.getstate() == state and threading.active_count() == 2
os._exit(0)
""",
    "standard streams": """
import sys
streams = sys.stdin, sys.stdout, sys.stderr
assert streams == (sys.__stdin__, sys.__stdout__, sys.__stderr__)
assert [s.fileno() for s in streams] == [0, 1, 2]
assert [s.name for s in streams] == ['<stdin>', '<stdout>', '<stderr>']
assert [s.mode for s in streams] == ['r', 'w', 'w']
assert {s.encoding for s in streams} == {'utf-8'}
assert [s.errors for s in streams] == ['surrogateescape', 'surrogateescape', 'backslashreplace']
assert [s.line_buffering for s in streams] == [False, False, True]
assert not any(s.isatty() or s.seekable() or s.closed for s in streams)
""",
    "sessions and groups": "import os\nos.setsid(); os.setpgid(0, 0); os.setpgrp()\n",
    "subprocess": """
import subprocess, sys
assert subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True).stdout == b'42\\n'
assert subprocess.run('echo a | tr a b', shell=True, capture_output=True).stdout == b'b\\n'
""",
    "asyncio": """
import asyncio, sys
async def main():
 p = await asyncio.create_subprocess_exec(sys.executable, '-c', 'print(1)', stdout=-1)
 assert (await p.communicate())[0] == b'1\\n'
asyncio.run(main())
""",
    "multiprocessing pool": """
import multiprocessing
def f(x): return x * x
if __name__ == '__main__':
 with multiprocessing.Pool(4) as pool: assert pool.map(f, range(9)) == [x * x for x in range(9)]
""",
    "multiprocessing locks and queues": """
import multiprocessing as mp
def add(v, q):
 with v.get_lock(): v.value += 1
 q.put(1)
v, q = mp.Value('i', 0), mp.Queue()
ps = [mp.Process(target=add, args=(v, q)) for _ in range(4)]
for p in ps: p.start()
assert [q.get() for _ in ps] == [1] * 4
for p in ps: p.join()
assert v.value == 4
lock = mp.RLock()
with lock:
 with lock: pass
s = mp.BoundedSemaphore(1)
assert s.acquire() and not s.acquire(timeout=0.01) and not s.acquire(False)
s.release()
try: s.release()
except ValueError: pass
else: raise SystemExit('released twice')
e = mp.Event(); e.set(); assert e.wait(1)
""",
    "shared memory": """
from multiprocessing.shared_memory import SharedMemory
a = SharedMemory(create=True, size=10); b = SharedMemory(a.name); a.buf[0] = 7; assert b.buf[0] == 7
b.close(); a.close(); a.unlink()
""",
    "process pool": """
from concurrent.futures import ProcessPoolExecutor
with ProcessPoolExecutor(3) as ex: assert list(ex.map(abs, [-1, -2])) == [1, 2]
""",
    "temporary files": """
import tempfile, os
with tempfile.NamedTemporaryFile() as f: f.write(b'x')
d = tempfile.mkdtemp(); assert d.startswith(os.getcwd()) and os.environ['HOME'] == os.getcwd()
""",
    "an empty folder": """
import os
assert os.listdir() == []
open('a', 'w').close()
assert os.listdir() == ['a']
""",
    "standard streams by name": """
assert open('/dev/stdin').read() == ''
open('/dev/stdout', 'w').write('x')
assert open('/dev/null').read() == ''
""",
    "numpy": """
import numpy as np
assert int((np.arange(6).reshape(2, 3) @ np.ones((3, 2))).sum()) == 30
""",
    "sympy": """
import sympy
x = sympy.Symbol('x')
assert sympy.integrate(2 * x, x) == x ** 2
""",
    "only offered packages": """
for name in ('fastapi', 'pip', 'pydantic', 'app', 'verifiers', 'audit'):
 try: __import__(name)
 except ImportError: pass
 else: raise SystemExit(name)
""",
    "deep recursion": """
import sys
sys.setrecursionlimit(10 ** 6)
def f(n): return n and 1 + f(n - 1)
assert f(20000) == 20000
""",
    "deep recursion through C": """
import sys
sys.setrecursionlimit(10 ** 5)
class A:
 def __init__(self, n): self.n = n
 def __repr__(self): return repr(A(self.n - 1)) if self.n else 'x'
assert repr(A(4000)) == 'x' or sys.version_info >= (3, 12)
""",
    "exit functions": """
import builtins
assert all(hasattr(builtins, n) for n in ('exit', 'quit', 'help'))
""",
    "clock and locale": """
import time, locale, sys
assert time.tzname[0] == 'UTC'
assert sys.stdout.encoding.lower() == 'utf-8' and 'é'.encode() == b'\\xc3\\xa9'
""",
    "copies keep going": """
import shutil, os
open('a', 'w').close(); shutil.copy2('a', 'b'); os.chmod('b', 0o600)
shutil.copytree('.', 'c'); shutil.rmtree('c')
""",
    "alarms": """
import signal
signal.signal(signal.SIGALRM, lambda *_: print('alarm'))
signal.setitimer(signal.ITIMER_REAL, 0.01)
signal.pause()
""",
}


@pytest.mark.parametrize("source", WORKS.values(), ids=WORKS)
async def test_ordinary_programs_work(run, source: str) -> None:
    """What RULES R10 to R13 promise, each as a program that checks it."""
    result: CaseResult = await run(source, limits=Limits(cpu_time_s=20, memory_bytes=512 << 20))
    assert (result.status, result.exit_code, result.stderr) == (RunStatus.EXITED, 0, b"")


ENDS = {
    "end of program": ("print('x')", 0, b"x\n"),
    "exit": ("print('x'); exit(3)", 3, b"x\n"),
    "exit without effect on output": ("import sys; sys.stdout.write('x'); sys.exit(0)", 0, b"x"),
    "exit with a text": ("raise SystemExit('bad')", 1, b""),
    "exit with a tuple": ("raise SystemExit((0,))", 1, b""),
    "exit with a large number": ("raise SystemExit(256 + 7)", 7, b""),
    "immediate exit": ("import os; print('lost'); os._exit(4)", 4, b""),
    "uncaught exception": ("print('x'); [][0]", 1, b"x\n"),
    "atexit after threads": (
        """
import atexit, threading, time
atexit.register(print, 'atexit')
threading.Thread(target=lambda: (time.sleep(0.05), print('thread'))).start()
print('main')
""",
        0,
        b"main\nthread\natexit\n",
    ),
    "file left open is flushed": ("f = open('/dev/stdout', 'w'); f.write('late')", 0, b"late"),
    "wrapped stdout is flushed": (
        """
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, write_through=False)
print('x', end='')
""",
        0,
        b"x",
    ),
    "output left in the original stream": (
        """
import io, sys
sys.stdout = io.StringIO()
print('x')
sys.__stdout__.write(sys.stdout.getvalue())
""",
        0,
        b"x\n",
    ),
    "output left in the original stream by atexit": (
        """
import atexit, io, sys
original, sys.stdout = sys.stdout, io.StringIO()
atexit.register(lambda: original.write(sys.stdout.getvalue()))
print('x')
""",
        0,
        b"x\n",
    ),
    "output left in a stream that sys no longer has": (
        "import sys\nout = sys.stdout; sys.stdout = sys.__stdout__ = None; out.write('x')",
        0,
        b"x",
    ),
    "output before what atexit writes past the stream": (
        "import atexit, os\natexit.register(os.write, 1, b'y')\nprint('x')",
        0,
        b"x\ny",
    ),
    "output through a tee": (
        """
import sys
class Tee:
 def __init__(self, *streams): self.streams = streams
 def write(self, text): [s.write(text) for s in self.streams]
 def flush(self): pass
sys.stdout = Tee(sys.stdout)
print('x')
""",
        0,
        b"x\n",
    ),
    "stdout that cannot tell whether it is closed": (
        """
import sys
class W:
 def write(self, text): sys.__stdout__.write(text)
 def flush(self): self.write('flushed')
sys.stdout = W()
""",
        0,
        b"flushedflushed",
    ),
    "stdout that cannot be flushed": (
        "import sys\nclass W:\n def flush(self): raise ValueError\nsys.stdout = W()",
        120,
        b"",
    ),
    "closed stdout": ("import sys; print('x'); sys.stdout.close()", 0, b"x\n"),
    "deleted stdout": ("import sys; sys.stdout.write('x'); del sys.stdout", 0, b"x"),
    "finalizers print to the original stream": (
        """
import io, sys
class A:
 def __del__(self): print('gone')
a = A()
sys.stdout = io.StringIO()
""",
        0,
        b"gone\n",
    ),
    "file held by a circle is flushed": (
        """
import os
class A: pass
a = A(); a.me = a; a.f = os.fdopen(os.dup(1), 'w'); a.f.write('x')
""",
        0,
        b"x",
    ),
    "finalizers of garbage find the globals": (
        "import os\nclass A:\n def __del__(self): os.write(1, b'gone')\na = A(); a.me = a; del a",
        0,
        b"gone",
    ),
    "finalizers run": ("class A:\n def __del__(self): print('gone')\na = A(); a.me = a", 0, b"gone\n"),
    "daemon thread is left behind": (
        """
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
print('x')
""",
        0,
        b"x\n",
    ),
    "failing flush": ("import os, sys\nsys.stdout.write('x'); os.close(1)", 120, b""),
    "child ends like a script": (
        """
import os
if os.fork() == 0:
 print('c')
else:
 os.wait(); print('p')
""",
        0,
        b"c\np\n",
    ),
}


@pytest.mark.parametrize(("source", "status", "stdout"), ENDS.values(), ids=ENDS)
async def test_ends_as_a_script_does(run, source: str, status: int, stdout: bytes) -> None:
    """Exit status and last words are those of `python main.py`."""
    result: CaseResult = await run(source)
    assert (result.status, result.exit_code, result.stdout) == (RunStatus.EXITED, status, stdout), (
        result.stderr
    )


async def test_large_input_flows_while_it_is_read(run) -> None:
    """30 MB are fed; the program sees every byte."""
    data = b"x" * (30 << 20)
    result = await run("import sys; print(len(sys.stdin.buffer.read()))", data, Limits(cpu_time_s=10))
    assert result.stdout == f"{len(data)}\n".encode()


@pytest.mark.parametrize("size", [0, 1, 4096, 65536])
async def test_input_is_there_before_the_program(run, size: int) -> None:
    """What a pipe holds lies in it from the first line on: no look is too early on a busy host."""
    source = "import os, select; print(select.select([0], [], [], 0)[0], len(os.read(0, 1 << 17)))"
    results = await asyncio.gather(*(run(source, b"x" * size) for _ in range(12)))
    assert {result.stdout for result in results} == {b"[0] %d\n" % size}


@pytest.mark.parametrize(
    "source", ["print(1)", "import os; os.close(0); print(1)", "print(len(input(3 * '')) and 1)"]
)
async def test_input_need_not_be_read(run, source: str) -> None:
    """Closing standard input early, or never reading it, is no error."""
    result = await run(source, b"y\n" * (1 << 20))
    assert (result.status, result.exit_code, result.stdout) == (RunStatus.EXITED, 0, b"1\n")


async def test_full_output_comes_back(run) -> None:
    """16 MiB less one byte pass; one byte more than the limit does not."""
    limits = Limits(cpu_time_s=10)
    result = await run("import sys; sys.stdout.write('z' * (16 << 20))", limits=limits)
    assert (result.status, len(result.stdout)) == (RunStatus.EXITED, 16 << 20)
    result = await run("import sys; sys.stdout.write('z' * ((16 << 20) + 1))", limits=limits)
    assert (result.status, len(result.stdout)) == (RunStatus.OUTPUT_EXCEEDED, 16 << 20)


async def test_same_run_same_answer(run) -> None:
    """Hash seed, PRNG state, folder name and order of sets do not differ from run to run."""
    source = """
import os, random
print(random.random(), hash('a'), {'x', 'y', 'z'}, os.environ)
import numpy; print(numpy.random.rand())
"""
    first, second = await run(source), await run(source)
    assert first.exit_code == 0
    assert first.stdout == second.stdout


async def test_every_run_starts_anew(run) -> None:
    """Nothing that one run leaves behind is there for the next."""
    source = """
import os
for d in ('.', '/tmp', '/dev/shm'):
 try: print(sorted(os.listdir(d))); open(d + '/left', 'w')
 except OSError: print('refused')
for d in ('.', '/tmp'):
 try: os.chmod(d, 0)
 except OSError: pass
"""
    outputs = {(await run(source)).stdout for _ in range(4)}
    assert len(outputs) == 1
    assert b"left" not in outputs.pop()
