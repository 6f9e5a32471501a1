"""Executors: symbols bound to arrays."""
import ctypes
import importlib
import sys

import numpy as np

from . import _dtypes
from ._machine.environment import warn_of_late_changes
from ._startup import interrupt as _interrupt
from .base import (ExecutorHandle, NDArrayHandle, NotCopied, SymbolHandle, _LIB, c_handle_array, c_str_array, call_and_mark, check_call,
                   py_str)
from .context import Context
from .ndarray import NDArray

__all__ = ["Executor"]

_REQUESTS = {"null": 0, "write": 1, "inplace": 2, "add": 3}
_MONITOR = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)


def _context_groups(group2ctx):
    """(number, names, device types, device ids) for the C interface."""
    groups = group2ctx or {}
    return (ctypes.c_uint(len(groups)), c_str_array(list(groups)),
            (ctypes.c_int * len(groups))(*[c.device_typeid for c in groups.values()]),
            (ctypes.c_int * len(groups))(*[c.device_id for c in groups.values()]))


def _by_name(names, arrays, what, allow_missing):
    """Arrays in the order of `names`, from a list or a dictionary; None where missing."""
    if arrays is None:
        return [None] * len(names)
    if isinstance(arrays, dict):
        result = []
        for name in names:
            if name not in arrays and not allow_missing:
                raise ValueError(f"[bind] key `{name}` is missing in `{what}`")
            result.append(arrays.get(name))
    elif isinstance(arrays, (list, tuple)):
        if len(arrays) != len(names):
            raise ValueError(f"[bind] Length of {what} does not match the number of arguments: "
                             f"{len(arrays)} for {len(names)} ({', '.join(names)})")
        result = list(arrays)
    else:
        raise TypeError(f"[bind] `{what}` is a {type(arrays).__name__}; accepted: a list or a dictionary of NDArrays")
    for name, array in zip(names, result):
        if not isinstance(array, NDArray) and not (array is None and allow_missing):
            raise TypeError(f"[bind] `{what}` has a {type(array).__name__} for {name}; accepted: an NDArray")
    return result


def _requests(names, grad_req):
    """Request numbers in the order of `names`."""
    if isinstance(grad_req, str):
        grad_req = [grad_req] * len(names)
    elif isinstance(grad_req, dict):
        grad_req = [grad_req.get(n, "null") for n in names]
    if len(grad_req) != len(names):
        raise ValueError(f"[bind] got {len(grad_req)} grad_reqs for {len(names)} arguments")
    for req in grad_req:
        if req not in _REQUESTS:
            raise ValueError(f"[bind] grad_req must be in {sorted(_REQUESTS)}, got {req!r}")
    return [_REQUESTS[r] for r in grad_req]


def _take(count, pointer, cls=NDArray):
    """Arrays that own the handles at `pointer`; None for null."""
    return [cls(NDArrayHandle(pointer[i])) if pointer[i] else None for i in range(count)]


def _class_of(symbol, arrays=()):
    """The class of arrays that an executor makes: that of mx.np for symbols with NumPy's rules, and
    where it is bound to such an array."""
    from ._arrays.classes import numpy_among
    module = sys.modules.get("mxnet.symbol.numpy._symbol")      # loaded where there is such a symbol
    if module is not None and isinstance(symbol, getattr(module, "_Symbol", ())) or numpy_among(arrays):
        return importlib.import_module("mxnet.numpy").ndarray     # which stands on graphs
    return NDArray


class _NodeName(str):
    """What a monitor's callback is given as the name. 1.x gives bytes, which programs decode."""

    def decode(self, encoding="utf-8", errors="strict"):
        """The text itself."""
        return str(self)


def _monitored_class(array_class):
    """NDArrays for a monitor's callback that ``ctypes.cast`` takes as well: 1.x gives a handle, of
    which programs make an NDArray. Each cast gives a handle of its own."""
    def handle(array):
        copy = NDArrayHandle()
        check_call(_LIB.MXShallowCopyNDArray(array.handle, ctypes.byref(copy)))
        return copy
    return type(array_class.__name__, (array_class,), {"_as_parameter_": property(handle), "__slots__": (),
                                                       "__module__": array_class.__module__})


class Executor(NotCopied):
    """A symbol bound to arrays on one context; made by ``Symbol.bind`` and ``Symbol.simple_bind``.

    Attributes: ``arg_arrays``, ``grad_arrays`` (None where no gradient is wanted) and
    ``aux_arrays`` in the order of the symbol's names; ``outputs``. The outputs are the same arrays
    in every run.

    >>> x = mx.sym.Variable('x')
    >>> executor = (x * x).simple_bind(mx.cpu(), x=(2,))
    >>> executor.forward(is_train=True, x=mx.nd.array([1, 3]))[0].asnumpy()
    array([1., 9.], dtype=float32)
    >>> executor.backward(mx.nd.ones(2))
    >>> executor.grad_dict['x'].asnumpy()
    array([2., 6.], dtype=float32)
    """

    def __init__(self, handle, symbol, ctx, grad_req, group2ctx):
        warn_of_late_changes()
        self.handle = handle if isinstance(handle, ctypes.c_void_p) else ctypes.c_void_p(handle)
        self._symbol = symbol
        self._ctx = ctx
        self._grad_req = grad_req
        self._group2ctx = group2ctx
        self._monitor_callback = None
        self._monitor_all = False
        self._monitor_errors = []
        self._arg_names = symbol.list_arguments()
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self.arg_arrays, self.grad_arrays, self.aux_arrays = [], [], []
        self._array_class = NDArray
        self._outputs = None
        self._dynamic = symbol.has_dynamic_shape()

    def __repr__(self):
        return f"<Executor of {self._symbol!r} on {self._ctx}>"

    def __del__(self, _free=_LIB.MXExecutorFree):
        if getattr(self, "handle", None):
            _free(self.handle)

    # ---- making
    @classmethod
    def _bind(cls, symbol, ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec):
        if not isinstance(ctx, Context):
            raise TypeError(f"[bind] Context type error: {ctx!r}")
        arg_names, aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
        arg_arrays = _by_name(arg_names, args, "args", False)
        grad_arrays = _by_name(arg_names, args_grad, "args_grad", True)
        aux_arrays = _by_name(aux_names, aux_states or [], "aux_states", False)
        requests = _requests(arg_names, grad_req)
        handle = ExecutorHandle()
        check_call(_LIB.MXExecutorBindEX(
            symbol.handle, ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id),
            *_context_groups(group2ctx), ctypes.c_uint(len(arg_arrays)),
            c_handle_array(arg_arrays), c_handle_array(grad_arrays),
            (ctypes.c_uint * len(requests))(*requests), ctypes.c_uint(len(aux_arrays)),
            c_handle_array(aux_arrays),
            shared_exec.handle if shared_exec is not None else None, ctypes.byref(handle)))
        executor = cls(handle, symbol, ctx, grad_req, group2ctx)
        executor.arg_arrays, executor.grad_arrays, executor.aux_arrays = arg_arrays, grad_arrays, aux_arrays
        executor._array_class = _class_of(symbol, arg_arrays)
        return executor

    @classmethod
    def _simple_bind(cls, symbol, ctx, grad_req, type_dict, stype_dict, group2ctx, shared_arg_names, shared_exec, shared_buffer, shapes):
        ctx = Context(ctx)
        names, dims, index = [], [], [0]
        for name, shape in shapes.items():
            if isinstance(shape, (tuple, list)):
                names.append(name)
                dims.extend(int(d) for d in shape)
                index.append(len(dims))
        arguments = symbol.list_arguments()
        if grad_req is None:
            grad_req = "null"
        if isinstance(grad_req, str):
            req_count, req_names, req_types = 0, None, c_str_array([grad_req])
        elif isinstance(grad_req, (list, tuple)):
            if not grad_req:
                raise RuntimeError("[simple_bind] grad_req in simple_bind cannot be an empty list")
            req_count, req_names, req_types = len(grad_req), None, c_str_array(list(grad_req))
        elif isinstance(grad_req, dict):
            if not grad_req:
                raise RuntimeError("[simple_bind] grad_req in simple_bind cannot be an empty dict")
            req_count, req_names, req_types = len(grad_req), c_str_array(list(grad_req)), c_str_array(list(grad_req.values()))
        else:
            raise TypeError(f"[simple_bind] grad_req is a {type(grad_req).__name__}; accepted: a string, list or dictionary")
        types = {k: _dtypes.number(v) for k, v in (type_dict or {}).items()}
        storage = {k: {"default": 0, "row_sparse": 1, "csr": 2}[v] for k, v in (stype_dict or {}).items()}
        shared_names = list(shared_arg_names or [])
        buffer_names = list(shared_buffer) if shared_buffer is not None else []
        buffer_len = ctypes.c_int(len(buffer_names) if shared_buffer is not None else -1)
        new_names, new_arrays = ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(ctypes.c_void_p)()
        num_args, num_aux = ctypes.c_uint(), ctypes.c_uint()
        args, grads, aux = (ctypes.POINTER(ctypes.c_void_p)() for _ in range(3))
        handle = ExecutorHandle()
        check_call(_LIB.MXExecutorSimpleBindEx64(
            symbol.handle, ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id),
            *_context_groups(group2ctx), ctypes.c_uint(req_count), req_names, req_types,
            ctypes.c_uint(len(names)), c_str_array(names), (ctypes.c_int64 * len(dims))(*dims), (ctypes.c_uint * len(index))(*index),
            ctypes.c_uint(len(types)), c_str_array(list(types)), (ctypes.c_int * len(types))(*types.values()),
            ctypes.c_uint(len(storage)), c_str_array(list(storage)), (ctypes.c_int * len(storage))(*storage.values()),
            ctypes.c_uint(len(shared_names)), c_str_array(shared_names), ctypes.byref(buffer_len), c_str_array(buffer_names),
            c_handle_array([shared_buffer[n] for n in buffer_names]), ctypes.byref(new_names),
            ctypes.byref(new_arrays), ctypes.byref(num_args), ctypes.byref(args),
            ctypes.byref(grads), ctypes.byref(num_aux), ctypes.byref(aux),
            shared_exec.handle if shared_exec is not None else None, ctypes.byref(handle)))
        made = _class_of(symbol, (shared_buffer or {}).values())
        if shared_buffer is not None:
            for name, array in zip([py_str(new_names[i]) for i in range(buffer_len.value)], _take(buffer_len.value, new_arrays, made)):
                shared_buffer[name] = array
        executor = cls(handle, symbol, ctx, grad_req, group2ctx)
        executor._array_class = made
        executor.arg_arrays, executor.grad_arrays = _take(num_args.value, args, made), _take(num_args.value, grads, made)
        executor.aux_arrays = _take(num_aux.value, aux, made)
        assert len(arguments) == num_args.value
        return executor

    # ---- running
    def forward(self, is_train=False, **kwargs):
        """Computes the outputs and returns them.

        Parameters
        ----------
        is_train : bool
            Keep what :meth:`backward` needs; Dropout and BatchNorm behave as in training.
        **kwargs : new values of arguments (NDArrays or NumPy arrays), copied into the bound arrays

        Raises
        ------
        TypeError : for an unknown argument
        ValueError : for another shape
        """
        if kwargs:
            bound = self.arg_dict
            for name, array in kwargs.items():
                if name not in bound:
                    raise TypeError(f"[executor] Unknown argument {name}; accepted: {', '.join(self._arg_names)}")
                if not isinstance(array, (NDArray, np.ndarray)):
                    raise ValueError(f"[executor] argument {name} is a {type(array).__name__}; "
                                     f"only accept keyword argument of NDArrays and numpy.ndarray")
                if bound[name].shape != array.shape:
                    raise ValueError(f"[executor] Shape not match! Argument {name}, need: {bound[name].shape}, received: {array.shape}")
                bound[name][:] = array
        self._run(_LIB.MXExecutorForward, self.handle, ctypes.c_int(bool(is_train)))
        if self._dynamic:
            self._outputs = None   # new arrays each time
        return self.outputs

    def backward(self, out_grads=None, is_train=True):
        """Computes the gradients. `out_grads`: gradients of the outputs (one or a list, or a
        dictionary by output name); losses need none."""
        if out_grads is None:
            out_grads = []
        elif isinstance(out_grads, NDArray):
            out_grads = [out_grads]
        elif isinstance(out_grads, dict):
            out_grads = [out_grads[n] for n in self._output_names]
        out_grads = list(out_grads)
        for array in out_grads:
            if not isinstance(array, NDArray):
                raise TypeError(f"[executor] out_grads holds a {type(array).__name__}; inputs must be NDArray")
        self._run(_LIB.MXExecutorBackwardEx, self.handle, ctypes.c_uint(len(out_grads)),
                  c_handle_array(out_grads), ctypes.c_int(bool(is_train)))

    def _run(self, function, *arguments):
        if self._monitor_callback is None:
            call_and_mark(function, *arguments)
            return
        # Ctrl-C may arrive where a callback begins and nothing can catch it: Python drops it.
        with _interrupt.HeldInterrupt():
            call_and_mark(function, *arguments)
        self._raise_monitor_error()

    @property
    def outputs(self):
        """The output arrays."""
        if self._outputs is None:
            count, arrays = ctypes.c_uint(), ctypes.POINTER(ctypes.c_void_p)()
            check_call(_LIB.MXExecutorOutputs(self.handle, ctypes.byref(count), ctypes.byref(arrays)))
            self._outputs = _take(count.value, arrays, self._array_class)
        return self._outputs

    def set_monitor_callback(self, callback, monitor_all=False):
        """Calls ``callback(name, array)`` with every output of every node (with `monitor_all` also
        inputs) while running.

        The first exception that it raises is raised by the forward or backward pass in which it was
        called, once that is over. As programs of 1.x do, it may call ``name.decode()`` and
        ``ctypes.cast(array, NDArrayHandle)``.

        >>> executor = mx.sym.exp(mx.sym.var('x'), name='y').bind(mx.cpu(), {'x': mx.nd.zeros(2)})
        >>> executor.set_monitor_callback(lambda name, array: print(name, array.shape))
        >>> _ = executor.forward()
        y_output (2,)
        """
        errors = self._monitor_errors = []
        classes = {}    # for a monitor, by the class of arrays of a storage

        def made(handle, writable):
            array = self._array_class(handle, writable=writable)
            kind = type(array)
            if kind not in classes:
                classes[kind] = _monitored_class(kind)
            array.__class__ = classes[kind]
            return array

        def receive(name, array, _):
            try:
                callback(_NodeName(py_str(name)), made(NDArrayHandle(array), writable=False))
            except BaseException as e:    # pylint: disable=broad-except  (it has to pass through the library first)
                errors.append(e)
        self._watch(_MONITOR(receive), monitor_all)

    def _watch(self, callback, monitor_all):
        self._monitor_callback, self._monitor_all = callback, bool(monitor_all)   # kept: the library holds only the address
        check_call(_LIB.MXExecutorSetMonitorCallbackEX(self.handle, callback, None, ctypes.c_bool(monitor_all)))

    def _raise_monitor_error(self):
        if self._monitor_errors:
            error = self._monitor_errors[0]
            self._monitor_errors.clear()
            raise error

    # ---- by name
    @staticmethod
    def _dictionary(names, arrays, what):
        if len(set(names)) != len(names):
            raise ValueError(f"[executor] Duplicate names detected, {what}: {', '.join(names)}")
        return dict(zip(names, arrays))

    @property
    def arg_dict(self):
        """Argument arrays by name."""
        return self._dictionary(self._arg_names, self.arg_arrays, "arguments")

    @property
    def grad_dict(self):
        """Gradient arrays by argument name; None where no gradient is wanted."""
        return self._dictionary(self._arg_names, self.grad_arrays, "arguments")

    @property
    def aux_dict(self):
        """Auxiliary arrays by name."""
        return self._dictionary(self._aux_names, self.aux_arrays, "auxiliary states")

    @property
    def output_dict(self):
        """Output arrays by name."""
        return self._dictionary(self._output_names, self.outputs, "outputs")

    def copy_params_from(self, arg_params, aux_params=None, allow_extra_params=False):
        """Copies parameters into the bound arrays.

        Raises
        ------
        ValueError : for a name that is not bound, unless `allow_extra_params`

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=1, no_bias=True, name='fc')
        >>> executor = net.simple_bind(mx.cpu(), x=(1, 2))
        >>> executor.copy_params_from({'fc_weight': mx.nd.array([[1, 2]])})
        >>> executor.forward(x=mx.nd.array([[10, 1]]))[0].asnumpy()
        array([[12.]], dtype=float32)
        >>> executor.output_dict['fc_output'].shape, executor.outputs[0].shape
        ((1, 1), (1, 1))
        >>> list(executor.arg_dict), executor.aux_dict
        (['x', 'fc_weight'], {})
        """
        for params, bound, what in ((arg_params, self.arg_dict, "arguments"), (aux_params or {}, self.aux_dict, "auxiliary states")):
            for name, array in params.items():
                if name in bound:
                    array.astype(bound[name].dtype, copy=False).copyto(bound[name])
                elif not allow_extra_params:
                    raise ValueError(f'[executor] Found name "{name}" that is not in the {what}')

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """An executor for other input shapes that shares parameters and memory with this one.

        Parameters
        ----------
        partial_shaping : bool
            Allow arguments that are not mentioned to change shape.
        allow_up_sizing : bool
            Allow new memory for arrays that grow.
        **kwargs : new shapes

        Examples
        --------
        >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3)
        >>> executor = net.simple_bind(mx.cpu(), x=(2, 4))
        >>> larger = executor.reshape(allow_up_sizing=True, x=(5, 4))
        >>> larger.forward()[0].shape
        (5, 3)
        """
        names, dims, index = [], [], [0]
        for name, shape in kwargs.items():
            names.append(name)
            dims.extend(int(d) for d in shape)
            index.append(len(dims))
        num_args, num_aux = ctypes.c_uint(), ctypes.c_uint()
        args, grads, aux = (ctypes.POINTER(ctypes.c_void_p)() for _ in range(3))
        handle = ExecutorHandle()
        check_call(_LIB.MXExecutorReshapeEx(
            ctypes.c_int(bool(partial_shaping)), ctypes.c_int(bool(allow_up_sizing)),
            ctypes.c_int(self._ctx.device_typeid), ctypes.c_int(self._ctx.device_id),
            *_context_groups(self._group2ctx), ctypes.c_uint(len(names)), c_str_array(names),
            (ctypes.c_int * len(dims))(*dims), (ctypes.c_uint * len(index))(*index),
            ctypes.byref(num_args), ctypes.byref(args), ctypes.byref(grads), ctypes.byref(num_aux),
            ctypes.byref(aux), self.handle, ctypes.byref(handle)))
        executor = Executor(handle, self._symbol, self._ctx, self._grad_req, self._group2ctx)
        made = executor._array_class = self._array_class
        executor.arg_arrays, executor.grad_arrays = _take(num_args.value, args, made), _take(num_args.value, grads, made)
        executor.aux_arrays = _take(num_aux.value, aux, made)
        if self._monitor_callback is not None:      # it looks at every shape, as in 1.x
            executor._monitor_errors = self._monitor_errors
            executor._watch(self._monitor_callback, self._monitor_all)
        return executor

    # ---- looking inside
    def debug_str(self):
        """The graph and its plans as text: nodes, requests, places in memory.

        >>> executor = mx.sym.exp(mx.sym.var('x'), name='y').bind(mx.cpu(), {'x': mx.nd.zeros(2)})
        >>> 'exp' in executor.debug_str()
        True
        """
        text = ctypes.c_char_p()
        check_call(_LIB.MXExecutorPrint(self.handle, ctypes.byref(text)))
        return py_str(text.value)

    def explain(self, path=None, runs=5):
        """The plan that ran last as an :class:`mxnet.explain.Explanation`, its nodes timed over
        `runs` runs on copies of what is bound (0: not timed).

        With `path`, also written there: what the name ends in, ``.html`` (a page that needs nothing
        else), ``.svg`` (the arena over time), ``.txt`` or ``.json``.

        >>> executor = mx.sym.exp(mx.sym.var('x'), name='y').bind(mx.cpu(), {'x': mx.nd.zeros(2)})
        >>> _ = executor.forward()
        >>> explanation = executor.explain('plan.html', runs=0)
        >>> [node['name'] for node in explanation.plan['nodes']]
        ['y']
        """
        from .explain import of_executor
        explanation = of_executor(self.handle, runs)
        if path is not None:
            explanation.save(path)
        return explanation

    def get_optimized_symbol(self):
        """The symbol after graph optimisation.

        >>> x = mx.sym.var('x')
        >>> executor = mx.sym.relu(mx.sym.exp(x)).bind(mx.cpu(), {'x': mx.nd.zeros(2)})
        >>> executor.get_optimized_symbol().list_arguments()
        ['x']
        """
        handle = SymbolHandle()
        check_call(_LIB.MXExecutorGetOptimizedSymbol(self.handle, ctypes.byref(handle)))
        return type(self._symbol)(handle)

    def plan_stats(self):
        """Figures of the compiled plan: bytes of the arena, without sharing, and of the largest
        live set; nodes, bulks, in-place results, removed nodes.

        >>> executor = mx.sym.exp(mx.sym.var('x')).bind(mx.cpu(), {'x': mx.nd.zeros(2)})
        >>> _ = executor.forward()
        >>> executor.plan_stats()['num_nodes']
        1
        """
        return _plan_stats(_LIB.MXExecutorGetPlanStats, self.handle)


def _plan_stats(function, handle):
    values = (ctypes.c_uint64 * 7)()
    check_call(function(handle, values))
    names = ("arena_bytes", "unshared_bytes", "lower_bound_bytes", "num_nodes", "num_bulks", "num_inplace", "num_removed")
    return dict(zip(names, values))
