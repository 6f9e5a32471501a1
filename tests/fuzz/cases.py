"""Which calls are made: case `n` of a seed is always the same line."""
import random
import re

from mxnet import env
from mxnet._operators import functions as _op_functions

SHAPES = [(), (0,), (1,), (3,), (5,), (2, 3), (3, 2), (3, 3), (1, 1), (0, 3), (2, 0), (2, 3, 4),
          (1, 2, 5, 5), (2, 4, 6, 6), (2, 0, 4, 4), (1, 1, 4, 4, 4), (2, 3, 1, 1),
          (1,) * 6, (2,) * 8, (1,) * 33, (5000,), (300, 300)]
DTYPES = ["float32"] * 8 + ["float64", "float16", "bfloat16", "int32", "int64", "int8", "uint8", "bool"]
INTS = [0, 1, 2, 3, -1, -2, 5, 7, 8, 64, -5, 2**31 - 1, -2**31, 2**31, 2**32 + 1, 2**63 - 1, -2**63,
        2**63, "x", "", "None", 1.5, "nan", "1e3"]
FLOATS = [0.0, -0.0, 1.0, 0.5, -1.0, 2.0, 1e-30, 1e30, 1e308, float("inf"), float("-inf"), float("nan"), "x", ""]
TUPLES = [(), (0,), (1,), (2,), (-1,), (2, 2), (1, 1), (3, 3), (0, 0), (-1, -1), (2, 3), (0, -1), (3, 2, 1), (2, 2, 2),
          (1, 0, 2, 3), (2**31,), (2**31, 2**31), (2**62, 4),
          (-2**63, 1), (1,) * 40, "x", "(", "None", 5, (2**31 - 1,) * 2]
SPARSE = 0.15   # of the operands
# what is not asked: gives no answer to a call by itself, or ends the process on purpose
LEFT_OUT = re.compile(r"^_backward_|^_Native|^_NDArray|^Custom$|^_Custom|^_npi_cvimread|^_cvimread")

# parameters that are not asked: with init_output=False a result joins what `out` holds, and without
# `out` that is unspecified, as in 1.x
PARAMETERS_LEFT_OUT = {"init_output"}


def operators():
    """One name per operator."""
    by_handle = {}
    for name in _op_functions.op_names():
        if not LEFT_OUT.search(name):
            by_handle.setdefault(_op_functions.op_info(name).handle, name)
    return sorted(by_handle.values())


def _value(rng, kind):
    choices = re.match(r"\{(.*?)\}", kind)
    if choices and rng.random() < 0.9:
        names = re.findall(r"'([^']*)'", choices.group(1))
        return rng.choice(names or ["x"])
    if "bool" in kind:
        return rng.choice([0, 1, True, False, True, False, "x", 2])
    if "hape" in kind or "uple" in kind or "[]" in kind or "<" in kind:
        return rng.choice(TUPLES)
    if "float" in kind or "double" in kind:
        return rng.choice(FLOATS)
    if "int" in kind or "long" in kind:
        return rng.choice(INTS[:9]) if rng.random() < 0.6 else rng.choice(INTS)
    return rng.choice(["float32", "int32", "float64", "x", "", "add", "NCHW", 1, None])


def _shape(rng, base):
    if rng.random() < 0.75:
        return base
    return rng.choice(SHAPES) if rng.random() < 0.6 else tuple(reversed(base)) if rng.random() < 0.5 else base[1:]


def _array(rng, base, dtype):
    shape = _shape(rng, base)
    dtype = dtype if rng.random() < 0.85 else rng.choice(DTYPES)
    fill = rng.choice([0, 0, 0, 0, 1, 2])
    if rng.random() < SPARSE:
        wrong = rng.choice(["", "", "", "far", "negative", "twice", "order", "ends", "falls"])
        return f"s({rng.choice(['csr', 'row_sparse'])!r}, {shape!r}, {dtype!r}, {fill}{', wrong=' + repr(wrong) if wrong else ''})"
    return f"a({shape!r}, {dtype!r}{', ' + str(fill) if fill else ''})"


def operator_line(rng, names):
    name = rng.choice(names)
    info = _op_functions.op_info(name)
    base, dtype = rng.choice(SHAPES), rng.choice(DTYPES)
    count = rng.choice([0, 1, 2, 2, 3, 3, 5]) if info.variadic else len(info.inputs) - (rng.random() < 0.2) + (rng.random() < 0.03)
    arrays = [_array(rng, base, dtype) for _ in range(max(count, 0))]
    params = {}
    for pname, kind, _ in info.params:
        if pname in PARAMETERS_LEFT_OUT:
            continue
        needed = "required" in kind
        if needed and rng.random() < 0.97 or not needed and rng.random() < 0.35:
            params[pname] = _value(rng, kind)
    if info.counter and rng.random() < 0.9:
        params[info.counter] = count
    params = {k: v for k, v in params.items() if v is not None}
    mode = rng.choice(["eager", "eager", "bound", "bound", "backward", "out"])
    more = ""
    if mode == "out":
        more = ", [" + ", ".join(_array(rng, base, dtype) for _ in range(rng.choice([1, 1, 1, 2, 3]))) + "]"
    shown = "{" + ", ".join(f"{k!r}: {_literal(v)}" for k, v in params.items()) + "}"
    return f"call({mode!r}, {name!r}, [{', '.join(arrays)}], {shown}{more})"


def mutation_line(rng, mutations):
    """A call of op_cases with something changed."""
    name, arrays, params = mutations.make(rng, _value, DTYPES)
    mode, more = rng.choice(["eager", "eager", "bound", "backward", "backward", "out"]), ""
    if mode == "out":
        like = rng.choice(arrays or [[None, (1,), "float32"]])
        more = ", [" + ", ".join(f"a({like[1]!r}, {like[2]!r})" for _ in range(rng.choice([1, 1, 2, 3]))) + "]"
    shown = "{" + ", ".join(f"{k!r}: {_literal(v)}" for k, v in params.items() if v is not None and k not in PARAMETERS_LEFT_OUT) + "}"
    given = ", ".join(f"v({values.tolist()!r}, {shape!r}, {dtype!r})" for values, shape, dtype in arrays)
    return f"call({mode!r}, {name!r}, [{given}], {shown}{more})"


def _literal(value):
    return f"float('{value}')" if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))) else repr(value)


class Cases:
    """Lines by number, for one seed."""

    def __init__(self, seed, mutations=0.0):
        from files import READERS
        self.share, self.mutations = mutations, None
        self.seed = seed
        self.names = operators()
        self.readers = sorted(READERS)
        kinds = ("int", "float", "bool", "bitmask", "enum", "string")
        if mutations:
            from mutations import Mutations
            self.mutations = Mutations(self.names)
        self.variables = [row["name"] for row in env.list() if not row["fixed_after_start"] and row["type"] in kinds]

    def line(self, n):
        rng = random.Random(f"{self.seed}/{n}")
        if self.mutations and rng.random() < self.share:
            return mutation_line(rng, self.mutations)
        which = rng.random()
        if which < 0.80:
            return operator_line(rng, self.names)
        if which < 0.98:
            return f"reader({rng.choice(self.readers)!r}, {rng.randrange(2**31)})"
        return f"environment({rng.choice(self.variables)!r}, {str(rng.choice(INTS + FLOATS))!r})"
