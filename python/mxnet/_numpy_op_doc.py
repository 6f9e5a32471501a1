"""The module of 1.9.1 whose functions have the names of operators, ``_np_sum`` for ``mx.np.sum``.

>>> import mxnet._numpy_op_doc
>>> mxnet._numpy_op_doc._np_sum is mx.np.sum
True
"""
_FUNCTIONS = """
    _np_all _np_amax _np_amin _np_any _np_atleast_1d _np_atleast_2d _np_atleast_3d _np_copy
    _np_cumsum _np_diag _np_diagflat _np_diagonal _np_dot _np_max _np_min _np_moveaxis _np_prod
    _np_product _np_repeat _np_reshape _np_roll _np_sometrue _np_squeeze _np_sum _np_trace
    _np_transpose _npx_constraint_check _npx_nonzero _npx_reshape
""".split()


def __getattr__(name):
    from .numpy_extension._signatures import _get_builtin_op
    function = _get_builtin_op(name) if name in _FUNCTIONS else None
    if function is None:
        raise AttributeError(f"module 'mxnet._numpy_op_doc' has no attribute {name!r}")
    return function


def __dir__():
    return [*globals(), *_FUNCTIONS]
