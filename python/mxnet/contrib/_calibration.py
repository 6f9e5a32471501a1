"""What calibration sees of a network's results, and how their ranges follow from it."""
import ctypes
import inspect
import warnings

import numpy as np

from .. import ndarray as nd
from ..base import CheckedTypeError, CheckedValueError, NDArrayHandle, _LIB, check_call
from ..executor import _monitored_class, _NodeName
from ..ndarray import NDArray

__all__ = ["CalibrationCollector", "combine_histogram"]
_HOME = "mxnet.contrib.quantization"


class CalibrationCollector:
    """What sees the results of layers while a network in float32 runs; the base of collectors of
    your own.

    Attributes
    ----------
    include_layers : list of str
        The results that have to be seen, as :func:`quantize_graph` and :func:`quantize_net` set it.
        `include_layer` is another name for it.
    min_max_dict : dict of str to (float, float)
        The range of each result.

    A subclass defines `collect`, which fills in `min_max_dict` or keeps what `post_collect` makes
    it from.

    Examples
    --------
    >>> import numpy as np
    >>> class Percentile(mx.contrib.quantization.CalibrationCollector):
    ...     'Ranges that leave out the largest thousandth of the values.'
    ...     def collect(self, name, op_name, arr):
    ...         if name in self.include_layers:
    ...             most = float(np.quantile(abs(arr.asnumpy()), 0.999))
    ...             self.min_max_dict[name] = -most, most
    >>> net = mx.gluon.nn.HybridSequential()
    >>> net.add(mx.gluon.nn.Dense(3))
    >>> net.initialize()
    >>> data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(mx.nd.ones((4, 2))), 2)
    >>> collector = Percentile()
    >>> int8 = mx.contrib.quantization.quantize_net(
    ...     net, calib_mode='custom', calib_data=data, LayerOutputCollector=collector)
    >>> collector.min_max_dict['data']
    (-1.0, 1.0)
    """
    __module__ = _HOME

    def __init__(self):
        self.include_layers = None
        self.min_max_dict = {}

    @property
    def include_layer(self):
        return self.include_layers

    @include_layer.setter
    def include_layer(self, names):
        self.include_layers = names

    def collect(self, name, op_name, arr):
        """Look at one result of one batch.

        Parameters
        ----------
        name : str
            The name of the result, such as ``conv0_output``, or of an input.
        op_name : str
            The operator that made it; ``null`` for an input.
        arr : NDArray
        """
        raise NotImplementedError(f"[quantization] {type(self).__name__} has no collect(name, op_name, arr)")

    def post_collect(self):
        """What `min_max_dict` is after all batches; called once.

        Returns
        -------
        dict of str to (float, float)
        """
        return self.min_max_dict


def _wanted(collector, name):
    return collector.include_layers is None or name in collector.include_layers


class _LayerOutputMinMaxCollector(CalibrationCollector):
    """The least and the greatest value (`calib_mode` 'naive')."""
    __module__ = _HOME

    def __init__(self, quantized_dtype, include_layer=None, logger=None, include_layers=None):
        super().__init__()
        self.quantized_dtype, self.logger = quantized_dtype, logger
        self.include_layers = include_layer if include_layers is None else include_layers

    def collect(self, name, *rest):
        """See :meth:`CalibrationCollector.collect`; `op_name` may be left out."""
        if not _wanted(self, name):
            return
        values = _finite(rest[-1], name)
        least, most = float(values.min()), float(values.max())
        known = self.min_max_dict.get(name, (least, most))
        self.min_max_dict[name] = min(known[0], least), max(known[1], most)
        if self.logger:
            self.logger.debug("Collecting layer %s min_range=%f, max_range=%f", name, least, most)


class _LayerHistogramCollector(CalibrationCollector):
    """Histograms, and the thresholds that lose least (`calib_mode` 'entropy')."""
    __module__ = _HOME

    def __init__(self, *args, num_bins=8001, include_layer=None, logger=None, include_layers=None, quantized_dtype="int8"):
        super().__init__()
        if args:    # 2.0 begins with the dtype
            names = ("quantized_dtype", "num_bins", "include_layers", "logger")[0 if isinstance(args[0], str) else 1:]
            given = dict(zip(names, args))
            quantized_dtype, num_bins = given.get("quantized_dtype", quantized_dtype), given.get("num_bins", num_bins)
            include_layers, logger = given.get("include_layers", include_layers), given.get("logger", logger)
        self.hist_dict, self.num_bins, self.logger, self.quantized_dtype = {}, num_bins, logger, quantized_dtype
        self.include_layers = include_layer if include_layers is None else include_layers

    def collect(self, name, *rest):
        """See :meth:`CalibrationCollector.collect`; `op_name` may be left out."""
        if not _wanted(self, name):
            return
        values = _finite(rest[-1], name)
        if self.logger:
            self.logger.debug("Collecting layer %s histogram of shape %s", name, values.shape)
        least, most = float(values.min()), float(values.max())
        threshold = max(abs(least), abs(most))
        if name in self.hist_dict:
            self.hist_dict[name] = combine_histogram(self.hist_dict[name], values, least, most, threshold)
        else:
            counts, edges = np.histogram(values, bins=self.num_bins, range=(-threshold, threshold) if threshold else (-1, 1))
            self.hist_dict[name] = counts, edges, least, most, threshold

    def post_collect(self):
        """The ranges by :func:`get_optimal_thresholds`."""
        return _get_optimal_thresholds(self.hist_dict, self.quantized_dtype, logger=self.logger)

    combine_histogram = staticmethod(lambda *args: combine_histogram(*args))
    get_optimal_threshold = staticmethod(lambda *args, **kwargs: _get_optimal_threshold(*args, **kwargs))
    get_optimal_thresholds = staticmethod(lambda *args, **kwargs: _get_optimal_thresholds(*args, **kwargs))


def _finite(array, name):
    values = array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)
    if not values.size or not np.isfinite(values).all():
        raise CheckedValueError(f"[quantization] {name} of shape {values.shape} "
                                + ("has values that are not finite; the range of finite values is found" if values.size
                                   else "has no values; at least one is needed"))
    return values


def combine_histogram(old_hist, arr, new_min, new_max, new_th):
    """A histogram with the values of another array.

    Parameters
    ----------
    old_hist : tuple
        (counts, edges of the bins, least value, greatest value, threshold): bins of equal width
        from minus the threshold to the threshold.
    arr : numpy.ndarray
        The new values.
    new_min, new_max, new_th : float
        Their least and greatest value, and the greatest magnitude.

    Returns
    -------
    tuple
        As `old_hist`. Bins of the same width are added at both ends where the new values need them.

    Examples
    --------
    >>> import numpy as np
    >>> counts, edges = np.histogram([-1., 0.5, 1], bins=4, range=(-1, 1))
    >>> new = np.array([-1.2, 0.1])
    >>> counts, edges, least, most, threshold = mx.contrib.quantization.combine_histogram(
    ...     (counts, edges, -1., 1., 1.), new, -1.2, 0.1, 1.2)
    >>> counts.tolist(), threshold
    ([1, 1, 0, 1, 2, 0], 1.5)
    """
    counts, edges, old_min, old_max, threshold = old_hist
    least, most = min(old_min, new_min), max(old_max, new_max)
    if new_th <= threshold:
        more, _ = np.histogram(arr, bins=len(counts), range=(-threshold, threshold) if threshold else (-1, 1))
        return counts + more, edges, least, most, threshold
    if not threshold:    # all zeros so far: their bin is the middle one, whatever the width
        more, edges = np.histogram(arr, bins=len(counts), range=(-new_th, new_th))
        return counts + more, edges, least, most, new_th
    width = 2 * threshold / len(counts)
    added = int((new_th - threshold) // width + 1)
    threshold += added * width
    more, edges = np.histogram(arr, bins=len(counts) + 2 * added, range=(-threshold, threshold))
    more[added:added + len(counts)] += counts
    return more, edges, least, most, threshold


def _get_optimal_threshold(hist_data, quantized_dtype, num_quantized_bins=255):
    """(least value, greatest value, threshold, divergence) of a histogram as
    :func:`combine_histogram` makes it.

    The threshold is the one for which the distribution of clipped and rounded values is nearest to
    that of the values, by the Kullback-Leibler divergence (S. Migacz, "8-bit inference with
    TensorRT", GTC 2017).
    """
    counts, edges, least, most, _ = hist_data
    if least >= 0 and quantized_dtype in ("auto", "uint8"):
        num_quantized_bins = num_quantized_bins * 2 + 1    # no bin for negative values
    threshold, divergence = nd.contrib.calibrate_entropy(nd.array(counts, dtype="float32"), nd.array(edges, dtype="float32"),
                                                         num_quantized_bins=num_quantized_bins)
    return least, most, threshold.asnumpy(), divergence.asnumpy()


def _get_optimal_thresholds(hist_dict, quantized_dtype, num_quantized_bins=255, logger=None):
    """{name: (lower, upper end of the range)} of {name: histogram}. The lower end is 0 where no
    value is negative and unsigned integers are possible."""
    if logger:
        logger.info("Calculating optimal thresholds for quantization using KL divergence with num_quantized_bins=%d", num_quantized_bins)
    ranges = {}
    for name, hist in hist_dict.items():
        if not hist[4]:    # nothing but zeros
            ranges[name] = 0.0, 0.0
            continue
        least, most, threshold, divergence = _get_optimal_threshold(hist, quantized_dtype, num_quantized_bins)
        end = float(threshold[0])
        ranges[name] = (0.0 if least >= 0 and quantized_dtype in ("auto", "uint8") else -end), end
        if logger:
            logger.debug("layer=%s, min_val=%f, max_val=%f, th=%f, divergence=%f", name, least, most, end, float(divergence[0]))
    return ranges


def _tell(collector, operators):
    """f(name, array) that calls `collector.collect`: of two arguments in 1.9.1, of three in 2.0."""
    collect = getattr(collector, "collect", None)
    if not callable(collect):
        raise CheckedTypeError(f"[quantization] LayerOutputCollector is a {type(collector).__name__}; "
                               "an object with collect(name, op_name, arr) is accepted")
    kinds = [p.kind for p in inspect.signature(collect).parameters.values()]
    if inspect.Parameter.VAR_POSITIONAL in kinds or kinds.count(inspect.Parameter.POSITIONAL_OR_KEYWORD) >= 3:
        return lambda name, array: collect(str(name), operators.get(name, "null"), array)
    return collect


def _like_monitored(array):
    """What a monitor's callback would be given."""
    handle = NDArrayHandle()
    check_call(_LIB.MXShallowCopyNDArray(array.handle, ctypes.byref(handle)))
    return _monitored_class(NDArray)(handle, writable=False)


def _collect_ranges(symbol, values, inputs, batches, collector, ctx, limits, logger=None):
    """Run `symbol` in float32 over batches, and show its results to the collector.

    `values`: arrays of parameters and auxiliary states by name. `inputs`: names of the others, as
    batches (lists of arrays) give them. `limits`: (examples, batches) after which it ends, or None
    of each. Returns (examples, batches) that were seen.
    """
    tell = _tell(collector, {output: node.op for node in symbol.nodes() for output in node.outputs})
    executor, shapes, examples, count = None, None, 0, 0
    for arrays in batches:
        if limits[0] is not None and count and examples >= limits[0] or limits[1] is not None and count >= limits[1]:
            break
        given = {name: array.as_nd_ndarray() for name, array in zip(inputs, arrays)}   # also those of mx.np
        if shapes != (shapes := {name: array.shape for name, array in given.items()}):
            executor = symbol.simple_bind(ctx, "null", **shapes)
            executor.copy_params_from({n: values[n] for n in executor.arg_dict if n in values},
                                      {n: values[n] for n in executor.aux_dict if n in values})
            executor.set_monitor_callback(tell)
        for name, array in given.items():
            tell(_NodeName(name), _like_monitored(array.as_in_context(ctx)))
        executor.forward(is_train=False, **given)
        nd.waitall()
        examples, count = examples + arrays[0].shape[0], count + 1
    if not count:
        raise CheckedValueError("[quantization] calib_data has no batches; at least one is needed")
    if logger:
        logger.info("Collected statistics from %d batches with batch_size=%d", count, arrays[0].shape[0])
    return examples, count


def _quantized_array(name, array, wide=False):
    """Integers from -127 to 127, and the range as two arrays of one element. Steps are the same on
    both sides of 0, so that products need no correction. `wide`: from -(2^31 - 1) to 2^31 - 1."""
    values = array.asnumpy()
    if not values.size or not np.isfinite(values).all():
        raise CheckedValueError(f"[quantization] the parameter {name} of shape {array.shape} "
                                + ("has values that are not finite; finite ones can be quantized" if values.size else "has no values"))
    end = nd.array([max(-float(values.min()), float(values.max()))], ctx=array.context, dtype="float32")
    if wide:
        largest = float(end.asscalar()) or 1.0
        steps = np.rint(np.clip(values.astype("float64") / largest, -1, 1) * (2 ** 31 - 1)).astype("int32")
        return nd.array(steps, ctx=array.context, dtype="int32"), -end, end
    return nd.contrib.quantize(array.astype("float32", copy=False).as_nd_ndarray(), -end, end, out_type="int8")


def _warn_of_cut_values(ranges, quantized_dtype):
    negative = [name for name, (low, _) in ranges.items() if quantized_dtype == "uint8" and low < 0]
    if negative:
        warnings.warn(f"[quantization] quantized_dtype 'uint8' makes 0 of the negative values of {', '.join(negative[:3])}"
                      f"{' and others' if len(negative) > 3 else ''}; 'auto' and 'int8' keep them", stacklevel=6)
