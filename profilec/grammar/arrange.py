"""The style of `profilec fmt`: how the tokens of one statement are spaced and where its lines may end.

In: a statement's tokens, comments among them. Out: the statement's text, and the comments that go
behind its `;`.

    PROFILE id WHERE condition;              where it fits one line and has no other clauses; else
    PROFILE id
      WITH (priority = 5)
      WHERE a = 1
        AND (b = 2 OR c = 3)
      ACCEPTS {"a": 1, "b": 2};

Invariant: only white space changes, the case of keywords, and the side of a comma, a `;`, or a
final AND on which a comment stands. A comment that stands on lines of its own stays so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from profilec.grammar.layout import HARD, LINE, SOFT, SPACE, Comment, Group, Indent, Part, set_lines
from profilec.grammar.lexer import Token

COLUMNS = 100

_CLAUSES = frozenset({"WITH", "WHERE", "GIVEN", "ACCEPTS", "REJECTS"})
_EXAMPLES = frozenset({"GIVEN", "ACCEPTS", "REJECTS"})
_OPERANDS = frozenset({"NAME", "NUMBER", "STRING", "RPAR", "NULL", "TRUE", "FALSE", "UNKNOWN", "JSON"})
_KEPT = frozenset({"NAME", "NUMBER", "STRING", "JSON", "COMMENT"})
_CALLS = frozenset({"FUNCTION", "CAST", "ANY", "ALL"})
_SIGNS = frozenset({"PLUS", "MINUS"})
_JSON_TOKEN = re.compile(r"""\s*([{}\[\],:]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+)""")


class _Word:
    """A token as it will be written, with its comments: those before it, and those behind it in its line."""

    __slots__ = ("after", "before", "text", "type")

    def __init__(self, type_: str, text: str) -> None:
        self.type = type_
        self.text = text
        self.before: list[Comment] = []
        self.after: list[Comment] = []


def arrange(tokens: Sequence[Token], source: str) -> tuple[str, list[Comment]]:
    """The statement's text, `;` included, and the comments that belong behind it.

    `tokens` are those of a whole statement that parses, first to last, comments in their places;
    `source` is the text that they are the tokens of.

    >>> from profilec.grammar.lexer import tokens
    >>> text = "profile p where a=1 and(b in(1,2)) -- why\\n;"
    >>> arrange(list(tokens(text, comments=True)), text)
    ('PROFILE p WHERE a = 1 AND (b IN (1, 2));', [Comment(text='-- why', alone=False)])
    """
    *words, end = _words(tokens, source)
    head, clauses = _clauses(words)
    if head[0].type == "SCHEMA":
        statement: list[Part] = _content(head, each_on_its_line=True)
    else:
        breaks: Part = HARD if len(clauses) > 1 else LINE
        statement = _content(head)
        statement.append(Indent(*(part for clause in clauses for part in (breaks, *_clause(clause)))))
    statement += [Indent(*end.before), end.text]
    return set_lines(Group(*statement), COLUMNS), end.after


def _clauses(words: list[_Word]) -> tuple[list[_Word], list[list[_Word]]]:
    """What comes before the first clause, and the clauses, each with its keyword."""
    head: list[_Word] = []
    clauses: list[list[_Word]] = []
    depth, in_condition = 0, False
    for word in words:
        depth += (word.type == "LPAR") - (word.type == "RPAR")
        # A WHERE of the condition is a quantifier's.
        if depth == 0 and word.type in (_EXAMPLES if in_condition else _CLAUSES):
            clauses.append([])
            in_condition = in_condition or word.type == "WHERE"
        (clauses[-1] if clauses else head).append(word)
    return head, clauses


def _clause(words: list[_Word]) -> list[Part]:
    keyword, *rest = words
    content, behind = _without_tail(_content(rest, each_on_its_line=keyword.type == "WITH"))
    return [*keyword.before, Group(keyword.text, *keyword.after, SPACE, Indent(*content)), *behind]


# Tokens to words.


def _words(tokens: Sequence[Token], source: str) -> list[_Word]:
    """The tokens but for the comments, each with its comments. The AND of a BETWEEN has the type TO."""
    words: list[_Word] = []
    waiting: list[Comment] = []
    gaps = ["", *(source[one.end : two.start] for one, two in pairwise(tokens)), "\n"]
    same_line = ends_line = False
    depth, betweens = 0, [-1]
    for index, token in enumerate(tokens):
        same_line = same_line and "\n" not in gaps[index]
        if token.type != "COMMENT":
            word = _Word(token.type, _written(tokens, index))
            depth += (word.type == "LPAR") - (word.type == "RPAR")
            if word.type == "BETWEEN":
                betweens.append(depth)
            elif word.type == "AND" and betweens[-1] == depth:
                betweens.pop()
                word.type = "TO"
            word.before = waiting
            while ends_line and word.before and word.before[0].alone:
                words[-1].before.append(word.before.pop(0))
            waiting = _settle(words[-1], word) if words else []
            ends_line = same_line and word.type in ("AND", "OR")
            words.append(word)
            same_line = True
        elif same_line and not waiting:  # else a comma has left comments to the next word
            # Behind an AND at the end of a line, which will begin the next one.
            owner = words[-2] if ends_line and token.text.startswith("--") else words[-1]
            owner.after.append(_comment(token, alone=False))
        else:
            waiting.append(_comment(token, alone=token.text.startswith("--") or "\n" in gaps[index + 1]))
    return words


def comment_text(text: str) -> str:
    """A comment without what a line of it ends in and nobody sees."""
    return "\n".join(line.rstrip() for line in text.split("\n"))


def _comment(token: Token, *, alone: bool) -> Comment:
    return Comment(comment_text(token.text), alone)


def _settle(before: _Word, word: _Word) -> list[Comment]:
    """Put the comments between two words where they will stand; returns those that the next word takes over."""
    if word.type == "COMMA":
        word.after, before.after = before.after, []
        waiting, word.before = word.before, []
        return waiting
    if word.type in ("AND", "OR", "RPAR", "SEMICOLON"):
        while word.before and not word.before[0].alone:
            before.after.append(word.before.pop(0))
    if word.type == "SEMICOLON" and not word.before:
        word.after, before.after = before.after, []
    return []


def _written(tokens: Sequence[Token], index: int) -> str:
    """The token's text: keywords, functions and types in capitals."""
    token = tokens[index]
    if token.type not in _KEPT or (token.type == "NAME" and _is_type(tokens, index)):
        return token.text.upper()
    return token.text


def _is_type(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name is a type's: that of a field, of an array's elements, or of CAST."""
    if "`" in tokens[index].text:
        return False
    previous = _neighbour(tokens, index, -1)
    return previous in ("NAME", "LESS") or (previous == "AS" and _neighbour(tokens, index, 1) == "RPAR")


def _neighbour(tokens: Sequence[Token], index: int, step: int) -> str:
    """The type of the token before or behind another, comments left out."""
    index += step
    while 0 <= index < len(tokens) and tokens[index].type == "COMMENT":
        index += step
    return tokens[index].type if 0 <= index < len(tokens) else ""


# Words to parts.


class _Bracket:
    """What stands between two parentheses: lists of conjunctions of operands, each a list of parts."""

    __slots__ = ("elements", "opening", "ors")

    def __init__(self, opening: _Word | None = None) -> None:
        self.opening = opening
        self.begin()
        self.elements: list[tuple[list[Part], list[Part]]] = []

    def begin(self) -> None:
        """Begin the next element of a list."""
        self.ors: list[list[list[Part]]] = [[[]]]

    @property
    def operand(self) -> list[Part]:
        return self.ors[-1][-1]

    def connect(self, word: _Word) -> None:
        """Begin the next operand of AND or OR."""
        lead: list[Part] = [*word.before, word.text, *word.after, SPACE]
        if word.type == "OR":
            self.ors.append([lead])
        else:
            self.ors[-1].append(lead)

    def separate(self, comma: _Word) -> None:
        self.elements.append((self.expression(), [comma.text, *comma.after]))
        self.begin()

    def expression(self) -> list[Part]:
        """The parts of a condition or value; the line ends of its outermost connective are not in a group."""
        if len(self.ors) == 1:
            return _with_lines(self.ors[0])
        alternatives: list[list[Part]] = []
        for first, *others in self.ors:
            if others:
                content, behind = _without_tail([*first, Indent(LINE, *_with_lines(others))])
                alternatives.append([Group(*content), *behind])
            else:
                alternatives.append(first)
        return _with_lines(alternatives)

    def listed(self, *, each_on_its_line: bool) -> list[Part]:
        """All elements: as many on a line as fit, or each on its own."""
        if not self.elements:
            return self.expression()
        parts: list[Part] = []
        for position, (element, comma) in enumerate([*self.elements, (self.expression(), [])]):
            if not position:
                parts += [*element, *comma]
            elif each_on_its_line:
                parts += [LINE, *element, *comma]
            else:
                content, behind = _without_tail([LINE, *element, *comma])
                parts += [Group(*content), *behind]
        return parts


def _content(words: list[_Word], *, each_on_its_line: bool = False) -> list[Part]:
    """The parts of a clause."""
    brackets = [_Bracket()]
    previous: _Word | None = None
    sign = False
    for word in words:
        bracket = brackets[-1]
        if word.type == "COMMA":
            bracket.separate(word)
        elif word.type == "RPAR":
            brackets.pop()
            inner = bracket.listed(each_on_its_line=each_on_its_line)
            opening = bracket.opening
            assert opening is not None
            group = Group(opening.text, *opening.after, Indent(SOFT, *inner, *word.before), SOFT, word.text)
            brackets[-1].operand.extend((group, *word.after))
        elif word.type in ("AND", "OR"):
            bracket.connect(word)
        else:
            if bracket.operand and not _is_glued(previous, word, sign):
                bracket.operand.append(SPACE)
            bracket.operand.extend(word.before)
            if word.type == "LPAR":
                brackets.append(_Bracket(word))
            else:
                bracket.operand.extend((_json(word.text) if word.type == "JSON" else word.text, *word.after))
        sign = word.type in _SIGNS and (previous is None or previous.type not in _OPERANDS)
        previous = word
    return brackets[0].listed(each_on_its_line=True)


def _is_glued(previous: _Word | None, word: _Word, sign: bool) -> bool:
    """Whether no space stands between two words of an operand; `sign`: the first is a sign."""
    if previous is None or word.type in ("LESS", "GREATER"):
        return True
    if sign:
        return word.type not in _SIGNS  # `--` begins a comment
    if word.type == "LPAR":
        return previous.type in _CALLS or (previous.type == "NAME" and previous.text.upper() == "RECORD")
    return previous.type == "LESS" or previous.text == "¬"


def _with_lines(operands: list[list[Part]]) -> list[Part]:
    parts = operands[0]
    for operand in operands[1:]:
        parts += [LINE, *operand]
    return parts


def _without_tail(parts: list[Part]) -> tuple[list[Part], list[Part]]:
    """The parts, and the comments behind the last of them, which need not break the group."""
    length = len(parts)
    while length and isinstance(parts[length - 1], Comment):
        length -= 1
    return parts[:length], parts[length:]


def _json(text: str) -> Part:
    """The parts of a JSON value: its own tokens, newly spaced."""
    levels: list[list[Part]] = [[]]
    for token in _JSON_TOKEN.findall(text):
        if token in "{[":
            levels.append([])
        elif token in "}]":
            inner = levels.pop()
            opening = "{" if token == "}" else "["
            levels[-1].append(Group(opening, Indent(SOFT, *inner), SOFT, token) if inner else opening + token)
        elif token in ",:":
            levels[-1] += [token, LINE if token == "," else SPACE]
        else:
            levels[-1].append(token)
    return levels[0][0]
