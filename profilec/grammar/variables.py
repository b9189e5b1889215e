"""Variables of quantifiers and of ANY … AS: what is doubtful in how a condition uses them.

In: where a condition has variables, and attributes that may be theirs. Out: warnings.

    EXISTS d (e.x = x)                  d is not used: did you mean `d.x`?
    EXISTS d (d.x = x) AND d.y = 1      `d.y` stands outside of the brackets in which d is a variable
    EXISTS d (d.x = d)                  d is also an attribute

A path of the new document (`user.city`) reads like a variable's attribute. Without a schema it is suspected only where
its beginning is the variable in other letters, or where the variable is not used at all.
"""

from __future__ import annotations

from bisect import bisect_left

from profilec.grammar import ir
from profilec.grammar.infer import Typing
from profilec.grammar.located import Located
from profilec.grammar.refusals import TextError, shorten


class Uses:
    """What a walk over a condition finds: `quantified`, what gives a variable; of the new document `paths`, which could
    be meant as a variable's, and the first names of `attributes` that are none; where the earlier document's stand."""

    __slots__ = ("attributes", "earlier", "paths", "quantified")

    def __init__(self) -> None:
        self.quantified: list[Located] = []
        self.paths: list[Located] = []
        self.attributes: set[str] = set()
        self.earlier: list[int] = []

    def see(self, at: Located, attribute: ir.Attribute, text: str) -> None:
        if attribute.scope == ir.OLD:
            self.earlier.append(at.start)
        elif attribute.scope == ir.NEW:
            if len(attribute.parts) > 1 and text[at.start] != "`":
                self.paths.append(at)
            else:
                self.attributes.add(attribute.parts[0])


def doubtful(uses: Uses, text: str, typing: Typing) -> list[TextError]:
    """The warnings about the variables of a condition that was read from `text`."""
    paths, earlier = sorted(uses.paths, key=_start), sorted(uses.earlier)
    starts = [path.start for path in paths]
    found = []
    for at in uses.quantified:
        if isinstance(at.node, ir.Exists | ir.ForAll):
            inside = paths[bisect_left(starts, at.start) : bisect_left(starts, at.end)]
            place = bisect_left(earlier, at.start)
            is_used = place < len(earlier) and earlier[place] < at.end
            if typing.schema is None:
                found += _unused(at, is_used, inside, text)
            elif not any(typing.is_unknown(path.node) for path in inside):  # type: ignore[arg-type]
                found += _unused(at, is_used, [], text)
    names = {at.variable.text for at in uses.quantified if at.variable is not None}
    outside = [path for path in paths if typing.schema is None and _first(path) in names]
    taken = uses.attributes.union(map(_first, set(paths).difference(outside)))
    if typing.schema is not None:
        taken.update(field.name for field in typing.schema.fields)
    return [*found, *(_outside(path, text) for path in outside), *_also_attributes(uses.quantified, taken)]


def _unused(at: Located, is_used: bool, paths: list[Located], text: str) -> list[TextError]:
    """A quantifier that does not ask its variable. `paths`: those in it that may be meant to."""
    token = at.variable
    body, scope = at.parts
    assert token is not None
    assert isinstance(scope.node, ir.Scope)
    variable = token.text
    for path in paths:
        if _first(path) != variable and _first(path).lower() == variable.lower():
            return [_misspelt(path, variable, f"the variable is written {variable}", text)]
    if is_used or scope.node.within is not None or isinstance(body.node, ir.Literal):
        return []
    for path in paths:
        if len(_first(path)) <= max(2, len(variable)):
            return [_misspelt(path, variable, f"{variable} is not used", text)]
    message = f"{variable} is not used, so this asks nothing of the earlier documents"
    hint = f"what an earlier document holds is written `{variable}.x`"
    return [TextError("PC617", token.start, token.end, message, hint)]


def _misspelt(path: Located, variable: str, why: str, text: str) -> TextError:
    written = text[path.start : path.end]
    meant = f"{variable}{written[len(_first(path)) :]}"
    message = f"`{shorten(written)}` is the new document's; {why}"
    return TextError("PC617", *path.span, message, f"did you mean `{shorten(meant)}`?")


def _outside(path: Located, text: str) -> TextError:
    name = _first(path)
    written = shorten(text[path.start : path.end])
    message = f"`{written}` stands outside of the brackets in which {name} is a variable"
    hint = f"here it is the new document's; if that is meant, give the variable another name than {name}"
    return TextError("PC618", *path.span, message, hint)


def _also_attributes(quantified: list[Located], taken: set[str]) -> list[TextError]:
    """Variables that are also attributes: `d.x` is the variable's, a bare `d` the attribute's."""
    found = []
    for at in quantified:
        token = at.variable
        if token is not None and token.text in taken:
            name = token.text
            message = f"{name} is also an attribute; here `{name}.x` is the variable's"
            hint = "give the variable another name"
            found.append(TextError("PC610", token.start, token.end, message, hint))
    return found


def _start(located: Located) -> int:
    return located.start


def _first(path: Located) -> str:
    assert isinstance(path.node, ir.Attribute)
    return path.node.parts[0]
