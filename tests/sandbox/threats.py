"""Programs that try to break out, and how each must end; one table for every kind of host."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.types import CaseResult, Limits

_REPORT = """
def attempt(name, action):
    try:
        action()
    except OSError:
        print(name, "refused")
    else:
        print(name, "DONE")
"""


@dataclass(frozen=True)
class Threat:
    """statuses: how the run may end. stdout: all that it may print, or None for anything."""

    name: str
    source: str
    statuses: str
    stdout: str | None = None
    cpu_time_s: float = 1.0
    memory_mb: int = 256
    output_mb: int = 16

    @property
    def limits(self) -> Limits:
        """Waiting is cut short."""
        return Limits(
            cpu_time_s=self.cpu_time_s,
            wall_time_s=self.cpu_time_s + 1,
            memory_bytes=self.memory_mb << 20,
            output_bytes=self.output_mb << 20,
        )

    def check(self, result: CaseResult) -> None:
        """The run ended as the table says."""
        seen = f"{result.status} {result.message} {result.stdout[-300:]!r} {result.stderr[-300:]!r}"
        assert result.status.value in self.statuses.split(), seen
        if self.stdout is not None:
            assert result.stdout.decode() == self.stdout, seen


def _refused(name: str, **actions: str) -> Threat:
    """A program all of whose attempts must fail with an OSError."""
    lines = [f"attempt({key!r}, lambda: {action})" for key, action in actions.items()]
    source = "import os, signal, socket, resource, ctypes\n" + _REPORT + _LIBC + "\n".join(lines)
    return Threat(name, source, "exited", "".join(f"{key} refused\n" for key in actions))


_LIBC = """
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    function = getattr(libc, name)
    function.restype = ctypes.c_long if name == "syscall" else ctypes.c_int
    if function(*args) < 0:
        raise OSError(ctypes.get_errno(), name)
"""

THREATS = (
    Threat(
        "fork chain of sleepers is cut off and collected",
        """
import os, time
for i in range(600):
 try:
  if os.fork() == 0:
   time.sleep(60); os._exit(0)
 except OSError:
  break
assert i < 600
""",
        "exited violation",
    ),
    Threat(
        "fork bomb ends",
        "import os\nwhile True:\n try: os.fork()\n except OSError: pass\n",
        "cpu_time_exceeded violation wall_time_exceeded",
        cpu_time_s=0.3,
    ),
    Threat(
        "daemon in a session of its own that holds the pipe does not hold up the result",
        """
import os, sys
if os.fork() == 0:
 os.setsid()
 if os.fork() == 0:
  import time; time.sleep(300)
 os._exit(0)
print('parent done')
""",
        "exited",
        "parent done\n",
    ),
    Threat(
        "subprocess in a new session ends with the run",
        """
import subprocess, sys
subprocess.Popen(['/bin/sleep', '300'], start_new_session=True)
print('x')
""",
        "exited",
        "x\n",
    ),
    _refused(
        "nobody outside can be signalled",
        parent="os.kill(os.getppid(), signal.SIGKILL)",
        stop="os.kill(os.getppid(), signal.SIGSTOP)",
        init="os.kill(1, 0)",
        queue="call('syscall', 129, os.getppid(), 9, 0)",
    ),
    Threat(
        "killing everyone kills nobody outside",
        """
import os, signal
os.kill(-1, signal.SIGKILL)
print('alone')
""",
        "exited",
        "alone\n",
    ),
    Threat("endless loop", "while True: pass\n", "cpu_time_exceeded", cpu_time_s=0.2),
    Threat(
        "loop in threads counts as one",
        """
import threading
for _ in range(3): threading.Thread(target=lambda: exec('while True: pass')).start()
""",
        "cpu_time_exceeded",
        cpu_time_s=0.2,
    ),
    Threat(
        "loop in children counts",
        """
import os
for _ in range(3):
 if os.fork() == 0:
  while True: pass
os.wait()
""",
        "cpu_time_exceeded",
        cpu_time_s=0.2,
    ),
    Threat("sleeper", "import time; time.sleep(100)\n", "wall_time_exceeded", cpu_time_s=0.1),
    Threat(
        "sleeper that ignores signals and stops itself",
        """
import os, signal
for s in range(1, 32):
 try: signal.signal(s, signal.SIG_IGN)
 except (OSError, ValueError): pass
os.kill(os.getpid(), signal.SIGSTOP)
""",
        "wall_time_exceeded",
        cpu_time_s=0.1,
    ),
    Threat(
        "memory touched page by page",
        """
x = bytearray(3 << 30)
for i in range(0, len(x), 4096): x[i] = 1
""",
        "memory_exceeded",
    ),
    Threat(
        "memory in children counts together",
        """
import os, time
for _ in range(4):
 if os.fork() == 0:
  x = b'x' * (100 << 20); time.sleep(5); os._exit(0)
time.sleep(5)
""",
        "memory_exceeded",
    ),
    Threat(
        "memory shared by children counts once",
        """
import os, time
x = b'x' * (150 << 20)
for _ in range(4):
 if os.fork() == 0:
  time.sleep(0.2); os._exit(0)
for _ in range(4): os.wait()
print('fine')
""",
        "exited",
        "fine\n",
    ),
    Threat(
        "memory reserved but not touched is no use of memory",
        """
import mmap
m = mmap.mmap(-1, 8 << 30)
m[5] = 1
print('fine')
""",
        "exited",
        "fine\n",
    ),
    Threat(
        "disk filled in every place",
        """
import os
n = 0
for d in ('.', '/tmp', '/var/tmp', '/dev/shm'):
 try:
  with open(d + '/fill', 'wb') as f:
   for _ in range(600): f.write(b'x' * (1 << 20)); n += 1
 except OSError: pass
assert n <= 600
""",
        "exited memory_exceeded output_exceeded",
        memory_mb=1024,
        cpu_time_s=10,
    ),
    Threat(
        "disk filled with many small files",
        """
import itertools
for i in itertools.count():
 try: open(f'f{i}', 'wb').write(b'x' * 4096)
 except OSError: break
""",
        "exited output_exceeded memory_exceeded",
        cpu_time_s=10,
        memory_mb=1024,
    ),
    Threat(
        "folders without permissions are removed",
        """
import os
os.makedirs('a/b/c'); open('a/b/c/x', 'w').close()
for p in ('a/b/c/x', 'a/b/c', 'a/b', 'a', '.'):
 try: os.chmod(p, 0)
 except OSError: pass
os.umask(0o777)
os.mkdir('closed')
""",
        "exited",
        "",
    ),
    Threat(
        "very deep folders are removed",
        """
import os
for _ in range(1000): os.mkdir('d'); os.chdir('d')
""",
        "exited",
        "",
        cpu_time_s=10,
    ),
    Threat(
        "links out of the folder are not followed when it is removed",
        """
import os
os.symlink('/', 'root'); os.symlink('/etc', 'etc'); os.symlink('.', 'self')
os.mkdir('.rest-0'); os.mkdir('a'); os.mkdir('a/b'); os.mkfifo('pipe')
""",
        "exited",
        "",
    ),
    _refused(
        "files of the host cannot be read",
        shadow="open('/etc/shadow')",
        passwd="open('/etc/passwd')",
        home="os.listdir('/root')",
        top="os.listdir('/')",
        environ="open('/proc/1/environ')",
        own_environ="open('/proc/self/environ')",
        own_memory="open('/proc/self/mem', 'rb')",
        parent_memory="open(f'/proc/{os.getppid()}/mem', 'rb')",
        parent_files="os.listdir(f'/proc/{os.getppid()}/fd')",
        processes="os.listdir('/proc')",
        core_pattern="open('/proc/sys/kernel/core_pattern', 'w')",
        system="os.listdir('/sys')",
        device="open('/dev/mem', 'rb')",
        terminal="open('/dev/tty')",
    ),
    _refused(
        "nothing outside the folder can be written",
        etc="open('/etc/rv', 'w')",
        usr="open('/usr/lib/rv', 'w')",
        library="open(os.__file__, 'a')",
        up="open('../rv', 'w')",
        rename="os.rename(os.__file__, 'os.py')",
        link="os.link(os.__file__, 'os.py')",
        device="os.mknod('null', 0o20666, os.makedev(1, 3))",
        attribute="os.setxattr('.', 'user.rv', b'1')",
    ),
    _refused(
        "the network is out of reach",
        tcp="socket.create_connection(('127.0.0.1', 80), 0.5)",
        udp="socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        tcp6="socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
        raw="socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        packet="socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        netlink="socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
        vsock="socket.socket(40, socket.SOCK_STREAM)",
        unix="socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
        datagram_pair="socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
        abstract="socket.socketpair()[0].connect('\\0goldcheck-uid-60000')",
        listen="socket.socketpair()[0].bind('here')",
        lookup="socket.getaddrinfo('example.org', 80)",
    ),
    _refused(
        "nobody can be traced, and the kernel's sharp tools are shut",
        ptrace="call('ptrace', 16, os.getppid(), 0, 0)",
        traceme="call('ptrace', 0, 0, 0, 0)",
        read_memory="call('process_vm_readv', os.getppid(), 0, 0, 0, 0, 0)",
        take_descriptor="call('syscall', 438, os.pidfd_open(os.getpid()), 0, 0)",
        io_uring="call('syscall', 425, 1, 0)",
        bpf="call('syscall', 321, 0, 0, 0)",
        perf="call('syscall', 298, 0, 0, 0, 0, 0)",
        userfaultfd="call('syscall', 323, 0)",
        keyring="call('syscall', 250, 0, 0, 0, 0, 0)",
        key="call('syscall', 248, b'user', b'rv', b'x', 1, -4)",
        compare="call('syscall', 312, os.getpid(), os.getppid(), 0, 0, 0)",
        personality="call('personality', 0x0400000)",
        join_namespace="call('setns', 0, 0)",
        advise="call('syscall', 440, 0, 0, 0, 0, 0)",
        namespace="call('unshare', 0x10000000)",
        clone_namespace="call('syscall', 56, 0x10000000 | 17, 0, 0, 0, 0)",
        clone3="call('syscall', 435, 0, 0)",
        mount="call('mount', b'none', b'/tmp', b'tmpfs', 0, 0)",
        chroot="os.chroot('.')",
        shared_memory="call('shmget', 0, 4096, 0o1600)",
        message_queue="call('mq_open', b'/rv', 0o102, 0o600, 0)",
        memory_file="os.memfd_create('rv')",
        handle="call('syscall', 304, 0, 0, 0)",
        limits_of_parent="resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))",
        ioctl="call('ioctl', 0, 0x5412, b'x')",
        own_filter="call('prctl', 22, 2, 0, 0, 0)",
    ),
    Threat(
        "limits cannot be lifted",
        """
import os, resource
for f in (lambda: os.setuid(0), lambda: os.nice(-20), lambda: os.setgroups([0]),
          lambda: resource.setrlimit(resource.RLIMIT_CPU, (-1, -1)),
          lambda: resource.setrlimit(resource.RLIMIT_NPROC, (-1, -1))):
 try: f()
 except (OSError, ValueError): pass
assert os.getuid() != 0
while True: pass
""",
        "cpu_time_exceeded",
        "",
        cpu_time_s=0.2,
    ),
    Threat(
        "no core is dumped",
        """
import os, resource
print(resource.getrlimit(resource.RLIMIT_CORE))
if os.fork() == 0: os.abort()
print(os.waitstatus_to_exitcode(os.wait()[1]), os.listdir())
""",
        "exited",
        "(0, 0)\n-6 []\n",
    ),
    Threat("null dereference", "import ctypes; ctypes.string_at(0)\n", "signaled", ""),
    Threat("abort", "import os; os.abort()\n", "signaled", ""),
    Threat("own kill", "import os; os.kill(os.getpid(), 9)\n", "signaled", ""),
    Threat("flood of output", "while True: print('y' * 60)\n", "output_exceeded", output_mb=1, cpu_time_s=5),
    Threat(
        "flood of stderr is drained",
        """
import sys
for _ in range(100): sys.stderr.write('e' * 100000)
print('done')
""",
        "exited",
        "done\n",
        cpu_time_s=5,
    ),
    Threat(
        "one operation that takes minutes",
        "print(len(str(pow(7, 10 ** 9))))\n",
        "cpu_time_exceeded",
        cpu_time_s=0.3,
    ),
    Threat(
        "no descriptor is inherited",
        """
import os
open_fds = []
for fd in range(1024):
 try: os.fstat(fd); open_fds.append(fd)
 except OSError: pass
print(open_fds)
""",
        "exited",
        "[0, 1, 2]\n",
    ),
    Threat(
        "32-bit system calls kill",
        """
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=7)
code.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')
address = ctypes.addressof(ctypes.c_char.from_buffer(code))
print(ctypes.CFUNCTYPE(ctypes.c_int)(address)())
""",
        "signaled",
        "",
    ),
    Threat(
        "x32 system calls kill",
        "import ctypes; print(ctypes.CDLL(None).syscall(0x40000000 | 39))\n",
        "signaled",
        "",
    ),
    Threat(
        "nothing of the service is in memory",
        """
import ctypes, gc, os
libc = ctypes.CDLL(None)
secret = 'rvsecret' + '-in-the-service'
print(secret in str(dict(os.environ)), any(secret in o for o in gc.get_objects() if type(o) in (list, dict)))
libc.write.argtypes = ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t
reader, writer = os.pipe()
found, pages = False, 0
address = ctypes.c_void_p.from_address(ctypes.c_void_p.in_dll(libc, 'environ').value).value & -4096
while libc.write(writer, address, 4096) == 4096:
    found = found or secret.encode() in os.read(reader, 4096)
    address, pages = address + 4096, pages + 1
print(found, pages > 0)
""",
        "exited",
        "False False\nFalse True\n",
    ),
)

COUNTING = """
import os, time
for number in range(99):
 try:
  if os.fork() == 0: time.sleep(9)
 except OSError: break
print(number)
"""
"""How many tasks it may start."""
FULL = """
import os, time
for _ in range(200):
 try:
  if os.fork() == 0: time.sleep(30); os._exit(0)
 except OSError: break
print('full', flush=True)
time.sleep(1.5)
"""
"""Has as many tasks as it may, for a while."""
STARTING = """
import subprocess, threading, time
time.sleep(0.7)
threads = [threading.Thread(target=time.sleep, args=(0.1,)) for _ in range(10)]
for thread in threads: thread.start()
programs = [subprocess.Popen(['/bin/sleep', '0.1']) for _ in range(10)]
print([program.wait() for program in programs])
"""
"""Starts tasks beside it."""
