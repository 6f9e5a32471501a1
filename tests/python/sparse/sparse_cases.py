"""Calls of operators on sparse arrays: what the record of 1.9.1's storages and the tests share."""
import itertools

SHORT = {"d": "default", "r": "row_sparse", "c": "csr"}
A, B = (4, 3), (3, 5)


def _pairs(letters="drc", left=None):
    return [a + b for a, b in itertools.product(left or letters, letters)]


UNARY = ("abs sign round rint ceil floor trunc fix square sqrt cbrt log1p expm1 sin tan arcsin "
         "arctan degrees radians sinh tanh arcsinh arctanh negative relu "
         "_contrib_round_ste _contrib_sign_ste").split()
NOT_ZERO = "rsqrt exp log cos arccos cosh gamma gammaln sigmoid reciprocal erf softsign".split()


def _unary():
    for name in UNARY + NOT_ZERO:
        yield from ((name, s, [A], {}) for s in "rc")
    for low, high in ((-1, 1), (0, 1), (-1, 0)):
        yield from (("clip", s, [A], {"a_min": low, "a_max": high}) for s in "rc")
    for c in (0.0, 1.0):
        yield from (("_contrib_quadratic", s, [A], {"a": 1.0, "b": 2.0, "c": c}) for s in "rc")
    for name in ("_copy", "BlockGrad", "make_loss", "zeros_like", "ones_like"):
        yield from ((name, s, [A], {}) for s in "rc")
    yield from (("Cast", s, [A], {"dtype": "float64"}) for s in "rc")


def _scalar():
    names = ("_plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar "
             "_maximum_scalar _minimum_scalar _power_scalar _mod_scalar _equal_scalar "
             "_not_equal_scalar _greater_scalar _greater_equal_scalar _lesser_scalar "
             "_lesser_equal_scalar _scatter_plus_scalar _scatter_minus_scalar").split()
    for name, scalar, s in itertools.product(names, (0.0, 2.0, -2.0), "rc"):
        yield name, s, [A], {"scalar": scalar}


def _binary():
    names = ("elemwise_add elemwise_sub elemwise_mul elemwise_div _grad_add _maximum _minimum "
             "_hypot _power _equal").split()
    for name, s in itertools.product(names, _pairs()):
        if s != "dd":
            yield name, s, [A, A], {}
    yield from (("_scatter_elemwise_div", s, [A, A], {}) for s in _pairs(left="rc"))
    yield from (("_identity_with_attr_like_rhs", s, [A, A], {}) for s in _pairs())
    for name in ("add", "sub", "mul", "div"):
        for shape in ((1, 3), (3,), (4, 1), (1,)):
            yield f"broadcast_{name}", "cd", [A, shape], {}
            yield f"broadcast_{name}", "rd", [A, shape], {}
    for s in "rr rrr cc dr rd drr rdr dc cd crd rc r c cdc rrd".split():
        yield "add_n", s, [A] * len(s), {}


def _reductions():
    for name, axis, keepdims in itertools.product(("sum", "mean", "norm"), (None, 0, 1), (0, 1)):
        params = {"keepdims": bool(keepdims)}
        if axis is not None:
            params["axis"] = axis
        yield from ((name, s, [A], params) for s in "rc")
    for axis, keepdims in itertools.product((0, 1), (0, 1)):
        yield "_square_sum", "r", [A], {"axis": axis, "keepdims": bool(keepdims)}


def _dots():
    for ta, tb, s in itertools.product((0, 1), (0, 1), _pairs()):
        for asked in (None, "default", "row_sparse", "csr"):
            if s == "cr" and ta and not tb and asked == "default":
                continue  # 1.9.1: not implemented
            params = {"transpose_a": bool(ta), "transpose_b": bool(tb)}
            if asked:
                params["forward_stype"] = asked
            yield "dot", s, [A[::-1] if ta else A, B[::-1] if tb else B], params


def _moves():
    for params in ({"begin": (1,), "end": (3,)}, {"begin": (1, 0), "end": (3, 2)},
                   {"begin": (0,), "end": (4,), "step": (2,)}, {"begin": (-3,), "end": (-1,)},
                   {"begin": (None, 1), "end": (None, 3)}):
        yield from (("slice", s, [A], params) for s in "rc")
    for dim, s in itertools.product((0, 1), ("cc", "cd", "rr", "ccc")):
        yield "Concat", s, [A] * len(s), {"dim": dim}
    yield from (("where", "".join(s), [A, A, A], {}) for s in itertools.product("drc", "dr", "dr"))
    for s in ("cdd", "cd"):
        shapes = [A, (2, 3), (2,)][:len(s)]
        yield "FullyConnected", s, shapes, {"num_hidden": 2, "no_bias": len(s) == 2}
    for name in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"):
        yield name, "dc", [A, A], {}


CASES = [case for group in (_unary, _scalar, _binary, _reductions, _dots, _moves)
         for case in group()]


def key(name, storages, shapes, params):
    """One text for a call."""
    told = ", ".join(f"{k}={v}" for k, v in sorted(params.items()))
    return f"{name}({storages} {' '.join(map(str, shapes))}; {told})"


def dense(np, shape, seed):
    """Some elements are 0, and so is a row."""
    rng = np.random.RandomState(seed)
    array = rng.uniform(-0.9, 0.9, shape) * (rng.rand(*shape) < 0.6)
    if shape[0] > 1:
        array[1] = 0
    return array + 0.0  # no -0


def call(mx, name, arrays, params):
    """The operator by name, in either library."""
    for module in (mx.nd, mx.nd._internal):
        function = getattr(module, name, None)
        if function is not None:
            return function(*arrays, **params)
    return getattr(mx.nd.contrib, name[len("_contrib_"):])(*arrays, **params)
