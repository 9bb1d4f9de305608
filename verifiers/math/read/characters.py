"""The characters that stand for others: an explicit map, no NFKC (which would read 4² as 42)."""

from __future__ import annotations

import re

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱ", "0123456789+-()ni", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ₙₖᵢ", "0123456789+-nki", strict=True))
_SUPERSCRIPT_RUN = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_SUBSCRIPT_RUN = re.compile(f"[{''.join(_SUBSCRIPTS)}]+")
_ROOT = re.compile(r"([√∛∜])\s*(\d+(?:\.\d+)?|[A-Za-z](?![A-Za-z]))")
_ROOT_INDEX = {"√": r"\sqrt", "∛": r"\sqrt[3]", "∜": r"\sqrt[4]"}

_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ϵ": "epsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "ϑ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu",
    "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "ϕ": "phi",
    "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta", "Θ": "Theta", "Λ": "Lambda",
    "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega", "µ": "mu",
}  # fmt: skip

_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5),
    "⅘": (4, 5), "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
}  # fmt: skip

_SIGNS = {
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "﹣": "-", "⁄": "/", "∕": "/",
    "×": r"\times ", "✕": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∙": r"\cdot ", "•": r"\cdot ",
    "÷": r"\div ", "∗": "*", "±": r"\pm ", "∓": r"\mp ", "≤": r"\le ", "⩽": r"\le ", "≦": r"\le ",
    "≥": r"\ge ", "⩾": r"\ge ", "≧": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "≅": r"\approx ",
    "≡": r"\equiv ", "∞": r"\infty ", "∈": r"\in ", "∉": r"\notin ", "∪": r"\cup ", "∩": r"\cap ",
    "∖": r"\setminus ", "∅": r"\emptyset ", "Ø": r"\emptyset ", "ø": r"\emptyset ", "→": r"\to ",
    "⇒": r"\implies ", "⟹": r"\implies ", "∧": r"\land ", "∨": r"\lor ", "∣": "|", "∥": r"\|",
    "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⟨": r"\langle ",
    "⟩": r"\rangle ", "〈": r"\langle ", "〉": r"\rangle ", "°": r"^\circ ", "º": r"^\circ ", "′": "'",
    "″": "''", "’": "'", "‘": "'", "“": '"', "”": '"', "…": r"\ldots ", "⋯": r"\ldots ",
    "∶": ":", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}",
    "ℂ": r"\mathbb{C}", "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ", "∠": r"\angle ", "△": r"\triangle ",
    "€": r"\euro ", "£": r"\pounds ", "¥": r"\yen ", "₹": r"\rupee ", "¢": r"\cent ", "％": "%",
    "√": r"\sqrt ", "∛": r"\sqrt[3]", "∜": r"\sqrt[4]", "ℓ": r"\ell ", "ⅈ": "i", "ⅇ": "e",
    "\u00a0": " ", "\u2009": r"\,", "\u202f": r"\,", "\u2002": " ", "\u2003": " ", "\u3000": " ",
    "，": ",", "；": ";", "：": ":", "。": ".", "、": ",", "（": "(", "）": ")",
}  # fmt: skip

_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u2061\u2062\u2063\u2064\u00ad\u200e\u200f"

_FULLWIDTH = {chr(0xFEE0 + code): chr(code) for code in range(0x21, 0x7F)}

_TABLE = str.maketrans(
    {
        **_FULLWIDTH,
        **{sign: f"\\{name} " for sign, name in _GREEK.items()},
        **{sign: f"\\frac{{{a}}}{{{b}}}" for sign, (a, b) in _VULGAR.items()},
        **_SIGNS,
    }
)

_EDGES = re.compile(rf"^[{_INVISIBLE}\s]+|[{_INVISIBLE}\s]+$")
_BETWEEN_DIGITS = re.compile(rf"(?<=\d)[{_INVISIBLE}]+(?=\d)")
_INVISIBLES = re.compile(f"[{_INVISIBLE}]")


def to_ascii(text: str) -> str:
    """Rewrite Unicode mathematics as LaTeX.

    Superscripts become powers, so 4² is never 42; an invisible character between two digits stays in
    place, so it is no number; characters without a rule are kept and refused by the tokenizer.
    """
    if text.isascii():
        return text
    text = _EDGES.sub("", text)
    if not _BETWEEN_DIGITS.search(text):
        text = _INVISIBLES.sub("", text)
    text = _SUPERSCRIPT_RUN.sub(lambda run: f"^{{{_translate(run[0], _SUPERSCRIPTS)}}}", text)
    text = _SUBSCRIPT_RUN.sub(lambda run: f"_{{{_translate(run[0], _SUBSCRIPTS)}}}", text)
    text = _ROOT.sub(lambda root: f"{_ROOT_INDEX[root[1]]}{{{root[2]}}}", text)
    return text.translate(_TABLE)


def _translate(run: str, table: dict[str, str]) -> str:
    return "".join(table[character] for character in run)
