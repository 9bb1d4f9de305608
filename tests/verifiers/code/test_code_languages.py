"""Languages beside Python: the same verdicts for the same kinds of programs, in each that is offered here."""

from __future__ import annotations

from typing import Any

import pytest
from outcomes import Judge

from verifiers.code import CodeVerifier
from verifiers.types import Unscorable, Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUM = {
    "type": "stdin_stdout",
    "cases": [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "40 2\n", "stdout": "42\n"}],
}
NOTHING = {"type": "stdin_stdout", "cases": [{"stdin": "", "stdout": "never"}]}

CPP = "#include <{0}>\n#include <iostream>\n{1}\nint main() {{ {2} }}"
JAVA = (
    "import java.util.*;\n"
    "public class Main {{ public static void main(String[] a) throws Exception {{ {0} }} }}"
)
GO = "package main\nimport ({0})\nfunc main() {{ {1} }}"
RUST = "{0}\nfn main() {{ {1} }}"

SUMS = {
    "cpp": CPP.format("cstdio", "", "long long a, b; std::cin >> a >> b; std::cout << a + b << std::endl;"),
    "javascript": (
        "const numbers = require('fs').readFileSync(0, 'utf8').split(' ').map(Number);"
        "console.log(numbers.reduce((a, b) => a + b))"
    ),
    "bash": "read a b; echo $((a + b))",
    "java": JAVA.format(
        "Scanner s = new Scanner(System.in); System.out.println(s.nextLong() + s.nextLong());"
    ),
    "go": GO.format('"fmt"', "var a, b int; fmt.Scan(&a, &b); fmt.Println(a + b)"),
    "rust": RUST.format(
        "use std::io::Read;",
        "let mut s = String::new(); std::io::stdin().read_to_string(&mut s).unwrap();"
        'println!("{}", s.split_whitespace().map(|w| w.parse::<i64>().unwrap()).sum::<i64>());',
    ),
}
WRONG = {
    "cpp": CPP.format("cstdio", "", "std::cout << 3;"),
    "javascript": "console.log(3)",
    "bash": "echo 3",
    "java": JAVA.format("System.out.println(3);"),
    "go": GO.format('"fmt"', "fmt.Println(3)"),
    "rust": RUST.format("", 'println!("3");'),
}
BROKEN = {
    "cpp": "int main() { return missing; }",
    "javascript": "function ( {",
    "bash": "if true; then",
    "java": "public class Main { int }",
    "go": "package main\nfunc main() { missing() }",
    "rust": "fn main() { missing(); }",
}
FAILING = {
    "cpp": CPP.format("stdexcept", "", 'throw std::runtime_error("no");'),
    "javascript": "throw new Error('no')",
    "bash": "exit 3",
    "java": JAVA.format('throw new Exception("no");'),
    "go": GO.format("", 'panic("no")'),
    "rust": RUST.format("", 'panic!("no");'),
}
ENDLESS = {
    "cpp": CPP.format("cstdio", "volatile long n;", "for (;;) n++;"),
    "javascript": "for (;;) ;",
    "bash": "while :; do :; done",
    "java": JAVA.format("for (long n = 0; ; n++) ;"),
    "go": GO.format("", "for { }"),
    "rust": RUST.format("", "let mut n = 0u64; loop { unsafe { std::ptr::write_volatile(&mut n, n + 1) } }"),
}
SLEEPING = {
    "cpp": CPP.format("unistd.h", "", "sleep(60);"),
    "javascript": "setTimeout(() => {}, 60000)",
    "bash": "sleep 60",
    "java": JAVA.format("Thread.sleep(60000);"),
    "go": GO.format('"time"', "time.Sleep(time.Minute)"),
    "rust": RUST.format("", "std::thread::sleep(std::time::Duration::from_secs(60));"),
}
GREEDY = {
    "cpp": CPP.format(
        "vector", "", "std::vector<std::vector<char>> v; for (;;) v.emplace_back(1 << 20, 'x');"
    ),
    "javascript": "const v = []; for (;;) v.push(Buffer.alloc(1 << 20, 'x'))",
    "bash": "x=x; while :; do x=$x$x; done",
    "java": JAVA.format("List<byte[]> v = new ArrayList<>(); for (;;) v.add(new byte[1 << 20]);"),
    "go": GO.format(
        "",
        "v := [][]byte{}; for { b := make([]byte, 1<<20); for i := range b { b[i] = 1 }; v = append(v, b) }",
    ),
    "rust": RUST.format("", "let mut v = Vec::new(); loop { v.push(vec![1u8; 1 << 20]); }"),
}
FLOODING = {
    "cpp": CPP.format("string", "", "std::string s(1 << 20, 'x'); for (;;) std::cout << s;"),
    "javascript": "const s = 'x'.repeat(1 << 20); for (;;) require('fs').writeSync(1, s)",
    "bash": "while :; do printf '%1000000s' x; done",
    "java": JAVA.format('String s = "x".repeat(1 << 20); for (;;) System.out.print(s);'),
    "go": GO.format('"fmt"; "strings"', 's := strings.Repeat("x", 1<<20); for { fmt.Print(s) }'),
    "rust": RUST.format(
        "use std::io::Write;",
        "let s = vec![b'x'; 1 << 20]; loop { std::io::stdout().write_all(&s).unwrap(); }",
    ),
}
FORKING = {
    "cpp": CPP.format("unistd.h", "", "for (;;) fork();"),
    "javascript": "for (let i = 0; i < 500; i++) require('child_process').spawn('sleep', ['60'])",
    "bash": "f() { f | f & }; f; wait",
    "java": JAVA.format('for (int i = 0; i < 500; i++) new ProcessBuilder("sleep", "60").start();'),
    "go": GO.format('"os/exec"', 'for i := 0; i < 500; i++ { exec.Command("sleep", "60").Start() }'),
    "rust": RUST.format(
        "", 'for _ in 0..500 { let _ = std::process::Command::new("sleep").arg("60").spawn(); }'
    ),
}
DIALLING = {
    "cpp": CPP.format(
        "sys/socket.h",
        "",
        'if (socket(AF_INET, SOCK_STREAM, 0) < 0) std::cout << "refused"; else std::cout << "open";',
    ),
    "javascript": (
        "require('net').connect(80, '127.0.0.1').on('connect', () => { console.log('open'); process.exit() })"
        ".on('error', (e) => console.log(e.code === 'ECONNREFUSED' ? 'open' : 'refused'))"
    ),
    "bash": "if { : > /dev/tcp/127.0.0.1/80; } 2>message; then echo open; "
    "elif grep -q 'Connection refused' message; then echo open; else echo refused; fi",
    "java": JAVA.format(
        'try { new java.net.Socket("127.0.0.1", 80); System.out.print("open"); }'
        ' catch (java.net.ConnectException e) { System.out.print("open"); }'
        ' catch (Exception e) { System.out.print("refused"); }'
    ),
    "go": GO.format(
        '"fmt"; "net"; "strings"',
        '_, e := net.Dial("tcp", "127.0.0.1:80"); answer := "refused";'
        ' if e == nil || strings.Contains(e.Error(), "connection refused") { answer = "open" };'
        " fmt.Print(answer)",
    ),
    "rust": RUST.format(
        "use std::net::TcpStream; use std::io::ErrorKind;",
        'match TcpStream::connect("127.0.0.1:80") {'
        ' Err(e) if e.kind() != ErrorKind::ConnectionRefused => print!("refused"), _ => print!("open") }',
    ),
}
READING = {
    "cpp": CPP.format("fstream", "", 'std::cout << (std::ifstream("/etc/passwd") ? "open" : "refused");'),
    "javascript": (
        "try { require('fs').readFileSync('/etc/passwd'); console.log('open') }"
        " catch { console.log('refused') }"
    ),
    "bash": "if cat /etc/passwd > /dev/null 2>&1; then echo open; else echo refused; fi",
    "java": JAVA.format(
        'try { new java.io.FileReader("/etc/passwd"); System.out.print("open"); }'
        ' catch (Exception e) { System.out.print("refused"); }'
    ),
    "go": GO.format(
        '"fmt"; "os"',
        'if _, e := os.ReadFile("/etc/passwd"); e != nil { fmt.Print("refused") } else { fmt.Print("open") }',
    ),
    "rust": RUST.format(
        "", 'print!("{}", if std::fs::read("/etc/passwd").is_ok() { "open" } else { "refused" });'
    ),
}
LANGUAGES = sorted(SUMS)


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest, verifier: CodeVerifier) -> str:
    """One language after the other; skips those that are not installed."""
    name: str = request.param
    if f"language {name}" not in verifier.environment():
        pytest.skip(f"no toolchain for {name} here")
    return name


async def judged(judge: Judge, language: str, program: str, tests: Any = SUM, **limits: Any) -> Verdict:
    """The verdict on a program in a fenced block."""
    given = {"time_s": 5, "memory_mb": 512, **limits}
    outcome = await judge(f"```{language}\n{program}\n```", tests, language=language, limits=given)
    assert isinstance(outcome, Verdict), outcome
    return outcome


@pytest.mark.languages
async def test_every_language_is_tested(verifier: CodeVerifier) -> None:
    """Where these tests are asked for, a toolchain that the sandbox does not offer is a fault."""
    assert [name for name in LANGUAGES if f"language {name}" not in verifier.environment()] == []


async def test_right_program_passes(language: str, judge: Judge) -> None:
    """Compiled once, run on each case."""
    verdict = await judged(judge, language, SUMS[language])
    assert (verdict.reason, verdict.detail["tests_passed"]) == ("passed", 2)


@pytest.mark.parametrize(
    ("programs", "reason"),
    [(WRONG, "wrong_answer"), (BROKEN, "compile_error"), (FAILING, "runtime_error")],
    ids=["wrong", "does not compile", "fails"],
)
async def test_program_that_is_not_right(
    programs: dict[str, str], reason: str, language: str, judge: Judge
) -> None:
    """Each in its own words."""
    assert (await judged(judge, language, programs[language])).reason == reason


@pytest.mark.languages
async def test_endless_loop_is_stopped_by_its_processor_time(language: str, judge: Judge) -> None:
    """Not only by the wall clock."""
    assert (await judged(judge, language, ENDLESS[language], NOTHING, time_s=0.5)).reason == "timeout"


@pytest.mark.languages
async def test_sleeper_is_stopped_by_the_wall_clock(language: str, judge: Judge) -> None:
    """It uses no processor time."""
    assert (await judged(judge, language, SLEEPING[language], NOTHING, wall_time_s=1)).reason == "timeout"


@pytest.mark.languages
async def test_memory_is_bounded(language: str, judge: Judge) -> None:
    """A machine of its own may give up first, with an error."""
    verdict = await judged(judge, language, GREEDY[language], NOTHING, memory_mb=192)
    allowed = {"memory_exceeded", "runtime_error"} if language in ("java", "bash") else {"memory_exceeded"}
    assert verdict.reason in allowed


@pytest.mark.languages
async def test_output_is_bounded(language: str, judge: Judge) -> None:
    """A flood is cut off."""
    assert (
        await judged(judge, language, FLOODING[language], NOTHING, output_mb=1)
    ).reason == "output_exceeded"


@pytest.mark.languages
async def test_fork_bomb_ends_with_its_run(language: str, judge: Judge) -> None:
    """Whatever it comes to, it never passes, and the next run finds its seat free."""
    verdict = await judged(judge, language, FORKING[language], NOTHING, time_s=1, wall_time_s=2)
    assert not verdict.correct
    assert (await judged(judge, language, SUMS[language])).correct


@pytest.mark.languages
@pytest.mark.parametrize("programs", [DIALLING, READING], ids=["network", "files"])
async def test_world_outside_is_refused(programs: dict[str, str], language: str, judge: Judge) -> None:
    """By an error that the program sees."""
    refused = {"type": "stdin_stdout", "cases": [{"stdin": "", "stdout": "refused"}]}
    verdict = await judged(judge, language, programs[language], refused)
    assert verdict.reason == "passed", verdict.detail


COMPILE_ATTACKS = {
    "cpp includes a secret": ("cpp", '#include "/etc/shadow"\nint main() {}'),
    "cpp includes its own input": ("cpp", '#include "/dev/stdin"\nint main() {}'),
    "cpp assembles a secret": ("cpp", 'asm(".incbin \\"/etc/shadow\\""); int main() {}'),
    "cpp template bomb": (
        "cpp",
        (
            "template<int N, int M> struct F { static const long v = F<N-1, M>::v + F<N-1, M+1>::v; };\n"
            "template<int M> struct F<0, M> { static const long v = M; };\n"
            "int main() { return F<800, 0>::v; }"
        ),
    ),
    "cpp macro bomb": (
        "cpp",
        "\n".join(
            [
                "#define A0 x x x x x x x x x x",
                *(f"#define A{n + 1} A{n} A{n} A{n} A{n} A{n} A{n} A{n} A{n}" for n in range(9)),
            ]
        )
        + "\nint main() { A9 }",
    ),
    "cpp huge object": ("cpp", "int big[1 << 28] = {1}; int main() { return big[7]; }"),
    "cpp endless constant": (
        "cpp",
        (
            "constexpr long f() { long n = 0; for (long i = 0; i < (1L << 40); i++) n += i; return n; }\n"
            "int main() { constexpr long n = f(); return n; }"
        ),
    ),
    "rust includes a secret": ("rust", 'fn main() { print!("{}", include_str!("/etc/shadow")); }'),
    "java annotation of nothing": (
        "java",
        "public class Main { " + "int a = " + "(" * 20000 + "1" + ")" * 20000 + "; }",
    ),
    "go embeds a secret": (
        "go",
        'package main\nimport _ "embed"\n//go:embed /etc/shadow\nvar s string\nfunc main() { print(s) }',
    ),
}


@pytest.mark.languages
@pytest.mark.parametrize("name", COMPILE_ATTACKS)
async def test_compile_time_attack_earns_nothing(name: str, verifier: CodeVerifier, judge: Judge) -> None:
    """Secrets are not read, bombs are stopped by the limits of a compiler."""
    language, program = COMPILE_ATTACKS[name]
    if f"language {language}" not in verifier.environment():
        pytest.skip(f"no toolchain for {language} here")
    verdict = await judged(judge, language, program, NOTHING)
    assert not verdict.correct, verdict.detail
    assert "root:" not in str(verdict.detail)


async def test_missing_language_is_named(judge: Judge) -> None:
    """And so are those that there are."""
    outcome = await judge("```cobol\nx\n```", SUM, language="cobol")
    assert isinstance(outcome, Unscorable)
    assert outcome.kind == "language_unavailable"
    assert "python" in outcome.message


@pytest.mark.parametrize(
    "tests",
    [
        {"type": "asserts", "code": "assert f(1) == 2"},
        {"type": "function_call", "entry_point": "f", "cases": [{"args": [1], "expected": 2}]},
    ],
    ids=["asserts", "calls"],
)
async def test_tests_that_the_language_cannot_take_are_unscorable(
    tests: dict[str, Any], judge: Judge
) -> None:
    """Not the response's fault."""
    outcome = await judge("```bash\necho 1\n```", tests, language="bash")
    assert isinstance(outcome, Unscorable)
    assert outcome.kind == "unsupported_tests"
