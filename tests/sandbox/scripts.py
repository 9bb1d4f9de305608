"""Programs that look at how they are run, and how they end; what plain Python does is what is right."""

# ruff: noqa: E501 - programs as they are
from __future__ import annotations

PROGRAMS: dict[str, str] = {
    "abort": """\
import os
print('x')
os.abort()
""",
    "warnings of the compiler": """\
x = 1
print(x is 1, "\\d", x == 1 and ())
assert (x, "always true")
""",
    "asyncio": """\
import asyncio
async def m():
    await asyncio.sleep(0); print('in')
asyncio.run(m())
""",
    "asyncio pending": """\
import asyncio
async def f(): await asyncio.sleep(100)
async def m(): t=asyncio.create_task(f()); await asyncio.sleep(0); print('x')
asyncio.run(m())
""",
    "asyncio unretrieved": """\
import asyncio
async def f(): 1/0
async def m(): t=asyncio.create_task(f()); await asyncio.sleep(0.01); print('x')
asyncio.run(m())
""",
    "atexit in thread shutdown": """\
import threading, atexit
threading._register_atexit(print,'tat')
atexit.register(print,'at')
""",
    "atexit sysexit": """\
import atexit,sys
atexit.register(sys.exit, 5)
""",
    "atexit sysexit after": """\
import atexit,sys
atexit.register(print,'z'); atexit.register(sys.exit, 5)
sys.exit(2)
""",
    "atexit thread": """\
import atexit,threading,time
threading.Thread(target=lambda:(time.sleep(0.05),print('t'))).start()
atexit.register(print,'at')
print('m')
""",
    "attr suggestion": """\
import math
math.sqr(2)
""",
    "attributes of streams": """\
import sys
print(sys.stdin, sys.stdout, sys.stderr, sys.stdin.newlines, sys.stdout.newlines, sys.stdin.line_buffering, sys.stdout.write_through)
print(sys.stdin.buffer, sys.stdout.buffer.raw, sys.stdout.buffer.raw.closefd, sys.stderr.buffer)
""",
    "base exception": """\
class B(BaseException): pass
raise B('b')
""",
    "bom": "\ufeffprint(1)",
    "breakpoint": "breakpoint()",
    "broken pipe": """\
import os
r,w=os.pipe()
os.dup2(w,1); os.close(r); os.close(w)
print('a')
""",
    "builtins dir": """\
import builtins
print(dir(builtins), builtins.__dict__.get('_'))
""",
    "close fd 1": """\
import os
print('a')
os.close(1)
""",
    "close fd 2": """\
import os
os.close(2)
1/0
""",
    "closed stdout": """\
import sys
print('a')
sys.stdout.close()
""",
    "code interact": """\
import sys
sys.displayhook(5)
""",
    "code name": """\
import sys
c=sys._getframe().f_code
print(c.co_name,c.co_filename,c.co_flags,c.co_qualname, sys._getframe().f_lineno, sys._getframe().f_back)
""",
    "contextvars": """\
import contextvars
print(list(contextvars.copy_context().items()))
""",
    "ctypes": """\
import ctypes
print(ctypes.CDLL(None).getpid()==__import__('os').getpid())
""",
    "daemon thread": """\
import threading,time
t=threading.Thread(target=lambda: (time.sleep(5), print('t')),daemon=True); t.start(); print('m')
""",
    "dataclass main": """\
from dataclasses import dataclass
@dataclass
class A:
    x: 'list[int]'
import typing
print(typing.get_type_hints(A), A(1), A.__module__)
""",
    "decimal context": """\
import decimal
print(decimal.getcontext())
""",
    "decorated pickle local": """\
import pickle
def f():
    class B: pass
    return B()
try: pickle.dumps(f())
except Exception as e: print(type(e).__name__, e)
""",
    "del in sys": """\
import sys
class A:
    def __del__(s): print('gone')
sys.foo=A()
""",
    "del order": """\
class A:
    def __init__(s,n): s.n=n
    def __del__(s): print('del',s.n)
a=A('a'); b=A('b'); _c=A('_c'); d=[A('d')]; A.k=A('k')
""",
    "del uses module": """\
import os
class A:
    def __del__(s): print(os is None, os and os.getcwd() != '')
a=A()
""",
    "dev stdin": "print(repr(open('/dev/stdin').read()))",
    "doctest": """\
def f():
    '''
    >>> f()
    1
    '''
    return 1
import doctest
print(doctest.testmod())
""",
    "doctest fail": """\
def f():
    '''
    >>> f()
    2
    '''
    return 1
import doctest
print(doctest.testmod())
""",
    "encoding err": "print('\\ud800')",
    "enum main": """\
import enum
class C(enum.Enum): A=1
print(C.A, repr(C.A)); import pickle; print(pickle.loads(pickle.dumps(C.A)) is C.A)
""",
    "escape warning": "print('\\d')",
    "exc while thread": """\
import threading,time,sys
t=threading.Thread(target=lambda: (time.sleep(0.05), print('t'))); t.start(); 1/0
""",
    "excepthook": """\
import sys
sys.excepthook=lambda *a: print('hook',a)
1/0
""",
    "excepthook exits": """\
import sys
sys.excepthook=lambda *a: sys.exit(7)
1/0
""",
    "excepthook frames": """\
import sys,traceback
def h(t,v,tb):
    n=0
    while tb: print(tb.tb_frame.f_code.co_filename, tb.tb_lineno); tb=tb.tb_next
    f=sys._getframe()
    while f: print(f.f_code.co_name); f=f.f_back
sys.excepthook=h
def g(): 1/0
g()
""",
    "excepthook none": """\
import sys
del sys.excepthook
1/0
""",
    "excepthook raises": """\
import sys
def h(*a): {}['x']
sys.excepthook=h
1/0
""",
    "exec replace": """\
import os,sys
print('lost?')
os.execv(sys.executable,[sys.executable,'-c','print(5)'])
""",
    "exec string": "exec(compile('x=1\\n1/0','<s>','exec'))",
    "executor at exit": """\
from concurrent.futures import ThreadPoolExecutor
e=ThreadPoolExecutor(2)
e.submit(print,'x')
""",
    "exit None": """\
import sys
sys.exit(None)
""",
    "exit args": "raise SystemExit(1,2)",
    "exit big": """\
import sys
sys.exit(2**70)
""",
    "exit bool": """\
import sys
sys.exit(True)
""",
    "exit float": """\
import sys
sys.exit(1.5)
""",
    "exit flush stderr": """\
import sys
sys.stderr.write('no newline')
""",
    "exit in thread": """\
import threading,sys
t=threading.Thread(target=lambda: sys.exit(3)); t.start(); t.join(); print('ok')
""",
    "exit int": """\
import sys
sys.exit(300)
""",
    "exit neg": """\
import sys
sys.exit(-1)
""",
    "exit str": """\
import sys
sys.exit('bye')
""",
    "exit subclass": """\
class E(SystemExit): pass
raise E(4)
""",
    "exit tuple": """\
import sys
sys.exit((1,2))
""",
    "exit while thread": """\
import threading,time,sys
t=threading.Thread(target=lambda: (time.sleep(0.05), print('t'))); t.start(); sys.exit(3)
""",
    "exit with an object": """\
import sys
class A:
    def __str__(self): return 'obj'
sys.exit(A())
""",
    "exit with an object that has no text": """\
import sys
class A:
    def __str__(self): 1/0
sys.exit(A())
""",
    "faulthandler": """\
import faulthandler
print(faulthandler.is_enabled())
""",
    "fd of no one": """\
import os
for i in range(3,100):
    try: os.fstat(i); print(i)
    except OSError: pass
""",
    "file exists": """\
import os
print(os.path.exists(__file__), os.path.basename(__file__))
""",
    "fileinput": """\
import fileinput
for l in fileinput.input(): print(repr(l))
""",
    "fork exc": """\
import os
pid=os.fork()
if pid==0: 1/0
print(os.waitpid(pid,0)[1])
""",
    "fork exit": """\
import os,sys,atexit
atexit.register(print,'at')
pid=os.fork()
if pid==0: sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(pid,0)[1]))
""",
    "frame locals": """\
import sys
print('main' in sys._getframe().f_locals, sys._getframe().f_builtins is __builtins__.__dict__)
""",
    "frames below": """\
import sys
f=sys._getframe()
n=0
while f: n+=1; print(f.f_code.co_name, f.f_code.co_filename); f=f.f_back
print(n)
""",
    "frames of all threads": """\
import sys
for k,f in sys._current_frames().items():
    while f: print(f.f_code.co_name, f.f_code.co_filename); f=f.f_back
""",
    "full": """\
import os
os.dup2(os.open('/dev/full',os.O_WRONLY),1)
print('a')
""",
    "future annotations": """\
from __future__ import annotations
def f(x: zz): pass
print(f.__annotations__)
""",
    "gc frames": """\
import gc, types
print([o for o in gc.get_objects() if isinstance(o, types.FrameType)])
""",
    "gc functions": """\
import gc, types
print(sorted({(o.__module__,o.__qualname__) for o in gc.get_objects() if isinstance(o, types.FunctionType) and str(o.__module__).split('.')[0] in ('sandbox','verifiers','app')}))
""",
    "gc modules": """\
import gc, types
print(sorted({o.__name__ for o in gc.get_objects() if isinstance(o, types.ModuleType) and o.__name__.split('.')[0] in ('sandbox','verifiers','app')}))
""",
    "gc types": """\
import gc
print(sorted({o.__qualname__ for o in gc.get_objects() if isinstance(o, type) and str(o.__module__).startswith('sandbox')}))
""",
    "generator exit": "raise GeneratorExit",
    "getsource": """\
import inspect
def f(x):
    # hi
    return x
class A:
    def m(self): pass
print(inspect.getsource(f)); print(inspect.getsource(A)); print(inspect.getsourcefile(f)); print(inspect.getmodule(f)); import sys; print(inspect.getfile(sys.modules['__main__']))
""",
    "globals": "print(sorted(globals().items(), key=str))",
    "help": """\
print(repr(help), repr(exit), repr(quit), repr(copyright)[:20], repr(license)[:20], credits is not None)
""",
    "import main": """\
import __main__, sys
x=5
print(__main__.x, __main__ is sys.modules['__main__'], __main__)
""",
    "import own module": """\
open('helper.py','w').write('x=3')
import helper
print(helper.x, helper.__file__)
""",
    "import self name": """\
import main
print(main.__name__, main is __import__('__main__'))
""",
    "input prompt": """\
print(repr(input('p> ')), repr(input()), repr(input()))
input()
""",
    "inspect currentframe back": """\
import inspect
print(inspect.currentframe().f_back)
""",
    "inspect stack": """\
import inspect
def f(): print([(s.function, s.filename, s.lineno, s.code_context) for s in inspect.stack()])
f()
""",
    "int digits": """\
import sys
print(sys.get_int_max_str_digits())
try: str(10**5000)
except ValueError as e: print(e)
""",
    "interrupted by a signal": """\
import os,signal
os.kill(os.getpid(), signal.SIGINT)
import time; time.sleep(1)
""",
    "keyboard interrupt": "raise KeyboardInterrupt",
    "last exc": """\
import atexit,sys
atexit.register(lambda: print(sys.last_type, sys.last_value, sys.last_traceback.tb_frame.f_code.co_name, hasattr(sys,'last_exc')))
1/0
""",
    "linecache": """\
import linecache
print(linecache.cache.keys(), linecache.getline(__file__, 1))
""",
    "listed": """\
import os
print(os.path.basename(__file__), os.listdir('.'))
""",
    "loader": """\
print(__loader__, type(__loader__).__name__, __spec__, __package__, __cached__, __file__)
print(__loader__.get_source('__main__'))
""",
    "locale": """\
import locale
print(locale.getlocale(), locale.getpreferredencoding())
""",
    "locals is globals": "print(locals() is globals(), vars() is globals())",
    "logging": """\
import logging
logging.warning('w')
logging.getLogger('a').error('e')
""",
    "logging exc": """\
import logging
try: 1/0
except Exception: logging.exception('oops')
""",
    "modules ours": """\
import sys
print([m for m in sys.modules if m.split('.')[0] in ('sandbox','verifiers','app')])
""",
    "multiprocessing": """\
import multiprocessing as mp
def f(x): return x*x
if __name__=='__main__':
    with mp.Pool(2) as p: print(p.map(f,[1,2,3]))
    print(mp.get_start_method(), mp.current_process())
""",
    "multiprocessing, spawned": """\
import multiprocessing as mp
def f(x): return x*x
if __name__=='__main__':
    ctx=mp.get_context('spawn')
    with ctx.Pool(2) as p: print(p.map(f,[1,2,3]))
""",
    "name suggestion": """\
foo = 1
print(fooo)
""",
    "nested syntax error": """\
try:
    exec('def f(:')
except SyntaxError as e: print(e.filename,e.lineno,e.text)
compile('a b','zz','exec')
""",
    "never awaited": """\
async def f(): pass
f()
print('x')
""",
    "nonmain excepthook thread": """\
import threading
threading.excepthook=lambda a: print('th',a.exc_type)
t=threading.Thread(target=lambda:1/0);t.start();t.join()
""",
    "open file": "print(open(__file__).read())",
    "open0": "print(repr(open(0,newline='').read()))",
    "orig argv": """\
import sys
print(sys.argv, sys.orig_argv[1:])
""",
    "os read": """\
import os
print(os.read(0,100))
""",
    "os._exit": """\
import os
print('lost')
os._exit(6)
""",
    "pdb": """\
import pdb
pdb.set_trace()
x=1
""",
    "pickle class": """\
import pickle
class A: pass
def f(): return 1
print(type(pickle.loads(pickle.dumps(A()))), pickle.loads(pickle.dumps(f))())
""",
    "print float": "print(0.1+0.2, 1e100, float('nan'))",
    "print_exc": """\
import traceback
try:
    1/0
except Exception:
    traceback.print_exc()
    print(traceback.format_exc())
""",
    "print_stack": """\
import traceback
def f():
    traceback.print_stack()
    print(traceback.extract_stack())
f()
""",
    "process pool": """\
from concurrent.futures import ProcessPoolExecutor
def f(x): return x+1
if __name__=='__main__':
    with ProcessPoolExecutor(2) as e: print(list(e.map(f,[1,2])))
""",
    "raise in del at end with thread": """\
import threading,time
class A:
    def __del__(s): print('del')
a=A()
threading.Thread(target=time.sleep,args=(0.02,)).start()
""",
    "readline module": """\
import sys
print(sys.stdin.readline(), sys.stdin.buffer.readline())
""",
    "recursion": """\
def d(n):
    try: return d(n+1)
    except RecursionError: return n
print(d(0))
import sys; print(sys.getrecursionlimit())
""",
    "recursion in thread": """\
import threading
def d(n):
    try: return d(n+1)
    except RecursionError: return n
t=threading.Thread(target=lambda: print(d(0))); t.start(); t.join()
""",
    "recursion limit exact": """\
import sys
sys.setrecursionlimit(100)
def d(n):
    try: return d(n+1)
    except RecursionError: return n
print(d(0))
""",
    "recursion limit raise": """\
import sys
sys.setrecursionlimit(5000)
def f(n): return n and 1+f(n-1)
print(f(4900))
""",
    "resource warning": """\
open('a','w')
open('a')
""",
    "run self": """\
import subprocess, sys
if len(sys.argv) > 1: print('child', len(sys.argv))
else: print(subprocess.run([sys.executable, __file__, 'a'], capture_output=True).stdout)
""",
    "runpy": """\
import runpy,sys
if __name__=='__main__':
    r=runpy.run_path(__file__, run_name='other'); print(r['__name__'])
""",
    "segfault": """\
import ctypes
ctypes.string_at(0)
""",
    "select": """\
import select,sys
print(select.select([sys.stdin],[],[],0)[0]==[sys.stdin])
""",
    "settrace": """\
import sys,threading
print(sys.gettrace(), sys.getprofile(), threading.gettrace() if hasattr(threading,'gettrace') else None)
""",
    "signals": """\
import signal
print([(s.name, signal.getsignal(s)) for s in sorted(signal.valid_signals()) if hasattr(s,'name') and signal.getsignal(s)!=signal.SIG_DFL])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
""",
    "sigterm": """\
import os,signal
print('x',flush=True)
os.kill(os.getpid(), signal.SIGTERM)
import time; time.sleep(1)
""",
    "stderr none exc": """\
import sys
sys.stderr=None
1/0
""",
    "stderr order": """\
import sys
print('e',end='',file=sys.stderr); sys.stderr.write('f')
""",
    "stdin close": """\
import sys
sys.stdin.close()
print(1)
""",
    "stdin iteration": """\
import sys
for l in sys.stdin: print(repr(l))
""",
    "stdio stat": """\
import os,stat
for i in range(3): print(stat.S_ISFIFO(os.fstat(i).st_mode), os.isatty(i))
""",
    "stdout detach": """\
import sys
b=sys.stdout.detach()
b.write(b'x')
""",
    "stdout none": """\
import sys
print('a')
sys.stdout=None
print('b')
""",
    "surrogate stdin": """\
import sys
print(ascii(sys.stdin.read()))
""",
    "switch interval": """\
import sys
print(sys.getswitchinterval())
""",
    "syntax at run time": "eval('1 +')",
    "sys.getrefcount": """\
import sys
a=object()
print(sys.getrefcount(a), sys.getrefcount(globals())<10)
""",
    "tempfile": """\
import tempfile
d=tempfile.TemporaryDirectory()
print('ok')
""",
    "thread at exit start": """\
import atexit,threading
@atexit.register
def f():
    try:
        t=threading.Thread(target=print,args=('in',)); t.start(); t.join()
    except RuntimeError as e: print(e)
""",
    "threads": """\
import threading, os
t = threading.main_thread()
print(threading.active_count(), t is threading.current_thread(), t.name, t.native_id == os.getpid())
""",
    "time": """\
import time
print(time.tzname, time.timezone)
""",
    "timeit": """\
import timeit
x=3
print(timeit.timeit('x+1',globals=globals(),number=10)>0)
""",
    "traceback carets": """\
x = {'a': {'b': None}}
print(x['a']['b']['c'] + 1)
""",
    "traceback chain": """\
try:
    1/0
except Exception as e:
    raise KeyError('k') from e
""",
    "traceback context": """\
def g():
    try:
        {}['a']
    except KeyError:
        int('x')
g()
""",
    "traceback deep": """\
def f(n):
    if n == 0:
        raise ValueError('x')
    return f(n-1)
f(3)
""",
    "traceback group": "raise ExceptionGroup('g',[ValueError(1),TypeError(2)])",
    "traceback note": "e=ValueError('a'); e.add_note('hello'); raise e",
    "traceback repeated": """\
def f(n):
    return f(n+1)
f(0)
""",
    "tracemalloc": """\
import tracemalloc
print(tracemalloc.is_tracing())
""",
    "type main repr": """\
class A: pass
def f(): pass
print(A, f.__module__, f.__globals__ is globals())
""",
    "unbuffered interplay": """\
import sys,os
print('a'); os.write(1,b'b\\n'); sys.stdout.flush(); os.write(1,b'c\\n'); print('d')
""",
    "unittest main": """\
import unittest
class T(unittest.TestCase):
    def test(self): self.assertEqual(1,1)
if __name__=='__main__': unittest.main()
""",
    "unraisable at exit": """\
class A:
    def __del__(self): 1/0
a=A()
print('ok')
""",
    "warn filters": """\
import warnings
print(warnings.filters)
""",
    "warnings": """\
import warnings
warnings.warn('careful')
def f(): warnings.warn('dep', DeprecationWarning)
f()
""",
    "warnings stacklevel": """\
import warnings
warnings.warn('a', stacklevel=5)
warnings.warn('b', stacklevel=2)
""",
    "weakref finalize": """\
import weakref
class A: pass
a=A()
weakref.finalize(a, print, 'fin')
""",
    "work folder": """\
import os, sys
here = os.path.dirname(os.path.abspath(__file__))
print(here == os.getcwd() == sys.path[0])
""",
}
