"""Operators written in Python: a class with ``forward`` and ``backward``, another one that
describes it, and ``register``.

>>> class Square(mx.operator.CustomOp):
...     def forward(self, is_train, req, in_data, out_data, aux):
...         self.assign(out_data[0], req[0], in_data[0] * in_data[0])
...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
...         self.assign(in_grad[0], req[0], 2 * in_data[0] * out_grad[0])
>>> @mx.operator.register("square")
... class SquareProp(mx.operator.CustomOpProp):
...     def create_operator(self, ctx, in_shapes, in_dtypes):
...         return Square()
>>> mx.nd.Custom(mx.nd.array([1, 2]), op_type="square")

Forward and backward run on threads of the library. What they raise is raised for whoever waits for
the result.
"""
import collections  # noqa: F401  (1.9.1 has this and others here that nothing below uses)
import ctypes  # noqa: F401
import itertools
import threading  # noqa: F401
import traceback  # noqa: F401
import warnings
from ctypes import CFUNCTYPE, POINTER, Structure  # noqa: F401
from threading import Lock  # noqa: F401

from . import context, symbol  # noqa: F401
from ._operators import callbacks as _operator_callbacks  # noqa: F401
from .base import (CheckedTypeError, CheckedValueError, MXCallbackList, NDArrayHandle, OpHandle, _LIB, c_str, check_call, py_str)  # noqa: F401
from .ndarray import NDArray
from ._operators.arguments import (OperatorArguments, get_all_registered_operators,
                             get_all_registered_operators_grouped, get_operator_arguments)
from ._arrays.classes import overwrite, to_class_of

__all__ = ["CustomOp", "CustomOpProp", "NDArrayOp", "NumpyOp", "OperatorArguments", "PythonOp", "get_all_registered_operators",
           "get_all_registered_operators_grouped", "get_operator_arguments", "register"]


class CustomOp:
    """Computes. An instance belongs to one call, or to one executor; ``forward`` may leave on it
    what ``backward`` needs.

    Its methods get arrays of mx.np if the operator was called, or its graph bound, under
    ``npx.set_np()``, and arrays of mx.nd otherwise.

    >>> class Triple(mx.operator.CustomOp):
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], 3 * in_data[0])
    ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    ...         self.assign(in_grad[0], req[0], 3 * out_grad[0])
    >>> @mx.operator.register('triple_of_example')
    ... class TripleProp(mx.operator.CustomOpProp):
    ...     def create_operator(self, ctx, shapes, dtypes):
    ...         return Triple()
    >>> mx.nd.Custom(mx.nd.array([1, 2]), op_type='triple_of_example').asnumpy()
    array([3., 6.], dtype=float32)
    """

    def forward(self, is_train, req, in_data, out_data, aux):
        """Computes `out_data` from `in_data`; `req` has ``'null'``, ``'write'``, ``'inplace'`` or
        ``'add'`` for each output. `aux`: the auxiliary states, which may be changed."""

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Computes the gradients of the inputs, `in_grad`, from those of the outputs, `out_grad`;
        `req` has a word for each input."""

    def assign(self, dst, req, src):
        """Puts `src` into `dst`, adds it, or does nothing, as `req` asks."""
        if req in ("write", "inplace", "add"):
            src = to_class_of(src, dst) if isinstance(src, NDArray) else src
            overwrite(dst, dst + src if req == "add" else src)


class CustomOpProp:
    """Describes an operator: its arguments, results and states, their shapes and dtypes.

    The keyword arguments of a call reach ``__init__`` of the subclass as strings. With
    ``need_top_grad=False``, that of a loss, ``backward`` gets no gradients of outputs.

    >>> class Scaled(mx.operator.CustomOp):
    ...     def __init__(self, factor):
    ...         self.factor = factor
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], self.factor * in_data[0])
    ...     def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
    ...         self.assign(in_grad[0], req[0], self.factor * out_grad[0])
    >>> @mx.operator.register('scaled_of_example')
    ... class ScaledProp(mx.operator.CustomOpProp):
    ...     def __init__(self, factor):
    ...         super().__init__(need_top_grad=True)
    ...         self.factor = float(factor)         # parameters arrive as texts
    ...     def list_arguments(self):
    ...         return ['data']
    ...     def list_outputs(self):
    ...         return ['output']
    ...     def infer_shape(self, in_shape):
    ...         return in_shape, [in_shape[0]], []
    ...     def infer_type(self, in_type):
    ...         return in_type, [in_type[0]], []
    ...     def create_operator(self, ctx, in_shapes, in_dtypes):
    ...         return Scaled(self.factor)
    >>> mx.nd.Custom(mx.nd.array([1, 2]), op_type='scaled_of_example', factor=3).asnumpy()
    array([3., 6.], dtype=float32)
    >>> mx.sym.Custom(mx.sym.var('x'), op_type='scaled_of_example', factor=3).infer_shape(x=(2,))[1]
    [(2,)]
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape):
        """The shapes of the arguments, the results and the auxiliary states: three lists, or two if
        there are no states. Unless overridden, all results have the shape of the first argument."""
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type):
        """The same for dtypes."""
        return in_type, [in_type[0]] * len(self.list_outputs()), [in_type[0]] * len(self.list_auxiliary_states())

    def infer_storage_type(self, in_stype):
        """The same for storage types; all are ``'default'``, dense. An operator whose class
        overrides this gets sparse arrays as they are, and makes what it says here; another one gets
        dense copies.

        >>> mx.operator.CustomOpProp().infer_storage_type(['default'])
        (['default'], ['default'], [])
        """
        self._dense(in_stype, "in_stype", "infer_storage_type")
        return in_stype, ["default"] * len(self.list_outputs()), ["default"] * len(self.list_auxiliary_states())

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """The storage types of all arrays of ``backward``: gradients of outputs, inputs, outputs,
        gradients of inputs, states. Unless overridden, all are dense; ValueError for gradients of
        outputs that are sparse.

        >>> mx.operator.CustomOpProp().infer_storage_type_backward(
        ...     ['default'], ['default'], ['default'], ['default'], [])
        (['default'], ['default'], ['default'], ['default'], [])
        """
        for name, stypes in (("ograd_stype", ograd_stype), ("igrad_stype", igrad_stype)):
            self._dense(stypes, name, "infer_storage_type_backward")
        return tuple(["default"] * len(stypes) for stypes in (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype))

    @staticmethod
    def _dense(stypes, name, function):
        for i, stype in enumerate(stypes):
            if stype not in ("default", "undefined"):
                raise CheckedValueError(f"[Custom] {function}: {name}[{i}] is {stype!r}; accepted: 'default', unless the "
                                        f"operator overrides {function}")

    def list_outputs(self):
        """Names of the results."""
        return ["output"]

    def list_arguments(self):
        """Names of the arguments."""
        return ["data"]

    def list_auxiliary_states(self):
        """Names of the auxiliary states, which follow the arguments.

        >>> class Count(mx.operator.CustomOp):
        ...     def forward(self, is_train, req, in_data, out_data, aux):
        ...         aux[0][:] += 1
        ...         self.assign(out_data[0], req[0], in_data[0])
        >>> @mx.operator.register('counted')
        ... class CountProp(mx.operator.CustomOpProp):
        ...     def list_auxiliary_states(self):
        ...         return ['count']
        ...     def infer_shape(self, in_shape):
        ...         return in_shape, [in_shape[0]], [(1,)]
        ...     def create_operator(self, ctx, shapes, dtypes):
        ...         return Count()
        >>> count = mx.nd.zeros(1)
        >>> for _ in range(3):
        ...     _ = mx.nd.Custom(mx.nd.ones(2), count, op_type='counted')
        >>> count.asnumpy()
        array([3.], dtype=float32)
        """
        return []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which of these ``backward`` reads: a list of some of the numbers that it gets. What is
        not in it need not be kept, and ``backward`` gets arrays without contents instead.

        >>> class Output(mx.operator.CustomOpProp):
        ...     def declare_backward_dependency(self, out_grad, in_data, out_data):
        ...         return [*out_grad, *out_data]
        >>> CustomOpProp().declare_backward_dependency([0], [1], [2])
        [0, 1, 2]
        >>> Output().declare_backward_dependency([0], [1], [2])
        [0, 2]
        """
        return [*(out_grad if self.need_top_grad_ else []), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """Makes the operator, a CustomOp, for inputs of these shapes and dtypes on `ctx`."""
        return CustomOp()


_registry = {}   # op_type -> class
_creator = _operator_callbacks.creator(_registry, CustomOp, CustomOpProp)


def register(reg_name):
    """Decorator of a CustomOpProp: its operator is ``mx.nd.Custom(..., op_type=reg_name)`` and
    ``mx.sym.Custom`` from now on.

    >>> class Negated(mx.operator.CustomOp):
    ...     def forward(self, is_train, req, in_data, out_data, aux):
    ...         self.assign(out_data[0], req[0], -in_data[0])
    >>> @mx.operator.register('negated_of_example')
    ... class NegatedProp(mx.operator.CustomOpProp):
    ...     def create_operator(self, ctx, in_shapes, in_dtypes):
    ...         return Negated()
    >>> mx.nd.Custom(mx.nd.array([1, 2]), op_type='negated_of_example').asnumpy()
    array([-1., -2.], dtype=float32)
    """
    if not isinstance(reg_name, str) or not reg_name:
        raise CheckedTypeError(f"[operator.register] the name is {reg_name!r}; accepted: a text that is not empty")

    def do_register(prop_cls):
        is_class = isinstance(prop_cls, type)
        if not callable(prop_cls) or is_class and not hasattr(prop_cls, "create_operator"):
            what = f"the class {prop_cls.__name__}" if is_class else f"of the type {type(prop_cls).__name__}"
            raise CheckedTypeError(f"[operator.register] what is registered as {reg_name!r} is {what}; accepted: a subclass of "
                                   "mx.operator.CustomOpProp")
        if reg_name in _registry:
            warnings.warn(f"New registration is overriding existing custom operator {reg_name}", stacklevel=2)
        _registry[reg_name] = prop_cls
        check_call(_LIB.MXCustomOpRegister(c_str(reg_name), _creator))
        return prop_cls
    return do_register


# ---- what came before CustomOp


class PythonOp:
    """Base of NumpyOp and NDArrayOp: an operator and its description in one class. Use CustomOp.

    >>> class Scaled(mx.operator.NumpyOp):
    ...     def __init__(self):
    ...         super().__init__(need_top_grad=True)
    ...     def list_arguments(self):
    ...         return ['data', 'scale']
    ...     def list_outputs(self):
    ...         return ['scaled']
    ...     def infer_shape(self, in_shape):
    ...         return [in_shape[0], (1,)], [in_shape[0]]
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = in_data[0] * in_data[1]
    ...     def backward(self, out_grad, in_data, out_data, in_grad):
    ...         in_grad[0][:] = out_grad[0] * in_data[1]
    ...         in_grad[1][:] = (out_grad[0] * in_data[0]).sum()
    >>> operator = Scaled()
    >>> operator.need_top_grad()
    True
    >>> y = operator.get_symbol(mx.sym.var('x'), mx.sym.var('scale'), name='y')
    >>> y.list_outputs()
    ['y_scaled']
    >>> executor = y.bind(mx.cpu(), {'x': mx.nd.array([1, 2]), 'scale': mx.nd.array([3])},
    ...                   args_grad={'x': mx.nd.zeros(2), 'scale': mx.nd.zeros(1)})
    >>> executor.forward(is_train=True)[0].asnumpy()
    array([3., 6.], dtype=float32)
    >>> executor.backward(mx.nd.ones(2))
    >>> [grad.asnumpy() for grad in executor.grad_arrays]
    [array([3., 3.], dtype=float32), array([3.], dtype=float32)]
    """

    _ref_holder = []

    def __init__(self, need_top_grad=True):
        self.info_ = None
        self.need_top_grad_ = need_top_grad
        warnings.warn(f"{self._kind()} has been deprecated. Please use CustomOp", stacklevel=2)

    @classmethod
    def _kind(cls):
        return next(c.__name__ for c in cls.__mro__ if c.__module__ == __name__)

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """A symbol of the operator."""
        raise NotImplementedError(f"[operator] {type(self).__name__} has no get_symbol; accepted: a NumpyOp or an NDArrayOp")

    def forward(self, in_data, out_data):
        """Computes the outputs. Unless overridden, copies the first input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Computes the gradients of the inputs. Unless overridden, ones."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """The shapes of the arguments and of the outputs."""
        return in_shape, [in_shape[0]]

    def list_outputs(self):
        """Names of the outputs."""
        return ["output"]

    def list_arguments(self):
        """Names of the arguments."""
        return ["data"]

    def need_top_grad(self):
        """Whether ``backward`` reads the gradients of the outputs."""
        return self.need_top_grad_

    def _symbol(self, record, args, kwargs, **params):
        number = next(_python_op_numbers)
        _python_ops[number] = self
        made = getattr(symbol._internal, record)(*args, info=number, **params, **kwargs)
        self.info_ = number
        return made


class NumpyOp(PythonOp):
    """An operator whose ``forward(in_data, out_data)`` and ``backward(out_grad, in_data, out_data,
    in_grad)`` get NumPy arrays. Use CustomOp.

    >>> class Doubled(mx.operator.NumpyOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = 2 * in_data[0]
    ...     def backward(self, out_grad, in_data, out_data, in_grad):
    ...         in_grad[0][:] = 2 * out_grad[0]
    >>> y = Doubled().get_symbol(mx.sym.var('x'))
    >>> y.eval(x=mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    def get_symbol(self, *args, **kwargs):
        """A symbol of the operator; its inputs are the arguments."""
        return self._symbol("_Native", args, kwargs, need_top_grad=self.need_top_grad())


class NDArrayOp(PythonOp):
    """The same with NDArrays. Use CustomOp.

    >>> class Doubled(mx.operator.NDArrayOp):
    ...     def forward(self, in_data, out_data):
    ...         out_data[0][:] = 2 * in_data[0]
    ...     def backward(self, out_grad, in_data, out_data, in_grad):
    ...         in_grad[0][:] = 2 * out_grad[0]
    >>> y = Doubled().get_symbol(mx.sym.var('x'))
    >>> y.eval(x=mx.nd.array([1, 2]))[0].asnumpy()
    array([2., 4.], dtype=float32)
    """

    def get_symbol(self, *args, **kwargs):
        """A symbol of the operator; its inputs are the arguments."""
        return self._symbol("_NDArray", args, kwargs)

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which of these ``backward`` reads.

        >>> class Doubled(mx.operator.NDArrayOp):
        ...     def declare_backward_dependency(self, out_grad, in_data, out_data):
        ...         return out_grad
        ...     def forward(self, in_data, out_data):
        ...         out_data[0][:] = 2 * in_data[0]
        ...     def backward(self, out_grad, in_data, out_data, in_grad):
        ...         in_grad[0][:] = 2 * out_grad[0]
        >>> y = Doubled().get_symbol(mx.sym.var('x'))
        >>> y.eval(x=mx.nd.array([1, 2]))[0].asnumpy()
        array([2., 4.], dtype=float32)
        """
        return [*(out_grad if self.need_top_grad() else []), *in_data, *out_data]


_python_op_numbers = itertools.count(1)
_python_ops = {}   # number -> PythonOp: symbols of it may be bound at any time


class _PythonOpProp(CustomOpProp):
    def __init__(self, info, need_top_grad="1"):
        self.op = _python_ops.get(int(info))
        if self.op is None:
            raise CheckedValueError(f"info={info} names no operator of this process; accepted: what get_symbol of a NumpyOp or an "
                                    "NDArrayOp made here")
        super().__init__(self.op.need_top_grad())

    def infer_shape(self, in_shape):
        return self.op.infer_shape(in_shape)

    def list_arguments(self):
        return self.op.list_arguments()

    def list_outputs(self):
        return self.op.list_outputs()

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        if isinstance(self.op, NDArrayOp):
            return self.op.declare_backward_dependency(out_grad, in_data, out_data)
        return super().declare_backward_dependency(out_grad, in_data, out_data)

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _PythonOpRun(self.op)


class _PythonOpRun(CustomOp):
    def __init__(self, op):
        self.op = op

    def _call(self, function, req, targets, *arrays):
        # These classes are older than mx.np: they get arrays of mx.nd.
        targets, *arrays = ([a.as_nd_ndarray() for a in part] for part in (targets, *arrays))
        # The function overwrites its results: what is to be added is computed apart.
        made = [t if r in ("write", "inplace") else t.zeros_like() for t, r in zip(targets, req)]
        if isinstance(self.op, NDArrayOp):
            function(*arrays, made)
            results = made
        else:
            results = [m.asnumpy() for m in made]
            function(*[[a.asnumpy() if a.shape or a.size else a for a in part] for part in arrays], results)
        for target, r, result in zip(targets, req, results):
            if result is not target:
                self.assign(target, r, result)

    def forward(self, is_train, req, in_data, out_data, aux):
        self._call(self.op.forward, req, out_data, in_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        if not self.op.need_top_grad():
            out_grad = []
        self._call(self.op.backward, req, in_grad, out_grad, in_data, out_data)


register("_Native")(_PythonOpProp)
register("_NDArray")(_PythonOpProp)
