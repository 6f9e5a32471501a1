"""Examples at the end of the docstrings of methods that are operators or functions of their name.

The methods are made when they are first asked for (methods.py), and these tables are read then:

_classic.py     calls that arrays of mx.nd and symbols have alike
_numpy.py       calls that arrays of mx.np and their symbols have alike
_generator.py   draws of generators of mx.np.random
_sessions.py    what is no single call

Tests run the examples as doctests.
"""
import importlib
from typing import NamedTuple

__all__ = ["example"]


def example(kind, name, instead=None):
    """The lines of a method's example; [] when it has none.

    Parameters
    ----------
    kind : {'nd', 'sym', 'np', 'sym.np', 'rng'}
        Whose method it is.
    name : str
    instead : str, optional
        Of a method that only raises an error: what to call.

    >>> from mxnet._operators.method_examples import example
    >>> for line in example('nd', 'log') + example('np', 'log', 'mx.np.log'):
    ...     print(line)
    >>> mx.nd.array([1, 10]).log().asnumpy().round(3)
    array([0.   , 2.303], dtype=float32)
    >>> mx.np.log(mx.np.array([1, 10])).round(3)
    array([0.   , 2.303])
    """
    session = _session(kind, name)
    if session:
        return session
    if kind == "rng":
        return _draws(name)
    classic, numpy = _row("_classic", name), _row("_numpy", name)
    if kind in ("nd", "sym"):
        return _CLASSIC[kind](classic) if classic else []
    if instead is None:
        return _METHODS[kind](numpy) if numpy else []
    if instead.startswith("mx."):
        row = numpy or classic and _as_numpy(classic)
        return _FUNCTIONS[kind](row, instead) if row else []
    return _through_classic(kind, classic) if classic else []


def _cells(table, name):
    """The cells of a method's row behind its name; [] if the table has none."""
    rows = importlib.import_module(f"{__name__}.{table}").ROWS
    _, found, rest = rows.partition(f"\n{name} | ")
    return rest.partition("\n")[0].split(" | ") if found else []


def _draws(name):
    cells = _cells("_generator", name)
    if not cells:
        return []
    made, call, figure, decimals, printed = cells
    return [f">>> draws = mx.np.random.{made}(7).{call}", f">>> draws.dtype.name, round(float({figure}), {decimals})", printed]


class _Row(NamedTuple):
    """A call of a method and what is printed."""

    values: str         # of the array
    other: str          # of another array, which `{other}` in the call stands for
    call: str
    rounded: str        # whether numbers are rounded
    printed: str

    @property
    def arguments(self):
        """What stands in the brackets of the call, and what follows them."""
        inside, _, rest = self.call.partition("(")[2].rpartition(")")
        return inside, rest


def _row(table, name):
    """The row of a method; None if the table has none."""
    cells = _cells(table, name)
    return _Row(*(None if cell == "-" else cell for cell in cells)) if cells else None


def _session(kind, name):
    text = importlib.import_module(f"{__name__}._sessions").SESSIONS
    return [line for line in text.partition(f"\n[{kind}.{name}]\n")[2].partition("\n\n[")[0].split("\n") if line]


def _classic_printed(row):
    if row.printed.startswith("("):
        return row.printed
    if row.printed.endswith(" int64"):
        return f"array({row.printed.removesuffix(' int64')})"
    return f"array({row.printed}, dtype=float32)"


def _reading(row):
    """What makes a NumPy array of the result, to be shown."""
    if row.call.endswith(".shape"):
        return ""
    return ".asnumpy()" + (".round(3)" if row.rounded else "")


def _of_array(row, array="mx.nd.array({})"):
    call = row.call.replace("{other}", f"mx.nd.array({row.other})")
    return [f">>> {array.format(row.values)}.{call}{_reading(row)}", _classic_printed(row)]


def _of_symbol(row):
    call, shape = row.call.removesuffix(".shape"), ".shape" * row.call.endswith(".shape")
    call = call.replace("{other}", "mx.sym.var('y')")
    given = f"x=mx.nd.array({row.values})" + (f", y=mx.nd.array({row.other})" if row.other else "")
    return [f">>> y = mx.sym.var('x').{call}", f">>> y.eval({given})[0]{shape}{_reading(row)}", _classic_printed(row)]


_CLASSIC = {"nd": _of_array, "sym": _of_symbol}


def _through_classic(kind, row):
    """A method that only classic arrays and symbols have: through one of these."""
    if kind == "np":
        return _of_array(row, "mx.np.array({}).as_nd_ndarray()")
    first, second, printed = _of_symbol(row)
    return [first.replace("var('x').", "var('x').as_np_ndarray().as_nd_ndarray()."), second, printed]


def _as_numpy(row):
    """A row of the classic table as one of mx.np, which prints arrays of its own."""
    return row._replace(printed=row.printed if row.printed.startswith("(") else f"array({row.printed})")


def _rounding(row):
    return ".round(3)" if row.rounded else ""


def _of_np_array(row):
    call = row.call.replace("{other}", f"mx.np.array({row.other})")
    return [f">>> mx.np.array({row.values}).{call}{_rounding(row)}", row.printed]


def _evaluated(row, symbol, rest):
    given = f"x=mx.np.array({row.values})" + (f", y=mx.np.array({row.other})" if row.other else "")
    return [f">>> y = {symbol}", f">>> y.eval({given})[0]{rest}{_rounding(row)}", row.printed]


def _of_np_symbol(row):
    call = row.call.removesuffix(".shape").replace("{other}", "mx.sym.var('y').as_np_ndarray()")
    return _evaluated(row, f"mx.sym.var('x').as_np_ndarray().{call}", ".shape" * row.call.endswith(".shape"))


_METHODS = {"np": _of_np_array, "sym.np": _of_np_symbol}


def _function_of_array(row, function):
    inside, rest = row.arguments
    given = ", ".join(filter(None, [f"mx.np.array({row.values})", inside.replace("{other}", f"mx.np.array({row.other})")]))
    return [f">>> {function}({given}){rest}{_rounding(row)}", row.printed]


def _function_of_symbol(row, function):
    inside, rest = row.arguments
    given = ", ".join(filter(None, ["mx.sym.var('x').as_np_ndarray()", inside.replace("{other}", "mx.sym.var('y').as_np_ndarray()")]))
    index, shape = rest.removesuffix(".shape"), ".shape" * rest.endswith(".shape")
    return _evaluated(row, f"{function}({given}){index}", shape)


_FUNCTIONS = {"np": _function_of_array, "sym.np": _function_of_symbol}
