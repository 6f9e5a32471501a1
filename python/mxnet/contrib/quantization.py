"""Networks in 8-bit integers: quantization of trained models for inference.

A layer in 8 bits reads a quarter of the memory and computes several numbers in the time of one.
Each tensor is a range, which calibration finds on a few batches, and integers that count steps of
it.

- :func:`quantize_net`: a Gluon block.
- :func:`quantize_model_mkldnn`: a symbol and its parameters, for speed.
- :func:`quantize_model`: the same, node by node, without merging layers.
- :func:`quantize_graph` and :func:`calib_graph`: its two steps, to calibrate in your own way.
"""
import ctypes
import logging

import numpy as np

from .. import gluon
from ..base import CheckedTypeError, CheckedValueError, SymbolHandle, _LIB, c_array, c_str, c_str_array, check_call, mx_uint, py_str
from ..context import Context, cpu
from ..io import DataDesc, DataIter  # noqa: F401  (`import *` of 1.9.1 gives DataDesc)
from ..symbol import Symbol
from ..util import accepts_device
from ._calibration import (CalibrationCollector, _collect_ranges, _get_optimal_threshold, _get_optimal_thresholds,  # noqa: F401
                           _LayerHistogramCollector, _LayerOutputMinMaxCollector, _quantized_array, _warn_of_cut_values, combine_histogram)
from ._calibration_data import ACCEPTED, Batches, collector_or_none, count_or_none, first_batch, logger_or_none
from . import _quantization_report as _report
from ._quantization_report import QuantizationReport, report_of

__all__ = ["CalibrationCollector", "QuantizationReport", "calib_graph", "combine_histogram", "quantize_graph", "quantize_model",
           "quantize_model_mkldnn", "quantize_model_onednn", "quantize_net", "quantize_net_v2"]

_DTYPES = ("int8", "uint8", "auto")
_MODES = ("none", "naive", "entropy", "customize")


# ---- what is asked for

def _choice(name, value, accepted):
    if value not in accepted:
        raise CheckedValueError(f"[quantization] {name} {value!r}; accepted: {', '.join(repr(a) for a in accepted)}")
    return value


def _calib_mode(mode):
    """As 1.9.1 calls it: 2.0 says 'custom' for 'customize'."""
    return _choice("calib_mode", {None: "none", "custom": "customize"}.get(mode, mode), _MODES)


def _names(argument, names):
    """A list of names that a program gave, or None."""
    if names is None:
        return []
    if isinstance(names, str) or not isinstance(names, (list, tuple, set, frozenset)) or not all(isinstance(n, str) for n in names):
        raise CheckedValueError(f"[quantization] {argument} is {names!r}; a list of names is accepted")
    return list(names)


def _check_model(sym, arg_params, aux_params):
    if not isinstance(sym, Symbol):
        raise CheckedTypeError(f"[quantization] sym is a {type(sym).__name__}; a Symbol is accepted")
    for name, arrays in (("arg_params", arg_params), ("aux_params", aux_params)):
        if not isinstance(arrays, dict):
            raise CheckedTypeError(f"[quantization] {name} is a {type(arrays).__name__}; a dict of names to NDArrays is accepted")


def _check_context(ctx):
    if not isinstance(ctx, Context):
        raise CheckedValueError(f"[quantization] ctx is {ctx!r}; one context is accepted")
    return ctx


# ---- the graph

def _given_names(names):
    return mx_uint(len(names)), c_str_array(names)


def _quantize_symbol(sym, ctx, excluded_symbols=None, excluded_operators=None, offline_params=None, quantized_dtype="int8",
                     quantize_mode="smart", quantize_granularity="tensor-wise", merge=False, calibrated=False):
    """(graph in 8-bit integers, names of the results whose range it wants to know)."""
    handle, count, names = SymbolHandle(), mx_uint(), ctypes.POINTER(ctypes.c_char_p)()
    given = [part for group in (excluded_symbols, excluded_operators, offline_params) for part in _given_names(list(group or []))]
    if merge:
        check_call(_LIB.MXQuantizeSymbolEx(sym.handle, ctypes.byref(handle), *given, c_str(quantized_dtype), ctypes.c_bool(calibrated),
                                           c_str(quantize_mode), ctypes.byref(count), ctypes.byref(names)))
    else:
        check_call(_LIB.MXQuantizeSymbol(sym.handle, ctypes.byref(handle), ctypes.byref(ctypes.c_int(ctx.device_typeid)), *given,
                                         c_str(quantized_dtype), ctypes.c_bool(True), c_str(quantize_mode), c_str(quantize_granularity),
                                         ctypes.byref(count), ctypes.byref(names)))
    wanted = [py_str(names[i]) for i in range(count.value)]
    return Symbol(handle), wanted


def _calibrate_quantized_sym(qsym, min_max_dict):
    """The graph with the ranges of results."""
    if not min_max_dict:
        return qsym
    handle = SymbolHandle()
    names = list(min_max_dict)
    ends = [c_array(ctypes.c_float, [float(min_max_dict[n][i]) for n in names]) for i in (0, 1)]
    check_call(_LIB.MXSetCalibTableToQuantizedSymbol(qsym.handle, *_given_names(names), *ends, ctypes.byref(handle)))
    return Symbol(handle)


def _fold(sym, arg_params, aux_params, shapes, kept):
    """(symbol, arguments, states) with BatchNorm in the parameters of the layers before it."""
    values = {**aux_params, **arg_params}
    shapes = {**{n: a.shape for n, a in values.items()}, **shapes}
    data = [d for shape in shapes.values() for d in shape]
    starts = [0, *np.cumsum([len(shape) for shape in shapes.values()]).tolist()]
    folded, made, count, names = SymbolHandle(), SymbolHandle(), mx_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXSymbolFoldParameters(
        sym.handle, *_given_names(list(shapes)), c_array(ctypes.c_int64, data), c_array(mx_uint, starts), *_given_names(kept),
        ctypes.byref(folded), ctypes.byref(made), ctypes.byref(count), ctypes.byref(names)))
    names, folded, made = [py_str(names[i]) for i in range(count.value)], Symbol(folded), Symbol(made)
    new = {}
    if names:
        read = {n: values[n].as_in_context(cpu()).as_nd_ndarray() for n in made.list_inputs()}
        new = dict(zip(names, made.bind(cpu(), read, grad_req="null").forward()))
    arguments, states = set(folded.list_arguments()), set(folded.list_auxiliary_states())
    return (folded, {n: a for n, a in {**arg_params, **new}.items() if n in arguments},
            {n: a for n, a in aux_params.items() if n in states})


def _quantize_params(qsym, params, min_max_dict=None):
    """Arguments of the quantized graph: NAME_quantize, NAME_quantize_min and NAME_quantize_max of
    what it has in 8 bits."""
    quantized, attributes = {}, qsym.attr_dict()
    for name in qsym.list_arguments():
        if name in params:
            quantized[name] = params[name]
        elif name.endswith("_quantize") and name[:-9] in params:
            wide = "__dtype__" in attributes.get(name, {})      # a bias, in 32 bits
            parts = _quantized_array(name[:-9], params[name[:-9]], wide)
            quantized.update(zip((name, name + "_min", name + "_max"), parts))
    return quantized


def _new_collector(mode, quantized_dtype, wanted, custom, logger):
    if mode == "none":
        return None
    if mode == "customize":
        if custom is None:
            raise CheckedValueError("[quantization] calib_mode 'custom' needs a LayerOutputCollector; none was given")
        custom.include_layer = custom.include_layers = wanted
        return custom
    logger = logger or logging.getLogger(__name__)
    if mode == "naive":
        return _LayerOutputMinMaxCollector(quantized_dtype, include_layers=wanted, logger=logger)
    return _LayerHistogramCollector(quantized_dtype=quantized_dtype, include_layers=wanted, logger=logger)


# ---- two steps

@accepts_device
def quantize_graph(sym, arg_params, aux_params, ctx=cpu(), excluded_sym_names=None, excluded_op_names=None, calib_mode="entropy",
                   quantized_dtype="int8", quantize_mode="full", quantize_granularity="tensor-wise", LayerOutputCollector=None,
                   logger=None):
    """A network with 8-bit integers in the place of float32, and a collector to calibrate it with.

    Show the collector results of the network in float32, and then call :func:`calib_graph`. Without
    that, every layer finds ranges anew in each run, which takes time.

    Parameters
    ----------
    sym : Symbol
        The network in float32.
    arg_params, aux_params : dict of str to NDArray
        Its parameters and auxiliary states.
    ctx : Context
        Where it is to run.
    excluded_sym_names : list of str, optional
        Nodes that stay in float32.
    excluded_op_names : list of str, optional
        Operators that stay in float32.
    calib_mode : str
        'none': there is no collector. 'naive': the range is from the least to the greatest value.
        'entropy': values beyond a threshold are clipped, so that little of the distribution is
        lost. 'customize' ('custom' in 2.0): the collector is `LayerOutputCollector`.
    quantized_dtype : str
        'int8', 'uint8', or 'auto': 'uint8' where no value is negative.
    quantize_mode : str
        'full': all nodes that there is an operator on integers for. 'smart': convolutions, dense
        and recurrent layers, and of other nodes those that lie between two of them.
    quantize_granularity : str
        'tensor-wise'; 'channel-wise' is accepted and gives the same, as in 1.9.1.
    LayerOutputCollector : CalibrationCollector, optional
        See `calib_mode`.
    logger : logging.Logger, optional
        Is told what happens.

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray, CalibrationCollector or None)
        Parameters in 8 bits are called NAME_quantize; NAME_quantize_min and NAME_quantize_max are
        their range.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    >>> weights = {'fc_weight': mx.nd.array([[1, -2]] * 2), 'fc_bias': mx.nd.zeros(2)}
    >>> int8, arguments, states, collector = mx.contrib.quantization.quantize_graph(
    ...     net, weights, {}, calib_mode='naive')
    >>> arguments['fc_weight_quantize'].asnumpy().tolist()
    [[64, -127], [64, -127]]
    >>> collector.include_layers
    ['data', 'fc_output']
    """
    _check_model(sym, arg_params, aux_params)
    mode = _calib_mode(calib_mode)
    _choice("quantized_dtype", quantized_dtype, _DTYPES)
    _choice("quantize_granularity", quantize_granularity, ("tensor-wise", "channel-wise"))
    qsym, wanted = _quantize_symbol(sym, _check_context(ctx), _names("excluded_sym_names", excluded_sym_names),
                                    _names("excluded_op_names", excluded_op_names), list(arg_params), quantized_dtype, quantize_mode,
                                    quantize_granularity)
    if logger:
        logger.info("Quantizing graph: %d results are to be calibrated", len(wanted))
    collector = _new_collector(mode, quantized_dtype, wanted, LayerOutputCollector, logger) if mode != "customize" or LayerOutputCollector \
        else None
    return qsym, _quantize_params(qsym, arg_params), aux_params, collector


def calib_graph(qsym, arg_params, aux_params, collector, calib_mode="entropy", quantized_dtype="int8", logger=logging):
    """The second step behind :func:`quantize_graph`: ranges that do not change from run to run.

    Parameters
    ----------
    qsym : Symbol
        As :func:`quantize_graph` gave it.
    arg_params, aux_params : dict of str to NDArray
        Those of the network in float32, or those that :func:`quantize_graph` gave.
    collector : CalibrationCollector
        Has seen results of the network in float32.
    calib_mode : str
        As it was given to :func:`quantize_graph`; not 'none'.
    quantized_dtype : str
        As it was given to :func:`quantize_graph`.
    logger : logging.Logger, optional

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray)

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=1, no_bias=True, name='fc')
    >>> weights = {'fc_weight': mx.nd.array([[1, -2]])}
    >>> int8, arguments, states, collector = mx.contrib.quantization.quantize_graph(
    ...     net, weights, {}, calib_mode='naive')
    >>> data = mx.nd.array([[3, 1], [1, 1]])
    >>> collector.collect('data', 'null', data)
    >>> collector.collect('fc_output', 'FullyConnected', net.eval(data=data, **weights)[0])
    >>> int8, arguments, states = mx.contrib.quantization.calib_graph(
    ...     int8, weights, {}, collector, calib_mode='naive')
    >>> int8.eval(data=data, **arguments)[0].asnumpy().round(1).tolist()
    [[1.0], [-1.0]]
    """
    mode = _calib_mode(calib_mode)
    if mode == "none":
        raise CheckedValueError("[quantization] calib_mode 'none'; accepted: 'naive', 'entropy', 'customize'")
    if mode == "entropy":
        if hasattr(collector, "hist_dict"):
            ranges = _get_optimal_thresholds(collector.hist_dict, quantized_dtype, logger=logger)
        else:
            raise CheckedTypeError(f"[quantization] calib_mode 'entropy' with a {type(collector).__name__}; "
                                   "the collector that quantize_graph gave is accepted")
    else:
        ranges = collector.post_collect() if hasattr(collector, "post_collect") else collector.min_max_dict
    return _calibrate_quantized_sym(qsym, ranges), _quantize_params(qsym, arg_params), aux_params


# ---- a whole model

def _merged(sym, arg_params, aux_params, shapes, ask, calibrated, logger=None):
    """(symbol in float32, its arguments, its states, symbol in 8 bits, wanted results), with layers
    merged."""
    sym, arg_params, aux_params = _fold(sym, arg_params, aux_params, shapes, ask["excluded_symbols"])
    qsym, wanted = _quantize_symbol(sym, cpu(), offline_params=list(arg_params), merge=True, calibrated=calibrated, **ask)
    if logger:
        logger.info("Quantizing graph: %d results are to be calibrated", len(wanted))
    return sym, arg_params, aux_params, qsym, wanted


def _calibrated(sym, arg_params, aux_params, qsym, collector, inputs, batches, ctx, limits, logger, quantized_dtype):
    """The 8-bit graph with the ranges that the network has on these batches."""
    examples, _ = _collect_ranges(sym, {**arg_params, **aux_params}, inputs, batches, collector, ctx, limits, logger)
    if logger:
        logger.info("Collected layer output values from FP32 model using %d examples", examples)
    ranges = collector.post_collect() if hasattr(collector, "post_collect") else collector.min_max_dict
    _warn_of_cut_values(ranges, quantized_dtype)
    return _calibrate_quantized_sym(qsym, ranges)


def _quantize_model(sym, arg_params, aux_params, data_names, ctx, ask, calib_mode, calib_data, limits, granularity, merge, logger):
    _check_model(sym, arg_params, aux_params)
    _check_context(ctx)
    mode = _choice("calib_mode", "none" if calib_mode is None else calib_mode, _MODES[:3])
    _choice("quantized_dtype", ask["quantized_dtype"], _DTYPES)
    _choice("quantize_granularity", granularity, ("tensor-wise", "channel-wise"))
    if mode != "none" and not (isinstance(calib_data, (DataIter, gluon.data.DataLoader)) or callable(calib_data)):
        raise CheckedValueError(f"[quantization] calib_data is {calib_data!r} with calib_mode {mode!r}; "
                                "a DataIter or a DataLoader is accepted, or a function that gives one")
    batches = Batches(calib_data) if mode != "none" else None
    limits = tuple(count_or_none(n, v) for n, v in zip(("num_calib_examples", "num_calib_batches"), limits))
    logger_or_none(logger)
    data_names = [data_names] if isinstance(data_names, str) else list(data_names)
    if unknown := [n for n in data_names if n not in sym.list_arguments()]:
        raise CheckedValueError(f"[quantization] data_names has {unknown}; the symbol has the arguments "
                                f"{[n for n in sym.list_arguments() if n not in arg_params]}")
    given = (batches.provide_data if batches else getattr(calib_data, "provide_data", None)) or []
    if merge:
        shapes = {d[0]: tuple(d[1]) for d in given if d[0] in data_names}
        sym, arg_params, aux_params, qsym, wanted = _merged(sym, arg_params, aux_params, shapes, ask, mode != "none", logger)
    else:
        qsym, wanted = _quantize_symbol(sym, ctx, offline_params=list(arg_params), quantize_granularity=granularity, **ask)
    if mode != "none":
        collector = _new_collector(mode, ask["quantized_dtype"], wanted, None, logger)
        inputs = [d[0] for d in given] if given else data_names
        qsym = _calibrated(sym, arg_params, aux_params, qsym, collector, inputs, batches, ctx, limits, logger,
                           ask["quantized_dtype"])
    return qsym, _quantize_params(qsym, arg_params), aux_params


@accepts_device
def quantize_model(sym, arg_params, aux_params, data_names=("data",), label_names=("softmax_label",), ctx=cpu(), excluded_sym_names=None,
                   excluded_op_names=None, calib_mode="entropy", calib_data=None, num_calib_examples=None, quantized_dtype="int8",
                   quantize_mode="smart", quantize_granularity="tensor-wise", logger=None, num_calib_batches=None):
    """A model in 8-bit integers, node by node.

    :func:`quantize_model_mkldnn` gives a faster and more exact one.

    Parameters
    ----------
    sym, arg_params, aux_params, ctx, excluded_sym_names, excluded_op_names
        As :func:`quantize_graph` takes them, and `quantized_dtype`, `quantize_mode` and
        `quantize_granularity` as well.
    data_names : list of str
        The inputs, in the order in which `calib_data` gives them.
    label_names : list of str
        Inputs that inference does not need.
    calib_mode : str
        'none', 'naive' or 'entropy'; see :func:`quantize_graph`.
    calib_data : DataIter or DataLoader, optional
        Batches that are like those of later inference. Needed unless `calib_mode` is 'none'.
    num_calib_examples : int, optional
        Calibration ends with the batch in which so many examples are reached. Without it all
        batches count.
    logger : logging.Logger, optional
    num_calib_batches : int, optional
        Calibration ends after so many batches, as in 2.0.

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray)
        They make a checkpoint, as those of a model in float32 do.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    >>> weights = {'fc_weight': mx.nd.array([[1, -2], [3, 0]]), 'fc_bias': mx.nd.zeros(2)}
    >>> data = mx.nd.array([[1, 2], [-1, 0.5]])
    >>> int8, arguments, states = mx.contrib.quantization.quantize_model(
    ...     net, weights, {}, calib_mode='naive', calib_data=mx.io.NDArrayIter(data, batch_size=2))
    >>> float32 = net.eval(data=data, **weights)[0]
    >>> bool((int8.eval(data=data, **arguments)[0] - float32).abs().max().asscalar() < 0.05)
    True
    """
    ask = dict(excluded_symbols=_names("excluded_sym_names", excluded_sym_names),
               excluded_operators=_names("excluded_op_names", excluded_op_names), quantized_dtype=quantized_dtype,
               quantize_mode=quantize_mode)
    return _quantize_model(sym, arg_params, aux_params, data_names, ctx, ask, calib_mode, calib_data,
                           (num_calib_examples, num_calib_batches), quantize_granularity, False, logger)


@accepts_device
def quantize_model_mkldnn(sym, arg_params, aux_params, data_names=("data",), label_names=("softmax_label",), ctx=cpu(),
                          excluded_sym_names=None, excluded_op_names=None, calib_mode="entropy", calib_data=None, num_calib_examples=None,
                          quantized_dtype="int8", quantize_mode="smart", quantize_granularity="tensor-wise", logger=None,
                          num_calib_batches=None):
    """A model in 8-bit integers, with layers merged first: BatchNorm goes into the convolution
    before it, and a relu costs nothing.

    Arguments and results are those of :func:`quantize_model`. Parameters keep their names; a
    convolution that had no bias may get one.

    Examples
    --------
    >>> net = mx.sym.Convolution(mx.sym.var('data'), kernel=(1, 1), num_filter=2, no_bias=True, name='c')
    >>> net = mx.sym.Activation(mx.sym.BatchNorm(net, name='bn'), act_type='relu')
    >>> weights = {'c_weight': mx.nd.ones((2, 1, 1, 1)), 'bn_gamma': mx.nd.ones(2), 'bn_beta': mx.nd.ones(2)}
    >>> states = {'bn_moving_mean': mx.nd.zeros(2), 'bn_moving_var': mx.nd.ones(2)}
    >>> data = mx.io.NDArrayIter(mx.nd.ones((4, 1, 2, 2)), batch_size=2)
    >>> int8, arguments, states = mx.contrib.quantization.quantize_model_mkldnn(
    ...     net, weights, states, calib_mode='naive', calib_data=data, quantize_mode='full')
    >>> sorted(arguments)[:2], states
    (['c_bias_quantize', 'c_bias_quantize_max'], {})
    """
    if not isinstance(ctx, Context) or ctx.device_type not in ("cpu", "cpu_pinned", "cpu_shared"):
        raise CheckedValueError(f"[quantization] quantize_model_mkldnn with ctx {ctx!r}; the CPU is accepted")
    ask = dict(excluded_symbols=_names("excluded_sym_names", excluded_sym_names),
               excluded_operators=_names("excluded_op_names", excluded_op_names), quantized_dtype=quantized_dtype,
               quantize_mode=quantize_mode)
    return _quantize_model(sym, arg_params, aux_params, data_names, ctx, ask, calib_mode, calib_data,
                           (num_calib_examples, num_calib_batches), quantize_granularity, True, logger)


def quantize_model_onednn(sym, arg_params, aux_params, data_names=("data",), device=cpu(), excluded_sym_names=None,
                          excluded_op_names=None, calib_mode="entropy", calib_data=None, num_calib_batches=None, quantized_dtype="int8",
                          quantize_mode="smart", quantize_granularity="tensor-wise", logger=None):
    """:func:`quantize_model_mkldnn` under its name in 2.0, with the arguments that it has there.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var('data'), num_hidden=2, name='fc')
    >>> weights = {'fc_weight': mx.nd.ones((2, 3)), 'fc_bias': mx.nd.zeros(2)}
    >>> data = mx.io.NDArrayIter(mx.nd.ones((4, 3)), batch_size=2)
    >>> int8, arguments, states = mx.contrib.quantization.quantize_model_onednn(
    ...     net, weights, {}, calib_mode='naive', calib_data=data)
    >>> arguments['fc_weight_quantize'].dtype.__name__
    'int8'
    """
    return quantize_model_mkldnn(sym, arg_params, aux_params, data_names, (), device, excluded_sym_names, excluded_op_names, calib_mode,
                                 calib_data, None, quantized_dtype, quantize_mode, quantize_granularity, logger, num_calib_batches)


# ---- Gluon

def _graph_of(network, arrays):
    """(names of inputs, symbol, arguments, states) of a block in inference."""
    for count in range(len(arrays), 0, -1):    # a batch may have labels behind the data
        try:
            network(*arrays[:count])
            break
        except (TypeError, ValueError):
            if count == 1:
                raise
    variables, out = network._get_graph(*arrays[:count])
    inputs = [v.name for v in variables if v is not None]
    params = {p.name: p._reduce().as_nd_ndarray() for p in network.collect_params().values()}
    return (inputs, out, {n: params[n] for n in out.list_arguments() if n in params},
            {n: params[n] for n in out.list_auxiliary_states() if n in params})


def _block(symbol, inputs, arrays, ctx, dtypes):
    """A block of a graph with these parameters, whose inputs have these dtypes."""
    from ..symbol import var
    net = gluon.SymbolBlock(symbol, [var(n, dtype=dtype) for n, dtype in zip(inputs, dtypes)])
    for name, param in net.collect_params().items():
        param.grad_req = "null"
        param._load_init(arrays[name], [ctx], cast_dtype=True, dtype_source="saved")
    net.hybridize()
    return net


@accepts_device
def quantize_net_v2(network, quantized_dtype="auto", quantize_mode="full", quantize_granularity="tensor-wise", exclude_layers=None,
                    exclude_layers_match=None, exclude_operators=None, calib_data=None, data_shapes=None, calib_mode="none",
                    num_calib_examples=None, ctx=cpu(), LayerOutputCollector=None, logger=None, num_calib_batches=None):
    """A Gluon block in 8-bit integers, for inference. It does what :func:`quantize_net` does, with
    `quantize_granularity` as the fourth argument.

    Examples
    --------
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(3))
    >>> net.initialize()
    >>> int8 = mx.contrib.quantization.quantize_net_v2(net, data_shapes=[(1, 2)])
    >>> int8(mx.nd.ones((1, 2))).shape
    (1, 3)
    """
    if not isinstance(network, gluon.HybridBlock):
        raise CheckedTypeError(f"[quantization] network is a {type(network).__name__}; a HybridBlock is accepted")
    mode = _calib_mode(calib_mode)
    _choice("quantized_dtype", quantized_dtype, _DTYPES)
    _choice("quantize_mode", quantize_mode, ("full", "smart"))
    _choice("quantize_granularity", quantize_granularity, ("tensor-wise", "channel-wise"))
    _check_context(ctx)
    limits = count_or_none("num_calib_examples", num_calib_examples), count_or_none("num_calib_batches", num_calib_batches)
    logger_or_none(logger)
    collector_or_none(LayerOutputCollector)
    layers, operators = _names("exclude_layers", exclude_layers), _names("exclude_operators", exclude_operators)
    parts = _names("exclude_layers_match", [exclude_layers_match] if isinstance(exclude_layers_match, str) else exclude_layers_match)
    if mode != "none" and calib_data is None:
        raise CheckedValueError(f"[quantization] calib_data is None with calib_mode {mode!r}; {ACCEPTED} is accepted")
    batches = None if calib_data is None else Batches(calib_data)
    arrays = first_batch(batches, data_shapes)
    inputs, given, arg_params, aux_params = _graph_of(network, arrays)
    _report.warn_of_unknown_names(given, layers, parts, operators)
    excluded = layers + [n.name for n in given.nodes() if any(part in n.name for part in parts)]
    if logger:
        logger.info("These layers have been excluded %s", excluded)
    ask = dict(excluded_symbols=excluded, excluded_operators=operators, quantized_dtype=quantized_dtype, quantize_mode=quantize_mode)
    shapes = {name: array.shape for name, array in zip(inputs, arrays)}
    sym, arg_params, aux_params, qsym, wanted = _merged(given, arg_params, aux_params, shapes, ask, mode != "none", logger)
    def becomes_integers(merge=True, **other):
        made, _ = _quantize_symbol(sym, cpu(), offline_params=list(arg_params), merge=merge, calibrated=mode != "none", **{**ask, **other})
        return {n.name[len("quantized_"):] for n in made.nodes() if n.name.startswith("quantized_")}
    asked = {"layers": layers, "parts": parts, "operators": {_report.operator_or_none(name) for name in operators},
             "without smart": becomes_integers(quantize_mode="full"),
             "without floats": becomes_integers(merge=False, quantize_mode="full")}
    report = report_of(given, sym, qsym, asked)
    if logger:
        logger.info("%s", report)
    if mode != "none":
        collector = _new_collector(mode, quantized_dtype, wanted, LayerOutputCollector, logger)
        qsym = _calibrated(sym, arg_params, aux_params, qsym, collector, inputs, (batch[:len(inputs)] for batch in batches), ctx, limits,
                           logger, quantized_dtype)
    net = _block(qsym, inputs, {**_quantize_params(qsym, arg_params), **aux_params}, ctx, [a.dtype for a in arrays])
    net.quantization = report
    return net


@accepts_device
def quantize_net(network, quantized_dtype="auto", quantize_mode="full", exclude_layers=None, exclude_layers_match=None,
                 exclude_operators=None, calib_data=None, data_shapes=None, calib_mode="none", num_calib_examples=None, ctx=cpu(),
                 logger=None, quantize_granularity="tensor-wise", LayerOutputCollector=None, num_calib_batches=None):
    """A Gluon block in 8-bit integers, for inference.

    Layers are merged first: BatchNorm goes into the convolution or dense layer before it, and a
    relu costs nothing. The block that was given stays as it is.

    Parameters
    ----------
    network : HybridBlock
        Has parameters.
    quantized_dtype : str
        'int8', 'uint8', or 'auto': 'uint8' where no value is negative.
    quantize_mode : str
        'full': all layers that there is an operator on integers for. 'smart': convolutions, dense
        and recurrent layers, and of others those that lie between two of them.
    exclude_layers : list of str, optional
        Nodes of the graph that stay in float32.
    exclude_layers_match : list of str, optional
        Nodes whose name contains one of these stay in float32.
    exclude_operators : list of str, optional
        Operators that stay in float32.
    calib_data : DataLoader, DataIter, iterable or callable, optional
        Batches that are like those of later inference: an array, or a list of them, each. A
        function of nothing gives one of the others. What follows the inputs, such as labels, is
        left out. Needed unless `calib_mode` is 'none'.
    data_shapes : list of shape or DataDesc, optional
        Of the inputs, where there is no `calib_data`.
    calib_mode : str
        'none': ranges are found anew in each run, which takes time. 'naive': from the least to the
        greatest value of `calib_data`. 'entropy': values beyond a threshold are clipped, so that
        little of the distribution is lost. 'custom': as `LayerOutputCollector` says.
    num_calib_examples : int, optional
        Calibration ends with the batch in which so many examples are reached. Without it all
        batches count.
    ctx : Context
        Where the new block has its parameters.
    logger : logging.Logger, optional
        Is told what happens.
    quantize_granularity : str
        'tensor-wise' or 'channel-wise'.
    LayerOutputCollector : CalibrationCollector, optional
        See `calib_mode`.
    num_calib_batches : int, optional
        Calibration ends after so many batches.

    Returns
    -------
    SymbolBlock
        Hybridized. `export` writes it, and `SymbolBlock.imports` reads it. Its attribute
        `quantization` is a :class:`QuantizationReport`: which layers stayed in float32, and why.

    Raises
    ------
    TypeError, ValueError
        naming an argument of another type or value, and what is accepted.

    Examples
    --------
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(8, activation='relu'), mx.gluon.nn.Dense(3))
    >>> net.initialize()
    >>> images = mx.nd.random.uniform(shape=(64, 5))
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(images), batch_size=16)
    >>> int8 = mx.contrib.quantization.quantize_net(net, calib_data=data, calib_mode='naive')
    >>> bool((int8(images) - net(images)).abs().max().asscalar() < 0.01)
    True
    >>> print(int8.quantization)
    3 nodes in integers, 0 merged into others, 0 in float32
    >>> int8 = mx.contrib.quantization.quantize_net(net, calib_data=lambda: [images], calib_mode='naive')
    >>> _ = int8.export('int8')
    """
    return quantize_net_v2(network, quantized_dtype, quantize_mode, quantize_granularity, exclude_layers, exclude_layers_match,
                           exclude_operators, calib_data, data_shapes, calib_mode, num_calib_examples, ctx=ctx,
                           LayerOutputCollector=LayerOutputCollector, logger=logger, num_calib_batches=num_calib_batches)
