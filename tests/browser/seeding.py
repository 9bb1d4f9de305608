"""Verdicts to look at: real items, posted to a running service."""

from __future__ import annotations

import json
import random
from typing import Any

import httpx

Item = dict[str, Any]


def numeric_items(count: int, seed: int = 1) -> list[Item]:
    """Small arithmetic, of which most is answered rightly, in groups of four; no two alike."""
    draw = random.Random(seed)
    items = []
    for number in range(count):
        a, b = draw.randrange(2, 90), draw.randrange(2, 90)
        answer = str(a * b) if draw.random() < 0.6 else str(a * b + draw.choice((-10, 10, 100)))
        response = (
            f"We multiply ${a}$ by ${b}$. First $ {a} \\cdot {b // 10 * 10} = {a * (b // 10 * 10)}$, then"
            f" \\({a} \\cdot {b % 10} = {a * (b % 10)}\\), and the sum of both is\n\n"
            f"\\[ {a} \\times {b} = {answer} \\]\n\n"
            f"So the answer is $\\boxed{{{answer}}}$."
        )
        items.append(
            {
                "verifier": "numeric",
                "response": response,
                "ground_truth": str(a * b),
                "prompt": f"What is ${a} \\times {b}$?",
                "stop": {"reason": "stop" if draw.random() < 0.9 else "length", "engine": "vllm"},
                "meta": {
                    "data_source": draw.choice(("gsm8k", "svamp", "arithmetic")),
                    "run": "r7",
                    "step": 100 * (number // 50),
                    "group_id": f"g{number // 4}-{seed}",
                    "prompt_id": f"q{number // 4}-{seed}",
                },
            }
        )
    return items


def shown_items() -> list[Item]:
    """One of each kind that pages show differently."""
    meta = {"data_source": "mixed", "run": "r7", "step": 40}
    chat = [
        {"role": "system", "content": "Answer in a box."},
        {"role": "user", "content": [{"type": "text", "text": "Simplify $\\frac{\\sqrt{8}}{2}$."}]},
    ]
    program = (
        "The sum of both numbers:\n\n```python\nimport sys\n\ndef main():\n    # read everything\n"
        "    a, b = map(int, sys.stdin.read().split())\n    print(f'{a + b}')\n\nmain()\n```\n"
    )
    return [
        {
            "verifier": "math",
            "response": "Since $\\sqrt{8} = 2\\sqrt{2}$, half of it is\n"
            "$$\\frac{\\sqrt{8}}{2} = \\sqrt{2}.$$\n"
            "Hence the length is $\\boxed{\\frac{\\sqrt{8}}{2}}$.",
            "ground_truth": "\\sqrt{2}",
            "prompt": chat,
            "meta": meta,
        },
        {
            "verifier": "numeric",
            "response": "The temperature falls to \\boxed{\u22123\u200b7}.",
            "ground_truth": "-37",
            "prompt": "How cold does it get? Answer in degrees.",
            "meta": meta,
        },
        {
            "verifier": "words",
            "response": "It is the \\boxed{Gr\u0430ph}.",  # a Cyrillic letter
            "ground_truth": "Graph",
            "prompt": "Name it.",
            "meta": meta,
        },
        {
            "verifier": "code",
            "response": program,
            "ground_truth": {
                "type": "stdin_stdout",
                "cases": [
                    {"stdin": "1 2\n", "stdout": "3\n"},
                    {"stdin": "3 4\n", "stdout": "12\n"},
                    {"stdin": "0 " * 3000, "stdout": "0\n"},
                ],
            },
            "options": {"detail": "full"},
            "prompt": "Read two numbers and print their **sum**.\n\nInput: `1 2`, output: `3`.",
            "meta": meta,
        },
        {
            "verifier": "choice",
            "response": "Both fit, but (C) is exact, so the answer is (C).",
            "ground_truth": "C",
            "prompt": "Which one?\n(A) 1\n(B) 2\n(C) 3",
            "meta": meta,
        },
        {"verifier": "numeric", "response": "I do not know.", "ground_truth": "5", "meta": meta},
        {"verifier": "numeric", "response": "\\boxed{5}", "ground_truth": "five", "meta": meta},
        {
            "verifier": "numeric",
            "response": "cut off \\boxed{1",
            "ground_truth": "1",
            "stop": {"reason": "length", "engine": "vllm"},
            "meta": {**meta, "canary": True},
        },
    ]


HOSTILE_TEXTS = {
    "script": "<script>window.hacked = 1</script> \\boxed{1}",
    "image": "<img src=x onerror='window.hacked = 1'> <svg onload='window.hacked=1'> \\boxed{1}",
    "htmx": "<div hx-get='/healthz' hx-trigger='load' data-hx-get='/healthz'>x</div>"
    "<form action='/audit'> \\boxed{1}",
    "template": "{{ 7*7 }} {% raw %} ${7*7} </article></main><h1 id=fake>fake</h1> \\boxed{1}",
    "katex trust": "$\\href{javascript:window.hacked=1}{x}$ $\\htmlData{x=1}{y}$ $\\url{javascript:alert(1)}$"
    " $\\includegraphics{http://192.0.2.1/x.png}$ \\boxed{1}",
    "katex bomb": "$\\def\\a{\\b\\b\\b\\b}\\def\\b{\\c\\c\\c\\c}\\def\\c{\\d\\d\\d\\d}"
    "\\def\\d{xxxxxxxxxx}\\a\\a\\a\\a$"
    " $\\rule{9999em}{9999em}$ $\\kern{99999em}x$ \\boxed{1}",
    "katex nesting": "$" + "\\sqrt{" * 250 + "x" + "}" * 250 + "$ \\boxed{1}",
    "many formulas": "$x^2$ " * 3000 + "\\boxed{1}",
    "unclosed": "$a \\[ \\( $$ ``` " * 500 + "\\boxed{1}",
    "right to left": "\u202etxet desrever\u202c \u2067\u0645\u0631\u062d\u0628\u0627 \\boxed{1}",
    "zero width": "1\u200b2\u200c3\u200d4\ufeff \u0301\u0301\u0301 \\boxed{\u20601\u2060}",
    "program": "```html\n<script>window.hacked = 1</script><img src=x onerror=window.hacked=1>\n```\n"
    "```</code></pre>"
    "<script>window.hacked=1</script>\n```\n\\boxed{1}",
    "one word": "x" * 50_000 + " \\boxed{1}",
    "large": "The quick brown fox. $x^2$ \n" * 40_000 + "\\boxed{1}",
    "style": "</style><style>*{display:none}</style><link rel=stylesheet href=//192.0.2.1/x.css> \\boxed{1}",
    "null and surrogate": "a\0b\ud800c \\boxed{1}",
}
"""Responses that try to do something to the page; each over its name."""


def hostile_items() -> list[Item]:
    """The hostile texts as responses, prompts and labels of the caller."""
    return [
        {
            "verifier": "numeric",
            "response": text,
            "ground_truth": "1",
            "prompt": text[:2000],
            "meta": {
                "data_source": f"<b>{name}</b>",
                "run": "hostile",
                "prompt_id": '"><script>window.hacked=1</script>',
                "group_id": f"'{name}",
            },
        }
        for name, text in HOSTILE_TEXTS.items()
    ]


def post(url: str, items: list[Item], **headers: str) -> list[str]:
    """Post items to a service; the ids of their verdicts."""
    ids: list[str] = []
    with httpx.Client(base_url=url, timeout=120, trust_env=False, headers=headers) as client:
        for start in range(0, len(items), 500):
            body = json.dumps({"items": items[start : start + 500]})  # ASCII, lone surrogates included
            reply = client.post(
                "/v1/verify/batch", content=body, headers={"content-type": "application/json"}
            )
            reply.raise_for_status()
            ids += [result["id"] for result in reply.json()["results"]]
    return ids
