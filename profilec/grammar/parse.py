"""The parser: text to located IR, by the LALR(1) tables that Lark makes of `profilec.lark`.

In: the text of one condition, or of one statement without its `;`. Out: a `Located` condition, or
the parts of the statement. The tokens come one by one (`lexer`), and each reduction calls the
builder (`build`, `declare`), so no tree is ever built. The loop over Lark's tables is our own:
Lark's takes twice the time of everything else together.

Invariant: all that is wrong with a text is told: the first place where it cannot be read, and
everything in the part before it that reads well but means nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from profilec.grammar.build import Builder
from profilec.grammar.cut import Cut, Cutter
from profilec.grammar.declare import Declarations, ParsedProfile, ParsedSchema
from profilec.grammar.diagnostics import Diagnostic, ProfileError, Source
from profilec.grammar.lexer import Token
from profilec.grammar.lexer import tokens as tokens_of
from profilec.grammar.limits import DEFAULT_LIMITS, Limits
from profilec.grammar.located import Located
from profilec.grammar.refusals import TextError
from profilec.grammar.tables import tables
from profilec.grammar.unexpected import Stop, explain
from profilec.values.locks import new_lock

__all__ = ["Limits", "Located", "parse_condition", "parse_cut", "parse_statement"]

_Method: TypeAlias = Callable[[list[Any]], Any]
_RECENT = 6
# The rules' methods are bound to one builder, so one parse runs at a time.
_LOCK = new_lock()
_BUILDER = Builder()


class _Machine(NamedTuple):
    """The tables with the builder's methods in them, ready for one start rule; `jumps` fills itself."""

    states: list[dict[str, int]]
    rules: list[tuple[_Method, int, str, tuple[int, ...]]]
    first: int
    last: int
    jumps: dict[tuple[int, str, str], int]


def parse_condition(
    text: str, *, limits: Limits = DEFAULT_LIMITS, file: str | None = None, profile: str | None = None
) -> Located:
    """The condition that a text says.

    >>> parse_condition("price < 10").node
    Compare('<', Attribute(0, ('price',)), Constant(<class 'int'>, 10))
    >>> [text[p.start : p.end] for text in ["a AND NOT b"] for p in parse_condition(text).parts]
    ['a', 'NOT b']

    Raises:
        ProfileError: all that is wrong with it; positions are those of `text`.
    """
    condition, faults = run(text, "condition", limits)
    if faults:
        raise ProfileError(as_diagnostics(faults, Source(text, file, profile)))
    assert isinstance(condition, Located)
    return condition


def parse_statement(
    text: str, limits: Limits = DEFAULT_LIMITS
) -> tuple[ParsedProfile | ParsedSchema | None, list[TextError]]:
    """One statement, without its `;`, and all that is wrong with it. The statement is None where it cannot be read."""
    return run(text, "statement", limits)


def parse_cut(
    cutter: Cutter, cut: Cut, limits: Limits = DEFAULT_LIMITS
) -> tuple[ParsedProfile | ParsedSchema | None, list[TextError], Cut]:
    """The statement of a cut, all that is wrong with it (a missing `;` too), and the part of the cut that it is.

    That is the whole, unless it cannot be read, or a statement that reads well ends where another may begin.
    """
    parsed, faults, part = _read_cut(cutter, cut, limits)
    if parsed is not None and not part.is_terminated:
        *_, last = tokens_of(cutter.text[part.start : part.end])
        message, hint = "expected `;` at the end of the statement", "every statement ends with a `;`"
        faults.append(TextError("PC101", last.end, last.end, message, hint))
    return parsed, faults, part


def _read_cut(
    cutter: Cutter, cut: Cut, limits: Limits
) -> tuple[ParsedProfile | ParsedSchema | None, list[TextError], Cut]:
    text, start = cutter.text, cut.start
    restart = cutter.restart(cut)
    if restart is not None:
        parsed, faults = parse_statement(text[start:restart], limits)
        part = Cut(cut.before, start, restart, is_terminated=False)
        # PERF: where a file has no `;`, or a quote in it no end, the rest of it is looked at once, not for each line.
        if parsed is not None or cut.last_fault >= start:
            return parsed, faults, part
    whole, faults_of_whole = parse_statement(text[start : cut.end], limits)
    if whole is None and restart is not None:
        return parsed, faults, part
    return whole, faults_of_whole, cut


def run(text: str, start: str, limits: Limits) -> tuple[Any, list[TextError]]:
    """What the rule `start` (`condition` or `statement`) makes of a text, and the faults found."""
    if len(text) > limits.max_size:
        message = f"this text has {len(text):,} characters; max_size allows {limits.max_size:,}"
        return None, [TextError("PC303", 0, 1, message)]
    with _LOCK:
        _BUILDER.begin(text)
        result = None
        try:
            result = _read(text, start, limits)
        except TextError as error:
            _BUILDER.faults.append(error)
        faults = _BUILDER.faults
        located = result.condition if isinstance(result, ParsedProfile) else result
        if isinstance(located, Located):
            faults.extend(_limit_faults(located, limits))
    return result, faults


def as_diagnostics(
    faults: list[TextError], source: Source, base: int = 0, profile: str | None = None
) -> list[Diagnostic]:
    """The faults in the order of their places; `base` is where the parsed text begins in the source."""
    return [
        source.diagnostic(
            fault.code, base + fault.start, base + fault.end, fault.message, hint=fault.hint, profile=profile
        )
        for fault in sorted(faults, key=lambda fault: fault.start)
    ]


def _read(text: str, start: str, limits: Limits) -> Any:
    """Run the tables over the tokens. PERF: this loop and the lexer are most of the time of a parse."""
    machine = _machine(start)
    states, rules, first, last, jumps = machine
    stack = [first]
    values: list[Any] = []
    recent: deque[Token] = deque(maxlen=_RECENT)
    brackets: list[Token] = []
    end = len(text.rstrip())
    stream = chain(tokens_of(text, condition=start == "condition"), (Token("$END", "", end, end),))
    for token in stream:
        kind = token.type
        action = states[stack[-1]].get(kind)
        while action is not None and action < 0:
            method, size, origin, gaps = rules[~action]
            if size == 1:
                children = [values.pop()]
                stack.pop()
            else:
                children = values[-size:]
                del values[-size:], stack[-size:]
            for gap in gaps:
                children.insert(gap, None)
            values.append(method(children))
            # The rules that only pass a value on are gone through at once.
            key = (stack[-1], origin, kind)
            state = jumps.get(key)
            if state is None:
                state = _jump(machine, key)
            stack.append(state)
            if kind == "$END" and state == last:
                return values[-1]
            action = states[state].get(kind)
        if action is None:
            if kind == "$END" and recent:  # comments may follow the last token
                token.start = token.end = recent[-1].end
            accepted = _accepted(machine, text, start, token)
            raise explain(Stop(token, recent, _next(stream), accepted, brackets, start == "statement"))
        stack.append(action)
        values.append(token)
        recent.append(token)
        if kind == "LPAR":
            brackets.append(token)
            if len(brackets) > limits.max_depth:
                raise _too_deep(token.start, token.end, limits)
        elif kind == "RPAR":
            brackets.pop()
    raise AssertionError("the end is refused or accepted")


def _jump(machine: _Machine, key: tuple[int, str, str]) -> int:
    """The state after `origin` was made in `state`, when `kind` comes next: past all rules that pass a value on."""
    state, origin, kind = key
    states, rules = machine.states, machine.rules
    reached = states[state][origin]
    while (action := states[reached].get(kind)) is not None and action < 0 and rules[~action][0] is _pass_on:
        reached = states[state][rules[~action][2]]
    machine.jumps[key] = reached
    return reached


def _pass_on(children: list[Any]) -> Any:
    return children[0]


def _accepted(machine: _Machine, text: str, start: str, refused: Token) -> set[str]:
    """The tokens that could stand where one was refused.

    The parse is run again up to there: a refused token is only found out after reductions that
    it seemed to allow, and those have hidden what else could have come.
    """
    stack = [machine.first]
    for token in tokens_of(text, condition=start == "condition"):
        if token.end > refused.start:
            break
        action = _shift(machine, stack, token.type)
        assert action is not None
        stack.append(action)
    names = {name for name in machine.states[stack[-1]] if name.isupper()}
    return {name for name in names if _shift(machine, stack.copy(), name) is not None}


def _shift(machine: _Machine, stack: list[int], kind: str) -> int | None:
    """The state that a token leads to, after the reductions it asks for; None where it is refused."""
    states = machine.states
    while (action := states[stack[-1]].get(kind)) is not None and action < 0:
        _, size, origin, _ = machine.rules[~action]
        del stack[-size:]
        stack.append(states[stack[-1]][origin])
        if stack[-1] == machine.last and kind == "$END":
            return machine.last
    return action


@cache
def _machine(start: str) -> _Machine:
    found = tables()
    declarations = Declarations(_BUILDER)
    rules: list[tuple[_Method, int, str, tuple[int, ...]]] = []
    for name, size, origin, gaps in found.rules:
        owner = _BUILDER if name is None or hasattr(_BUILDER, name) else declarations
        rules.append((_pass_on if name is None else getattr(owner, name), size, origin, gaps))
    return _Machine(found.states, rules, found.starts[start], found.ends[start], {})


def _next(stream: Iterator[Token]) -> Token | None:
    try:
        return next(stream, None)
    except TextError:
        return None


def _limit_faults(located: Located, limits: Limits) -> list[TextError]:
    faults = []
    if located.depth > limits.max_depth:
        faults.append(_too_deep(*located.span, limits))
    if _BUILDER.terms > limits.max_terms:
        message = f"this condition has {_BUILDER.terms:,} terms; max_terms allows {limits.max_terms:,}"
        faults.append(TextError("PC302", *located.span, message))
    return faults


def _too_deep(start: int, end: int, limits: Limits) -> TextError:
    return TextError("PC301", start, end, f"this is nested too deep; max_depth allows {limits.max_depth:,} levels")
