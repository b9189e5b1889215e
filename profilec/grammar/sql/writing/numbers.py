"""Numbers and arithmetic to SQL, where it computes what we do.

Ours is exact over integers and decimals and a double as soon as one takes part, value by value;
SQL gives a column one type. `Form` is what both make of an expression:

    INTEGER    integers in both
    COLUMN     a column's own numbers, of whatever type, in both
    FRACTION   exact decimals in both
    DOUBLE     a double in both
    MIXED      equal numbers, but perhaps a double there and exact here: to be compared or divided only

Assumed, and documented for the user: no column holds NaN or infinities; one of doubles is not
compared with integers beyond 2**53; sums and products stay within the dialect's exact types.
"""

from __future__ import annotations

from decimal import Decimal
from enum import Enum

from sqlglot import exp

from profilec.grammar import ir
from profilec.grammar.sql.writing.forms import Writing, refused, wrap
from profilec.values.kinds import Kind
from profilec.values.numbers import exact

# What every dialect's decimals hold beside a 64-bit integer, and a double gives back unchanged.
_MOST_DIGITS = 15
_MOST_PLACES = 18
_EXACT_IN_DOUBLE = 2**53
_INTEGER_BITS = {"SQLite": 63, "DuckDB": 127, "Spark": 126, "Databricks": 126, "PostgreSQL": 126}
_LARGEST_DECIMAL = 38
_DIGITS_OF_INT64 = 20


class Form(Enum):
    INTEGER = "integer"
    COLUMN = "column"
    FRACTION = "fraction"
    DOUBLE = "double"
    MIXED = "mixed"


def number(value: int | Decimal, wide: bool, writing: Writing) -> exp.Expr:
    """The literal of a number; `wide` where it meets nothing but integers, and may be beyond 2**53."""
    if isinstance(value, int):
        if abs(value) > _EXACT_IN_DOUBLE:
            if not wide:
                raise refused(
                    f"{value} meets what may be a double, which does not hold it",
                    "declare the attribute INTEGER in a schema",
                )
            if value.bit_length() > _INTEGER_BITS.get(writing.name, 63):
                raise refused(f"{value} is beyond the integers of {writing.name}")
        text = str(abs(value))
    else:
        _, digits, exponent = value.as_tuple()
        assert isinstance(exponent, int)
        if len(digits) > _MOST_DIGITS or -exponent > _MOST_PLACES or exact(float(value)) != value:
            raise refused(
                f"{value} has more than {_MOST_DIGITS} digits or {_MOST_PLACES} decimal places, "
                f"which {writing.name} may round"
            )
        text = format(abs(value), "f")
    literal = exp.Literal.number(text)
    return exp.Neg(this=literal) if value < 0 else literal


def meets_integers_only(scalars: tuple[ir.Scalar, ...], writing: Writing) -> bool:
    """Whether a constant among these may be beyond 2**53: without a schema, a column is what it is compared with."""
    return all(
        isinstance(scalar, ir.Constant)
        or form_of(scalar, writing) is Form.INTEGER
        or (writing.schema is None and isinstance(scalar, ir.Attribute))
        for scalar in scalars
    )


def form_of(scalar: ir.Scalar, writing: Writing) -> Form:
    """The form of a scalar of kind NUMBER.

    Raises:
        Refusal: SQL would compute another number.
    """
    match scalar:
        case ir.Constant(_, int()):
            return Form.INTEGER
        case ir.Constant():
            return Form.FRACTION
        case ir.Attribute():
            type_ = writing.type_of(scalar)
            return Form.INTEGER if type_ is not None and type_.name == "INTEGER" else Form.COLUMN
        case ir.Call("+" | "-" | "*" | "%" as operator, (left, right)):
            return _form_of_arithmetic(operator, form_of(left, writing), form_of(right, writing), writing)
        case ir.Call("/", _):
            return Form.DOUBLE
        case ir.Call("NEGATE" | "ABS", (operand,)):
            return form_of(operand, writing)
        case ir.Call("LENGTH", _):
            return Form.INTEGER
        case ir.Call("ROUND", (operand, *_)):
            form = form_of(operand, writing)
            return Form.MIXED if writing.name == "PostgreSQL" and form is not Form.INTEGER else form
        case ir.Call("COALESCE", arguments):
            return _form_of_choice(arguments, writing)
        case ir.Cast(argument, "INTEGER"):
            return Form.INTEGER if _is_integer(argument, writing) else Form.MIXED
        case ir.Cast(argument, "NUMBER"):
            return Form.INTEGER if _is_integer(argument, writing) else form_of(argument, writing)
    raise refused("a number that comes of no number")


def _is_integer(scalar: ir.Scalar, writing: Writing) -> bool:
    return writing.kind(scalar) is Kind.BOOLEAN or (
        writing.kind(scalar) is Kind.NUMBER and form_of(scalar, writing) is Form.INTEGER
    )


def _form_of_arithmetic(operator: str, left: Form, right: Form, writing: Writing) -> Form:
    forms = {left, right}
    if Form.MIXED in forms:
        raise refused(
            f"`{operator}` on COALESCE, ROUND or CAST of a number that may be a double",
            "declare the attribute INTEGER in a schema, or COALESCE the result",
        )
    if operator == "%":
        if writing.name == "PostgreSQL" and (
            Form.DOUBLE in forms or (writing.schema is not None and Form.COLUMN in forms)
        ):
            raise refused("PostgreSQL has no `%` for doubles", "declare the attribute INTEGER in a schema")
        if writing.traits.remainder == "integer" and forms != {Form.INTEGER}:
            raise refused(
                f"`%` cuts its operands to integers in {writing.name}", "declare the attribute INTEGER in a schema"
            )
    if Form.DOUBLE in forms:
        return Form.DOUBLE
    if Form.FRACTION in forms and writing.traits.fractions == "double":
        raise refused(f"arithmetic with a fraction is not exact in {writing.name}, and is here")
    for form in (Form.FRACTION, Form.COLUMN):
        if form in forms:
            return form
    return Form.INTEGER


def _form_of_choice(arguments: tuple[ir.Scalar, ...], writing: Writing) -> Form:
    given = [argument for argument in arguments if argument is not ir.NULL]
    forms = {form_of(argument, writing) for argument in given if argument != ir.constant(0)}
    n_columns = len({argument for argument in given if not isinstance(argument, ir.Constant)})
    if len(forms) > 1 or (forms == {Form.COLUMN} and n_columns > 1):
        return Form.MIXED
    return next(iter(forms), Form.INTEGER)


def check_digits(scalar: ir.Scalar, writing: Writing) -> None:
    """PERF: Spark rounds a decimal of more than 38 digits where DuckDB and PostgreSQL raise an error or keep them."""
    if writing.name in ("Spark", "Databricks") and _n_digits(scalar) > _LARGEST_DECIMAL:
        raise refused(
            f"arithmetic whose result may have more than {_LARGEST_DECIMAL} digits, which {writing.name} rounds"
        )


def _n_digits(scalar: ir.Scalar) -> int:
    """How many digits an exact result may take; none where it is a double, or where integers overflow with an error."""
    match scalar:
        case ir.Call("*", (left, right)):
            return _n_digits(left) + _n_digits(right) + 1 if _has_fraction(scalar) else 0
        case ir.Call("+" | "-" | "%", (left, right)):
            return max(_n_digits(left), _n_digits(right)) + 1 + _MOST_PLACES if _has_fraction(scalar) else 0
        case ir.Constant(_, int() | Decimal() as value) if not isinstance(value, bool):
            return len(Decimal(value).as_tuple().digits)
        case ir.Attribute():
            return _DIGITS_OF_INT64
        case ir.Call("NEGATE" | "ABS", (operand,)):
            return _n_digits(operand)
    return 0


def _has_fraction(scalar: ir.Node) -> bool:
    if isinstance(scalar, ir.Call) and scalar.function == "/":
        return False
    if isinstance(scalar, ir.Constant):
        return isinstance(scalar.value, Decimal)
    return any(_has_fraction(child) for child in ir.children(scalar))


def divide(
    dividend: exp.Expr, divisor: exp.Expr, divisor_node: ir.Scalar, is_double: bool, writing: Writing
) -> exp.Expr:
    """A quotient that is a double, and NULL where the divisor is zero."""
    if writing.traits.division != "double" and not is_double:
        if writing.name == "SQLite":
            dividend = exp.Mul(this=wrap(dividend), expression=exp.Literal.number("1.0"))
        else:
            dividend = exp.cast(dividend, "double")
    # As the dialect itself has it, so that sqlglot adds nothing.
    typed = writing.traits.division != "double"
    return exp.Div(this=_product(dividend), expression=not_zero(divisor, divisor_node), typed=typed, safe=False)


def _product(node: exp.Expr) -> exp.Expr:
    return node if isinstance(node, exp.Mul) else wrap(node)


def not_zero(divisor: exp.Expr, divisor_node: ir.Scalar) -> exp.Expr:
    if isinstance(divisor_node, ir.Constant) and divisor_node.value:
        return wrap(divisor)
    return exp.Nullif(this=divisor, expression=exp.Literal.number(0))
