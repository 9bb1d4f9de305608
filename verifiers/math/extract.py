"""Where in a response the answer stands. Every search is one linear pass; nothing is parsed here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from verifiers.math.options import MathOptions, Source
from verifiers.math.prose import NUMBER, formulas, last_of_list, stands, values


@dataclass(frozen=True, slots=True)
class Candidate:
    """A stretch of the response that may be the answer. `start` and `end` are code points of the response."""

    text: str
    source: Source
    start: int
    end: int
    loose: bool = False
    """Cut out of prose: mere words do not count as an answer here."""


_BRACES = re.compile(r"(?:boxed|fbox)\s*\{|\\\\|\\[{}]|[{}]")
_BETWEEN = re.compile(
    r"""\s*
    (?: [,;]\s*(?:and|or)? | (?=\s*$) | (?:[a-z]+\s+|for\s+part\s+\(?[a-z]\)?\s+){0,3}(?:and|or) )
    (?:\s*[a-zA-Z](?:_\{?\w+\}?)?\s*(?:=|\\in))?\s*""",
    re.VERBOSE,
)
_MARKUP = re.compile(r"\\(?:text|mathrm|textbf)\s*\{([^{}]*)\}|\\q?quad|\\[,;:! ()\[\]]|\$|\*\*")
_MOST_BETWEEN = 60

_TAG = re.compile(r"<(/?)answer(?:\s[^<>]{0,80})?>", re.IGNORECASE)
_PHRASE = re.compile(
    r"(?:(?:final\s+answer|(?:the\s+)?(?:correct\s+)?(?:answer|option|choice))(?:\s+to\s+[^.\n:]{1,60})?"
    r"(?:\s*\*\*)?\s*(?:is|are|:|=|will\s+be)"
    r"|respuesta(?:\s+(?:correcta|final))?\s*(?:es\b|:)|resposta(?:\s+(?:correta|final))?\s*(?:é\b|:)"
    r"|réponse(?:\s+(?:correcte|finale))?\s*(?:est\b|:)|risposta(?:\s+(?:corretta|finale))?\s*(?:è\b|:)"
    r"|Antwort\s*(?:ist\b|lautet\b|:)|ответ\s*[:—–-]"
    r"|答案(?:应该|应)?(?:是|为|[:：选])|故选|正解は|答えは|정답은|답은)"
    r"(?:\*\*)?[\s:：]*",
    re.IGNORECASE,
)
_HASH = re.compile(r"####[ \t]*([^\n]+)|^A(?:ns)?[.:][ \t]*([^\n]+)\s*\Z", re.MULTILINE)
"""`#### 72`, or a last line `A: 72`."""
_BOLD = re.compile(r"\*\*([^*\n]{1,400})\*\*")
_TURN = re.compile(r"<\|[a-z_]{2,20}\|>")
_HYPOTHETICAL = re.compile(
    r"\b(?:if|suppose|supposing|assume|assuming|say|unless|whether|would\s+mean|is)(?:\s+that)?\s+\Z",
    re.IGNORECASE,
)
"""Before "the answer is": what follows is only supposed, or asked."""
_RETRACTED = re.compile(
    r"(?:^|(?<=[.!?…。])\s{1,4})(?:(?:oh|hmm{0,4}|hm|but|no|ah|oops|actually)\b[\s,.…—-]{0,4}){0,4}"
    r"(?:wait|scratch\s+that|correction|on\s+second\s+thought|I\s+made\s+(?:a\s+mistake|an\s+error)"
    r"|that(?:['’]s|\s+is)\s+(?:wrong|incorrect|not\s+(?:right|correct)))\b",
    re.IGNORECASE | re.MULTILINE,
)
"""What was said before counts no more."""
_REASON = re.compile(
    r"\s*\(not\b|,?\s+(?:since|because|as|where|which|for\s+which)\b|,\s+(?:and\s+|but\s+)?not\b"
)
_TAKEN_BACK = re.compile(
    r"\b(?:not|maybe|perhaps|possibly|might|could|cannot|unsure|guess|neither|nor)\b|n['’]t\b|\w\s*\?\s*$",
    re.IGNORECASE,
)
"""What makes a sentence of prose no answer, whatever number it ends in."""
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)[.!?](?=\s|$|\*)|[。！？\n]")
_COPULA = re.compile(r"(?:\b(?:is|are|equals|be|was|were)\b|=|:(?!\d))[ \t]*")
_LINE = 400
"""Characters of a sentence or line that may be an answer."""


def candidates(response: str, options: MathOptions) -> Iterator[Candidate]:
    """The places an answer may stand, best first. The first that can be read is the answer."""
    start = after_reasoning(response)
    if options.reasoning != "keep":
        if start is None or (options.reasoning == "require" and start == 0):
            return
        visible = start
    else:
        visible = 0
    allowed = set(options.sources)
    if "boxed" in allowed and (box := last_boxes(response, visible)) is not None:
        yield box
    if start is None:  # cut off while it was thinking
        return
    turn = _TURN.search(response, start)
    text = _Text(response, start, turn.start() if turn and turn.start() > start else len(response))
    if "tags" in allowed:
        yield from text.tags()
    text.drop_retracted()
    finders = {
        "phrase": text.phrase,
        "hash": text.hash,
        "bold": text.bold,
        "formula": text.formula,
    }
    for source, finder in finders.items():
        if source in allowed:
            yield from finder()
    if "text" in allowed:
        yield from text.whole()


def after_reasoning(response: str) -> int | None:
    """Where the text after the last `</think>` begins: 0 without one; None when a `<think>` stays open."""
    closed = response.rfind("</think>")
    start = closed + len("</think>") if closed >= 0 else 0
    return None if response.find("<think>", start) >= 0 else start


def last_boxes(response: str, start: int = 0) -> Candidate | None:
    """The last complete box, with the boxes before it that belong to the same list."""
    boxes = complete_boxes(response, start)
    if not boxes:
        return None
    chosen = [boxes[-1]]
    for box in reversed(boxes[:-1]):
        between = response[box[2] : chosen[0][0]].rstrip("\\")
        if len(between) > _MOST_BETWEEN or not _BETWEEN.fullmatch(
            _MARKUP.sub(r" \1 ", between).replace("$", " ")
        ):
            break
        chosen.insert(0, box)
    contents = [response[box[1] : box[2] - 1] for box in chosen]
    if len(set(contents)) == 1:
        contents, chosen = contents[-1:], chosen[-1:]
    return Candidate(", ".join(contents), "boxed", chosen[0][1], chosen[-1][2] - 1)


def complete_boxes(response: str, start: int = 0) -> list[tuple[int, int, int]]:
    """(start, start of the content, end) of every closed box that holds no other."""
    found: list[tuple[int, int, int]] = []
    if "boxed" not in response and "fbox" not in response:
        return found
    open_braces: list[tuple[bool, int, int]] = []
    for match in _BRACES.finditer(response, start):
        brace = match[0]
        if brace.endswith("{") and len(brace) > 2:
            open_braces.append((True, match.start(), match.end()))
        elif brace == "{":
            open_braces.append((False, match.start(), match.end()))
        elif brace == "}" and open_braces:
            is_box, begin, content = open_braces.pop()
            if is_box and not (found and found[-1][0] > begin):
                found.append((begin, content, match.end()))
    return found


class _Text:
    """The part of a response that is not reasoning."""

    def __init__(self, response: str, start: int, end: int) -> None:
        self.response = response
        self.start = start
        self.end = end

    def tags(self) -> Iterator[Candidate]:
        found: tuple[int, int] | None = None
        begin: int | None = None
        for tag in _TAG.finditer(self.response, self.start, self.end):
            if not tag[1]:
                begin = tag.end()
            elif begin is not None:
                found, begin = (begin, tag.start()), None
        if found is not None:
            yield self._candidate(*found, "tags")

    def drop_retracted(self) -> None:
        """Leave out what a later `Wait, no` takes back."""
        for match in _RETRACTED.finditer(self.response, self.start, self.end):
            self.start = match.end()

    def phrase(self) -> Iterator[Candidate]:
        matches = [
            match
            for match in _PHRASE.finditer(self.response, self.start, self.end)
            if not _HYPOTHETICAL.search(self.response, max(self.start, match.start() - 40), match.start())
        ]
        if not matches:
            return
        begin = matches[-1].end()
        rest = min(self.end, begin + _LINE)
        formula = next((span for span in formulas(self.response, begin, rest) if span[0] == begin), None)
        stop = self._sentence_end(formula[1] if formula else begin, rest)
        if (reason := _REASON.search(self.response, formula[1] if formula else begin, stop)) is not None:
            stop = reason.start()
        yield from self._sentence(begin, stop, "phrase", fallback=True)
        if formula is not None:
            yield self._candidate(*formula, "phrase")

    def hash(self) -> Iterator[Candidate]:
        if "####" not in self.response and "\nA" not in self.response:
            return
        matches = list(_HASH.finditer(self.response, self.start, self.end))
        if matches:
            yield self._candidate(*matches[-1].span(matches[-1].lastindex or 1), "hash")

    def bold(self) -> Iterator[Candidate]:
        matches = [
            match
            for match in _BOLD.finditer(self.response, self.start, self.end)
            if match[1].strip()[-1:] != ":"
        ]
        if matches:
            begin, end = last_of_list(self.response, [match.span() for match in matches])
            parts = [match[1].strip().strip("*").strip() for match in matches if match.start() >= begin]
            yield Candidate(", ".join(parts), "bold", begin + 2, end - 2, loose=True)

    def formula(self) -> Iterator[Candidate]:
        if len(self.response) - self.start <= _LINE:  # `$28$ percent`, `$12$ and $13$`
            yield self._candidate(self.start, self.end, "formula", loose=True)
        spans = formulas(self.response, self.start, self.end)
        if not spans:
            return
        begin, end = last_of_list(self.response, spans)
        if len(self.response[begin:end].strip("$ ")) == 1:  # a lone letter in a sentence
            return
        sentence = max(self.start, begin - _LINE)
        for stop in _SENTENCE_END.finditer(self.response, sentence, begin):
            sentence = stop.end()
        if not stands(self.response, sentence, begin):
            return
        if not NUMBER.search(self.response, end, min(self.end, end + _LINE)):
            yield self._candidate(begin, end, "formula")

    def whole(self) -> Iterator[Candidate]:
        text = self.response[self.start : self.end].rstrip()
        end = self.start + len(text)
        if len(text) <= _LINE:
            yield self._candidate(self.start, end, "text", loose=True)
        line = self.response.rfind("\n", self.start, end) + 1
        line = max(line, self.start, end - _LINE)
        yield from self._sentence(line, end, "text", fallback=False)
        begin = max(self.start, end - _LINE)
        stops = [
            match.end() for match in _SENTENCE_END.finditer(self.response, begin, end) if match.end() < end
        ]
        for first, last in zip([begin, *stops][::-1], [*stops, end][::-1], strict=False):
            yield from self._sentence(first, last, "text", fallback=True)

    def _sentence(self, begin: int, end: int, source: Source, *, fallback: bool) -> Iterator[Candidate]:
        """A sentence as a whole, what follows its last `is` or `=`, and the last number in it."""
        end -= len(self.response[begin:end]) - len(self.response[begin:end].rstrip(" .!。！\n"))
        if begin >= end or self._is_taken_back(begin, end):
            return
        yield self._candidate(begin, end, source, loose=True)
        for match in list(_COPULA.finditer(self.response, begin, end))[:-4:-1]:
            if match.end() < end and match[0].strip() != "=":
                yield self._candidate(match.end(), end, source, loose=True)
        if fallback:
            for span in values(self.response, begin, end):
                yield self._candidate(*span, source)

    def _is_taken_back(self, begin: int, end: int) -> bool:
        """`It is not 18`, `maybe 18?`; but `not 17, it is 18` is an answer."""
        numbers = list(NUMBER.finditer(self.response, begin, end))
        last = numbers[-2].end() if len(numbers) > 1 else begin
        return _TAKEN_BACK.search(self.response, last, end + 1) is not None

    def _sentence_end(self, begin: int, end: int) -> int:
        match = _SENTENCE_END.search(self.response, begin, end)
        return match.start() if match else end

    def _candidate(self, start: int, end: int, source: Source, *, loose: bool = False) -> Candidate:
        text = self.response[start:end].strip()
        inner = text.strip("*").strip()
        return Candidate(text if "**" in inner else inner, source, start, end, loose)
