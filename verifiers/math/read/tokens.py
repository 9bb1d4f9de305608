"""Text of one answer -> tokens. LaTeX, plain and Unicode spellings of one thing become one token."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from verifiers.math.read.characters import to_ascii
from verifiers.math.read.errors import ReadError, TooLarge
from verifiers.math.read.greek_units import spelled_out

MAX_CHARACTERS = 20_000
"""Longer answers are not read: no answer of a data set comes near."""

Kind = Literal["number", "word", "command", "operator", "begin", "end", "stop"]


class Token(NamedTuple):
    """One token. `upright`: written inside \\text and the like; `space`: white space came before it."""

    kind: Kind
    text: str
    space: bool = False
    upright: bool = False


_SCANNER = re.compile(
    r"""
    (?P<space>(?:[\s~]|\\[,;:!>\ ]|\\(?:left|right)\.|\\(?:thinspace|medspace|enspace|hfill|displaystyle
        |textstyle|scriptstyle|limits|tiny|small|normalsize|large|Large|LARGE|huge|Huge|nonumber|notag
        |nolimits|left(?![a-z])|right(?![a-z])|[bB]igg?[lrm]?(?![a-z])|middle|allowbreak|mathstrut|strut)(?![a-zA-Z]))+)
  | (?P<number>\d{1,3}(?:(?:\{,\}|,\\!\ *|\\[,\ ]|'(?=\d))\d{3})+(?![\d'])(?:\.\d+)?
        | (?:\d+\.\d+|\d+|\.\d+)(?:[eE][+-]?\d+(?![\w.]))?
        | \d+)
  | (?P<environment>\\(?:begin|end)\s*\{[a-zA-Z]+\*?\}(?:\[[^\]]*\])?)
  | (?P<dropped>\\(?:phantom|hspace|vspace|hphantom|vphantom|color|label|tag)\*?\s*\{[^{}]*\}
      |\\textcolor\s*\{[^{}]*\}
        |\\(?:quad|qquad)(?=\s*(?:[,;]|\\text|$)))
  | (?P<rowbreak>\\\\\*?\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in|mu)\s*\])
  | (?P<command>\\[A-Za-z]+)
  | (?P<escaped>\\[\\{}%$&\#_|()\[\]])
  | (?P<word>[A-Za-z]+)
  | (?P<operator>\+/-|<=>|<=|>=|=<|!=|==|=>|->|\*\*|\.\.+|<>|[-+*/^_=<>(),;:!|'\[\]{}&%$.?"`\#@])
""",
    re.VERBOSE,
)

_TIMES = re.compile(r"(?<=\d) ?[xX] ?(?=10\s?(?:\^|\*\*))|(?<=\d) [xX] (?=\\?[$€£]?\d)")
"""The letter x as a sign of multiplication: `3 x 10^8`."""

_UPRIGHT = frozenset(
    [
        "text",
        "textbf",
        "textit",
        "textrm",
        "textnormal",
        "textsf",
        "texttt",
        "mbox",
        "hbox",
        "mathrm",
        "mathbf",
        "mathit",
        "mathsf",
        "mathtt",
        "operatorname",
        "boldsymbol",
        "bm",
        "pmb",
        "rm",
        "bf",
        "it",
    ]
)
_TRANSPARENT = frozenset(
    ["boxed", "fbox", "mathop", "mathord", "ensuremath", "underline", "emph", "operatornamewithlimits"]
)
_TEXT = frozenset(
    ["text", "textbf", "textit", "textrm", "textnormal", "textsf", "texttt", "mbox", "hbox", "emph"]
)

_OPERATORS = {
    "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=", "geq": ">=", "geqslant": ">=",
    "geqq": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=", "approx": "~", "simeq": "~", "cong": "~",
    "sim": "~", "eq": "=", "cdot": "*", "times": "*", "ast": "*", "star": "*", "div": "/", "pm": "+-",
    "mp": "-+",
    "in": "in", "notin": "notin", "cup": "union", "bigcup": "union", "cap": "intersection",
    "bigcap": "intersection",
    "setminus": "difference", "smallsetminus": "difference", "backslash": "difference", "lbrace": "\\{",
    "rbrace": "\\}", "vert": "|", "lvert": "|", "rvert": "|", "mid": "mid", "Vert": "||", "lVert": "||",
    "rVert": "||", "langle": "<(", "rangle": ")>", "ldots": "...", "dots": "...", "cdots": "...",
    "dotsc": "...", "dotsb": "...", "vdots": "...", "colon": ":", "prime": "'", "degree": "deg",
    "percent": "%",
    "equiv": "equiv", "to": "->", "rightarrow": "->", "implies": "=>", "Rightarrow": "=>",
    "Longrightarrow": "=>",
    "iff": "=>", "Leftrightarrow": "=>", "land": "and", "wedge": "and", "lor": "or", "vee": "or",
    "lbrack": "[",
    "rbrack": "]", "lparen": "(", "rparen": ")", "quad": "quad", "qquad": "quad", "newline": "\\\\",
    "cr": "\\\\",
    "euro": "€", "pounds": "£", "yen": "¥", "rupee": "₹", "cent": "¢", "dollar": "$", "And": "and",
}  # fmt: skip

_PLAIN = {
    "\\%": "%", "\\$": "currency$", "\\_": "_", "\\|": "||", "\\#": "#", "**": "^", "==": "=", "=<": "<=",
    "->": "->", "<>": "!=", "<=>": "=>", "..": "...", "....": "...",
    "+/-": "+-",
}  # fmt: skip


def tokenize(text: str) -> list[Token]:
    """The tokens of `text`, ended by one of kind `stop`.

    Raises `ReadError` for a character outside the grammar and `TooLarge` beyond `MAX_CHARACTERS`.
    """
    if len(text) > MAX_CHARACTERS:
        raise TooLarge(f"longer than {MAX_CHARACTERS} characters")
    return _Tokenizer(_TIMES.sub(r"\\times ", spelled_out(to_ascii(text)))).run()


class _Tokenizer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.space = False
        self.upright = 0
        self.braces: list[str] = []
        self.pending = ""
        self.money = text.replace("\\$", "").count("$") % 2 == 1

    def run(self) -> list[Token]:
        position, end = 0, len(self.text)
        while position < end:
            match = _SCANNER.match(self.text, position)
            if match is None:
                raise ReadError(f"character {self.text[position]!r} is not in the grammar")
            kind = match.lastgroup
            if kind == "space":
                self.space = True
            elif kind != "dropped":
                getattr(self, f"_{kind}")(match[0])
            position = match.end()
        self.tokens.append(Token("stop", "", self.space))
        return self.tokens

    def _emit(self, kind: Kind, text: str) -> None:
        self.tokens.append(Token(kind, text, self.space, self.upright > 0))
        self.space = False

    def _number(self, text: str) -> None:
        self._emit("number", text)

    def _word(self, text: str) -> None:
        if self.pending:  # \mathrm e: a font command without braces takes one letter
            self.pending = ""
            self.upright += 1
            self._emit("word", text[0])
            self.upright -= 1
            text = text[1:]
        if text:
            self._emit("word", text)

    def _environment(self, text: str) -> None:
        name = text[text.index("{") + 1 : text.index("}")]
        self._emit("begin" if text.startswith("\\begin") else "end", name)

    def _rowbreak(self, _text: str) -> None:
        self._emit("operator", "\\\\")

    def _command(self, text: str) -> None:
        name = text[1:]
        if name in _UPRIGHT:
            self.pending = "text" if name in _TEXT else "font"
        elif name in _TRANSPARENT:
            self.pending = "group"
        elif name in _OPERATORS:
            self._emit("operator", _OPERATORS[name])
        elif name == "top":  # transposed
            self._emit("word", "T")
        elif name.startswith(("quad", "qquad")):  # a data set's `\\quadx_2`
            self._emit("operator", "quad")
            self._word(name.partition("quad")[2])
        else:
            self._emit("command", name)

    def _escaped(self, text: str) -> None:
        if text in {"\\(", "\\)", "\\[", "\\]"}:
            self.space = True
        elif text in {"\\{", "\\}", "\\\\"}:
            self._emit("operator", text)
        elif text == "\\&":
            self._emit("word", "and")
        else:
            self._emit("operator", _PLAIN[text])

    def _operator(self, text: str) -> None:
        if text == "{":
            self._open()
        elif text == "}":
            self._close()
        elif text == "$":
            if self.money:
                self._emit("operator", "currency$")
            self.space = True
        elif text in '"`':
            self.space = True
        else:
            self._emit("operator", "..." if text.startswith("...") else _PLAIN.get(text, text))

    def _open(self) -> None:
        style, self.pending = self.pending, ""
        self.braces.append(style)
        if style in {"text", "font"}:
            self.upright += 1
            self.space = self.space or style == "text"
        else:
            self._emit("operator", "{")

    def _close(self) -> None:
        style = self.braces.pop() if self.braces else ""
        if style in {"text", "font"}:
            self.upright -= 1
            self.space = self.space or style == "text"
        else:
            self._emit("operator", "}")
