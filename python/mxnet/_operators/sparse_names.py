"""Operators that 1.9.1 lists as knowing sparse storage: functions of ``mx.nd.sparse`` and
``mx.sym.sparse``. What an operator does with each storage is told by its record."""
from ..base import MXNetError
from .functions import op_names

NAMES = tuple("""
ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput
MAERegressionOutput _contrib_round_ste _contrib_sign_ste abs adagrad_update adam_update add_n arccos
arccosh arcsin arcsinh arctan arctanh broadcast_add broadcast_div broadcast_minus broadcast_mul
broadcast_plus broadcast_sub cast_storage cbrt ceil clip concat cos cosh degrees dot elemwise_add
elemwise_div elemwise_mul elemwise_sub exp expm1 fix floor ftrl_update gamma gammaln log log10 log1p
log2 make_loss mean negative norm radians relu retain rint round rsqrt sgd_mom_update sgd_update
sigmoid sign sin sinh slice sqrt square stop_gradient sum tan tanh trunc where zeros_like
""".split())


def operator_of(name):
    """The operator behind the function `name`: some are listed as sparse alone."""
    sparse = "_sparse_" + name
    return sparse if sparse in op_names() else name


def known():
    """Those of the names that have an operator."""
    names = set(op_names())
    return [name for name in NAMES if operator_of(name) in names]


def attach(module, make):
    """Returns ``__getattr__`` and ``__dir__`` for a module of these functions, which
    ``make(operator, name)`` gives when they are first asked for."""
    import sys
    space = vars(sys.modules[module])

    def getattribute(name):
        if name in NAMES:
            try:
                function = space[name] = make(operator_of(name), name)
            except MXNetError:
                pass
            else:
                return function
        raise AttributeError(f"module {module!r} has no attribute {name!r}: no operator that knows sparse storage")

    def directory():
        return sorted(set(space) | set(known()))

    return getattribute, directory
