"""Mixed precision for training (`init`) and inference (`convert_*`)."""
import contextlib
import ctypes
import functools
import json
import logging
import warnings

from .. import ndarray as nd, symbol as sym
from .._operators import functions as _op_functions, methods as _op_methods
from .._dtypes import OF_1X as bfloat16  # noqa: F401  (programs of 1.x take it from here)
from ..base import CheckedTypeError, CheckedValueError, MXNetError, SymbolHandle, _LIB, c_str_array, check_call, error_class, py_str
from ..context import cpu
from ..ndarray import NDArray
from ..symbol import Symbol
from ..util import accepts_device
from . import _casts
from .loss_scaler import LossScaler

__all__ = ["convert_hybrid_block", "convert_model", "convert_symbol", "init", "init_trainer", "list_conditional_fp32_ops", "list_fp32_ops",
           "list_loss_output_functions", "list_lp16_fp32_ops", "list_lp16_ops", "list_lp16_use_fp32_params", "list_widest_type_cast",
           "scale_loss", "unscale"]

_ANY, _LOW, _FULL, _WIDEST = range(4)
_target = None      # what init was given
_amp_initialized = False    # of 1.x: whether init was called; clients look at it


@functools.lru_cache(None)
def _precisions():
    """{operator or alias: (class, parameter, values, is a loss and the output in one)}, read from
    the operators' records."""
    text = ctypes.c_char_p()
    check_call(_LIB.MXListOpPrecisions(ctypes.byref(text)))
    return {name: tuple(row) for name, row in json.loads(py_str(text.value)).items()}


def _check_target(target_dtype, where):
    import numpy
    name = target_dtype if isinstance(target_dtype, str) else getattr(target_dtype, "__name__", None) or numpy.dtype(target_dtype).name
    if name not in ("float16", "bfloat16"):
        raise CheckedValueError(f"[amp.{where}] target_dtype {target_dtype!r}; accepted: 'float16', 'bfloat16'")
    return name


def _check_operators(where, names, kind):
    """Raise `kind` if there are no operators of these names."""
    if unknown := sorted(set(names).difference(_op_functions.op_names())):
        raise kind(f"[amp.{where}] no operators: {', '.join(unknown)}; mx.operator.get_all_registered_operators() lists them all")


def _of_class(wanted, target_dtype, where):
    _check_target(target_dtype, where)
    return [name for name, (kind, parameter, _, _) in _precisions().items() if kind == wanted
            and not parameter and not name.startswith("_backward")]


def list_lp16_ops(target_dtype):
    """Operators that run in `target_dtype`: those that compute much for what they read, and have
    weights.

    >>> 'FullyConnected' in mx.contrib.amp.list_lp16_ops('float16')
    True
    """
    return _of_class(_LOW, target_dtype, "list_lp16_ops")


def list_fp32_ops(target_dtype):
    """Operators that run in float32: sums, exponentials, norms, losses.

    >>> 'exp' in mx.contrib.amp.list_fp32_ops('float16')
    True
    """
    return _of_class(_FULL, target_dtype, "list_fp32_ops")


def list_lp16_fp32_ops(target_dtype):
    """Operators that run in the dtype of their inputs.

    >>> 'Flatten' in mx.contrib.amp.list_lp16_fp32_ops('float16')
    True
    """
    return _of_class(_ANY, target_dtype, "list_lp16_fp32_ops")


def list_widest_type_cast(target_dtype):
    """Operators whose inputs must share a dtype: the widest of theirs.

    >>> 'elemwise_add' in mx.contrib.amp.list_widest_type_cast('float16')
    True
    """
    return _of_class(_WIDEST, target_dtype, "list_widest_type_cast")


def list_conditional_fp32_ops(target_dtype):
    """[(operator, parameter, values)]: operators that run in float32 when the parameter has one of
    these values.

    >>> operators = mx.contrib.amp.list_conditional_fp32_ops('float16')
    >>> ('Activation', 'act_type', ['softrelu']) in operators
    True
    """
    _check_target(target_dtype, "list_conditional_fp32_ops")
    return [(name, parameter, list(values)) for name, (_, parameter, values, _) in _precisions().items() if parameter]


def list_loss_output_functions(target_dtype):
    """Operators that are a loss and the network's output in one; :func:`scale_loss` does not reach
    their gradients.

    >>> 'SoftmaxOutput' in mx.contrib.amp.list_loss_output_functions('float16')
    True
    """
    _check_target(target_dtype, "list_loss_output_functions")
    return [name for name, (_, _, _, is_loss) in _precisions().items() if is_loss]


def list_lp16_use_fp32_params(target_dtype):
    """None, as in 1.9.1 for float16: no operator has parameters that stay float32, because 16-bit
    operators cast all their inputs.

    >>> mx.contrib.amp.list_lp16_use_fp32_params('float16') is None
    True
    """
    _check_target(target_dtype, "list_lp16_use_fp32_params")
    return None


# ---- training: operators of mx.nd and mx.sym that cast what they are given

def _places(name):
    """Modules in which users find the operator, each with its name there; those in one list share a
    function."""
    for module in (nd, sym):
        if not name.startswith("_"):
            yield [(module.op, name), (module, name)]
            continue
        for part in ("contrib", "linalg", "image"):   # mx.nd.contrib.name is _contrib_name
            if name.startswith(f"_{part}_"):
                yield [(getattr(module, part), name[len(part) + 2:])]


def _patch(names, change, condition=None, made=False):
    for name in names:
        for places in _places(name):
            original = getattr(*places[0], None)
            if original is None:
                continue
            wrapped = _casts.wrap(getattr(original, "_amp_original", original), change, condition, made)
            for module, attribute in places:
                if hasattr(module, attribute):
                    setattr(module, attribute, wrapped)


# Functions that choose between operators by what they are given, with the operator of two arrays or
# symbols.
_FUNCTIONS = [(nd, name, row.arrays) for row in _op_methods.ARITHMETIC for name in row.functions]
_FUNCTIONS += [(sym, name, row.symbols) for row in _op_methods.ARITHMETIC for name in row.symbol_functions]


def _patch_operators(changes):
    """`changes`: what is done to inputs of operators, by name."""
    def patch(cls, method, of_two, of_number):
        original = getattr(cls, method, None)
        if original is None or not (of_two or of_number):
            return

        @functools.wraps(original)
        def cast(self, other):
            change = of_two if isinstance(other, cls) else of_number
            if change:
                (self, other), _ = _casts.cast_arguments((self, other), {}, change)
            return original(self, other)
        setattr(cls, method, cast)
    for method, row in _op_methods.PYTHON_OPERATORS.items():
        for cls, of_two in ((NDArray, row.arrays), (Symbol, row.symbols)):
            patch(cls, f"__{method}__", changes.get(of_two), changes.get(row.number))
            if not row.compares:
                patch(cls, f"__r{method}__", changes.get(of_two), changes.get(row.left))
    for module, name, op in _FUNCTIONS:
        if op in changes and hasattr(module, name):
            setattr(module, name, _casts.wrap(getattr(module, name), changes[op]))


def _patch_numpy(changes):
    """The functions of mx.np and mx.npx, by the records behind their names."""
    from .. import numpy, numpy_extension
    known = set(_op_functions.op_names())
    by_record = {_op_functions.op_info(name).name: change for name, change in changes.items() if name in known}
    for name in _op_functions.namespace_names("_npx_"):
        change = by_record.get(_op_functions.op_info("_npx_" + name).name)
        function = getattr(numpy_extension, name, None)
        if change and callable(function):
            setattr(numpy_extension, name, _casts.wrap(getattr(function, "_amp_original", function), change))
    for name in dir(numpy):
        change = next((changes[op] for op in (f"_npi_{name}", f"_np_{name}", name) if op in changes), None)
        function = getattr(numpy, name, None) if change else None
        if callable(function) and not isinstance(function, type):
            wrapped = _casts.wrap(getattr(function, "_amp_original", function), change)
            for module in (numpy, numpy.multiarray):
                setattr(module, name, wrapped)


def init(target_dtype="float16", target_precision_ops=None, conditional_fp32_ops=None, fp32_ops=None):
    """Switch mixed precision on for this process: from now on operators of ``mx.nd`` and
    ``mx.sym``, functions of ``mx.np`` and ``mx.npx``, and Python's operators, cast what they are
    given.

    Call it before networks are built. Parameters stay float32 and are cast where a 16-bit operator
    reads them.

    Parameters
    ----------
    target_dtype : str
        'float16' or 'bfloat16'.
    target_precision_ops, fp32_ops : list of str, optional
        Instead of :func:`list_lp16_ops` and :func:`list_fp32_ops`.
    conditional_fp32_ops : list of (str, str, list of str), optional
        Instead of :func:`list_conditional_fp32_ops`.

    Raises
    ------
    ValueError
        for another dtype, and when it was called with another one before.

    Examples
    --------
    >>> mx.contrib.amp.init('float16')
    >>> x, weight = mx.nd.ones((1, 2)), mx.nd.ones((3, 2))
    >>> scores = mx.nd.FullyConnected(x, weight, no_bias=True, num_hidden=3)
    >>> scores.dtype.__name__, mx.nd.softmax(scores).dtype.__name__
    ('float16', 'float32')
    """
    global _target, _amp_initialized
    target = _check_target(target_dtype, "init")
    if _target is not None:
        if _target != target:
            raise ValueError(f"[amp.init] target_dtype {target!r} after {_target!r}; a process has one")
        return
    low = list_lp16_ops(target) if target_precision_ops is None else target_precision_ops
    full = list_fp32_ops(target) if fp32_ops is None else fp32_ops
    conditional = list_conditional_fp32_ops(target) if conditional_fp32_ops is None else conditional_fp32_ops
    _check_operators("init", [*low, *full, *(row[0] for row in conditional)], error_class(AttributeError, ValueError))
    _target, _amp_initialized = target, True
    logging.getLogger(__name__).info("[amp] operators of mx.nd and mx.sym use %s", target)
    changes = dict.fromkeys(list_widest_type_cast(target), _casts.widest)
    changes.update(dict.fromkeys(full, lambda values: [_casts.cast(v, "float32") for v in values]))
    changes.update(dict.fromkeys(low, lambda values: [_casts.cast(v, target) for v in values]))
    for name, change in changes.items():
        _patch([name], change, made=name in low)
    _patch_operators(changes)
    _patch_numpy(changes)
    by_op = {}
    for name, parameter, values in conditional:
        by_op.setdefault(name, []).append((parameter, set(map(str, values))))
    for name, rows in by_op.items():
        _patch([name], lambda values: [_casts.cast(v, "float32") for v in values],
               lambda kwargs, rows=rows: any(str(kwargs.get(parameter)) in values for parameter, values in rows))


def _is_trainer(optimizer_or_trainer, where):
    from ..gluon import Trainer
    if not isinstance(optimizer_or_trainer, Trainer):
        raise TypeError(f"[amp.{where}] got a {type(optimizer_or_trainer).__name__}; accepted: a gluon.Trainer")
    return optimizer_or_trainer


def init_trainer(optimizer_or_trainer):
    """Give a gluon.Trainer a :class:`LossScaler`: steps whose gradients overflow are skipped. With
    bfloat16 nothing is scaled.

    Raises
    ------
    TypeError
        for anything but a gluon.Trainer.
    ValueError
        when `init` was not called, or the Trainer updates on the kvstore.

    Examples
    --------
    >>> mx.contrib.amp.init('float16')
    >>> weight = mx.gluon.Parameter('weight', shape=(1,))
    >>> weight.initialize(mx.init.One())
    >>> trainer = mx.gluon.Trainer([weight], 'sgd', {'learning_rate': 0.5}, update_on_kvstore=False)
    >>> mx.contrib.amp.init_trainer(trainer)
    >>> for factor in (1, float('inf')):     # the second step is skipped
    ...     with mx.autograd.record():
    ...         loss = weight.data() * factor
    ...         with mx.contrib.amp.scale_loss(loss, trainer) as scaled:
    ...             scaled.backward()
    ...     trainer.step(1)
    ...     print(weight.data().asnumpy())
    [0.5]
    [0.5]
    """
    trainer = _is_trainer(optimizer_or_trainer, "init_trainer")
    if _target is None:
        raise CheckedValueError("[amp.init_trainer] mixed precision is off; call amp.init() before")
    if getattr(trainer, "_update_on_kvstore", None):
        raise ValueError("[amp.init_trainer] the Trainer updates on the kvstore, where overflows "
                         "are not seen; update_on_kvstore=False is accepted")
    if hasattr(trainer, "_amp_loss_scaler"):
        return
    trainer._amp_loss_scaler = LossScaler() if _target == "float16" else LossScaler(1.0, dynamic=False)
    trainer._amp_original_scale = trainer._scale
    update = trainer._update

    def update_unless_overflow(ignore_stale_grad):
        params = trainer._params
        scale = trainer._amp_loss_scaler.loss_scale
        if not trainer._amp_loss_scaler.has_overflow(params):
            return update(ignore_stale_grad)
        logging.getLogger(__name__).info("[amp] a gradient overflowed at loss scale %g; the step is skipped", scale)
        for p in params:
            if p.grad_req != "null":
                for data in p.list_data():
                    data._fresh_grad = False
        return None
    trainer._update = update_unless_overflow


@contextlib.contextmanager
def scale_loss(loss, optimizer_or_trainer):
    """The loss (or list of losses) times the Trainer's loss scale, for ``backward``; the Trainer
    divides by it again.

    Raises
    ------
    TypeError
        for anything but a gluon.Trainer.
    ValueError
        when :func:`init_trainer` was not called.

    Examples
    --------
    >>> mx.contrib.amp.init('float16')
    >>> net, loss_function = mx.gluon.nn.Dense(1, use_bias=False), mx.gluon.loss.L2Loss()
    >>> net.initialize(mx.init.One())
    >>> trainer = mx.gluon.Trainer(net.collect_params(), 'sgd', {'learning_rate': 4},
    ...                            update_on_kvstore=False)
    >>> mx.contrib.amp.init_trainer(trainer)
    >>> x, y = mx.nd.full((2, 2), 0.25), mx.nd.zeros((2, 1))
    >>> with mx.autograd.record():
    ...     loss = loss_function(net(x), y)
    ...     with mx.contrib.amp.scale_loss(loss, trainer) as scaled:
    ...         mx.autograd.backward(scaled)
    >>> (scaled / loss).asnumpy()
    array([65536., 65536.], dtype=float32)
    >>> trainer.step(batch_size=2)
    >>> net.weight.data().asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    trainer = _is_trainer(optimizer_or_trainer, "scale_loss")
    if not hasattr(trainer, "_amp_loss_scaler"):
        raise error_class(AttributeError, ValueError)("[amp.scale_loss] this Trainer has no loss scale; call amp.init_trainer before")
    scale = trainer._amp_loss_scaler.loss_scale
    trainer._scale = trainer._amp_original_scale / scale
    yield [one * scale for one in loss] if isinstance(loss, (list, tuple)) else loss * scale


def unscale(optimizer_or_trainer):
    """Divide the gradients by the loss scale now, e.g. to clip them between ``backward`` and
    ``update``. Does nothing when :func:`init_trainer` was not called.

    >>> mx.contrib.amp.init('float16')
    >>> weight = mx.gluon.Parameter('weight', shape=(1,))
    >>> weight.initialize(mx.init.One())
    >>> trainer = mx.gluon.Trainer([weight], 'sgd', {'learning_rate': 1}, update_on_kvstore=False)
    >>> mx.contrib.amp.init_trainer(trainer)
    >>> with mx.autograd.record():
    ...     loss = 3 * weight.data()
    ...     with mx.contrib.amp.scale_loss(loss, trainer) as scaled:
    ...         scaled.backward()
    >>> weight.grad().asnumpy()
    array([196608.], dtype=float32)
    >>> mx.contrib.amp.unscale(trainer)
    >>> norm = mx.gluon.utils.clip_global_norm([weight.grad()], max_norm=1)
    >>> trainer.update(1)
    >>> float(norm), weight.data().asnumpy()
    (3.0, array([0.], dtype=float32))
    """
    trainer = _is_trainer(optimizer_or_trainer, "unscale")
    if not hasattr(trainer, "_amp_loss_scaler"):
        return
    factor = trainer._scale / trainer._amp_original_scale
    for p in trainer._params:
        if p.grad_req != "null":
            for g in p.list_grad():
                g *= factor
    trainer._scale = trainer._amp_original_scale


# ---- inference: converted graphs

def _items(names):
    """What is in a list that a program gave; of what is none, itself."""
    return names if isinstance(names, (list, tuple, set, frozenset, dict)) else [names]


def convert_symbol(sym, target_dtype="float16", target_dtype_ops=None, fp32_ops=None, conditional_fp32_ops=None, excluded_sym_names=None,
                   data_names=None, cast_optional_params=False):
    """`sym` with casts, so that it runs in mixed precision.

    Parameters
    ----------
    target_dtype : str
        'float16' or 'bfloat16'.
    target_dtype_ops, fp32_ops, conditional_fp32_ops : list, optional
        Instead of the lists of this module.
    excluded_sym_names : list of str, optional
        Nodes that stay in float32. Names of none are left out with a warning.
    data_names : list of str, optional
        Arguments that are no parameters; without it no argument is one.
    cast_optional_params : bool
        Parameters that only 16-bit operators read become 16-bit themselves (attribute
        ``__dtype__``).

    Returns
    -------
    Symbol

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.Variable('x'), num_hidden=3, name='fc')
    >>> half = mx.contrib.amp.convert_symbol(net, target_dtype='float16')
    >>> 'amp_cast' in half.tojson(remove_amp_cast=False)
    True
    """
    target = _check_target(target_dtype, "convert_symbol")
    _check_symbol(sym, "convert_symbol")
    for name, names in (("target_dtype_ops", target_dtype_ops), ("fp32_ops", fp32_ops), ("excluded_sym_names", excluded_sym_names)):
        if names is not None and (isinstance(names, str) or not all(isinstance(n, str) for n in _items(names))):
            raise CheckedTypeError(f"[amp.convert_symbol] {name}={names!r}; a list of names is accepted")
    for row in _items(conditional_fp32_ops if conditional_fp32_ops is not None else ()):
        if not isinstance(row, (list, tuple)) or len(row) != 3 or not all(isinstance(n, str) for n in row[:2]):
            raise CheckedTypeError(f"[amp.convert_symbol] conditional_fp32_ops has {row!r}; (operator, parameter, values) are accepted")
    if target_dtype_ops is not None and fp32_ops is not None and set(target_dtype_ops) & set(fp32_ops):
        raise CheckedValueError(f"[amp.convert_symbol] {sorted(set(target_dtype_ops) & set(fp32_ops))} "
                                f"stand in target_dtype_ops and in fp32_ops; one of them is accepted")
    low = list_lp16_ops(target) if target_dtype_ops is None else list(target_dtype_ops)
    full = list_fp32_ops(target) if fp32_ops is None else list(fp32_ops)
    low = [n for n in low if fp32_ops is None or n not in fp32_ops]
    full = [n for n in full if target_dtype_ops is None or n not in target_dtype_ops]
    conditional = list_conditional_fp32_ops(target) if conditional_fp32_ops is None else list(conditional_fp32_ops)
    _check_operators("convert_symbol", low + full + [row[0] for row in conditional], error_class(MXNetError, ValueError, AssertionError))
    widest = [n for n in list_widest_type_cast(target) if n not in set(low) | set(full)]
    nodes = {n["name"] for n in json.loads(sym.tojson(remove_amp_cast=False))["nodes"]}
    excluded = [name for name in excluded_sym_names or [] if name in nodes]
    if unknown := set(excluded_sym_names or []) - nodes:
        warnings.warn(f"[amp.convert_symbol] excluded_sym_names has {sorted(unknown)}, which are no nodes of the symbol", stacklevel=2)
    inputs = sym.list_inputs()
    params = [] if data_names is None else [n for n in inputs if n not in set(data_names)]
    starts, values = [0], []
    for _, _, accepted in conditional:
        values += [str(v) for v in (accepted if isinstance(accepted, (list, tuple)) else [accepted])]
        starts.append(len(values))
    dtypes = {n: a.get("__dtype__") for n, a in sym.attr_dict().items()}
    types = [int(dtypes.get(n) or 0) for n in inputs]
    handle = SymbolHandle()
    ints = lambda numbers: (ctypes.c_int * len(numbers))(*numbers)
    count = lambda items: ctypes.c_uint32(len(items))
    check_call(_LIB.MXReducePrecisionSymbol(
        sym.handle, ctypes.byref(handle), count(inputs), ints(types), count(starts), ints(starts),
        ctypes.byref(ctypes.c_int(_casts.DTYPE_CODE[target])),
        ctypes.c_int(bool(cast_optional_params)), count(low), count(full), count(widest),
        count(conditional), count(excluded), count(params),
        c_str_array(low), c_str_array(full), c_str_array(widest), c_str_array([c[0] for c in conditional]), c_str_array(excluded),
        c_str_array([c[1] for c in conditional]), c_str_array(values), c_str_array(params), c_str_array(inputs)))
    return Symbol(handle)


def _check_symbol(sym, function):
    if not isinstance(sym, Symbol):
        raise CheckedTypeError(f"[amp.{function}] got a {type(sym).__name__}; accepted: a Symbol")


def _cast_params(symbol, arrays, target):
    wanted = {n for n, a in symbol.attr_dict().items() if a.get("__dtype__") == str(_casts.DTYPE_CODE[target])}
    return {n: nd.amp_cast(a, dtype=target) if n in wanted else a for n, a in arrays.items()}


def convert_model(sym, arg_params, aux_params, target_dtype="float16", target_dtype_ops=None, fp32_ops=None, conditional_fp32_ops=None,
                  excluded_sym_names=None, cast_optional_params=False):
    """A model (symbol, arguments, auxiliary states) in mixed precision; the parameters as
    :func:`convert_symbol`.

    Returns
    -------
    (Symbol, dict of NDArray, dict of NDArray)

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var('x'), num_hidden=3, no_bias=True, name='fc')
    >>> weights = {'fc_weight': mx.nd.ones((3, 2))}
    >>> half, arguments, states = mx.contrib.amp.convert_model(net, weights, {}, 'float16')
    >>> half.eval(x=mx.nd.ones((1, 2)), **arguments)[0].shape
    (1, 3)
    """
    target = _check_target(target_dtype, "convert_model")
    _check_symbol(sym, "convert_model")
    for name, arrays in (("arg_params", arg_params), ("aux_params", aux_params)):
        if not isinstance(arrays, dict):
            raise CheckedTypeError(f"[amp.convert_model] {name} is a {type(arrays).__name__}; a dict of names to NDArrays is expected")
    data_names = [n for n in sym.list_inputs() if n not in arg_params and n not in aux_params]
    converted = convert_symbol(sym, target, target_dtype_ops, fp32_ops, conditional_fp32_ops,
                               excluded_sym_names, data_names, cast_optional_params)
    return converted, _cast_params(converted, arg_params, target), dict(aux_params)


@accepts_device
def convert_hybrid_block(block, target_dtype="float16", target_dtype_ops=None, fp32_ops=None,
                         conditional_fp32_ops=None, excluded_sym_names=None, ctx=None,
                         cast_optional_params=False):
    """A hybridized block that was called at least once, as a block in mixed precision for
    inference; the other arguments as :func:`convert_symbol`.

    Returns
    -------
    SymbolBlock
        hybridized; its parameters are copies.

    Examples
    --------
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(3))
    >>> net.initialize()
    >>> net.hybridize()
    >>> _ = net(mx.nd.ones((1, 2)))
    >>> half = mx.contrib.amp.convert_hybrid_block(net, target_dtype='float16')
    >>> half(mx.nd.ones((1, 2))).shape
    (1, 3)
    """
    from ..gluon import HybridBlock, SymbolBlock
    if not isinstance(block, HybridBlock):
        raise CheckedTypeError(f"[amp.convert_hybrid_block] got a {type(block).__name__}; accepted: a HybridBlock")
    if not block._cached_graph:
        raise RuntimeError(f"[amp.convert_hybrid_block] {block.name!r} has no graph; call hybridize() and run it once before")
    target = _check_target(target_dtype, "convert_hybrid_block")
    variables, out = block._cached_graph
    inputs = [v for v in variables if v is not None]
    converted = convert_symbol(out, target, target_dtype_ops, fp32_ops, conditional_fp32_ops,
                               excluded_sym_names, [v.name for v in inputs], cast_optional_params)
    where = cpu() if ctx is None or not hasattr(ctx, "device_type") and not isinstance(ctx, (list, tuple)) else ctx
    new = SymbolBlock(converted, inputs)
    params = {p.name: p for p in block.collect_params().values()}
    arrays = _cast_params(converted, {n: p._reduce() for n, p in params.items()}, target)
    for name, p in new.collect_params().items():
        if name in arrays:
            p._load_init(arrays[name], where if isinstance(where, (list, tuple)) else [where], cast_dtype=True, dtype_source="saved")
    new.hybridize()
    return new
