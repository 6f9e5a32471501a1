"""`InferenceSession`: a model behind the interface of onnxruntime."""
import os
import threading
import time
import warnings

from ... import context as _context, profiler
from ..._binding import onnx_numpy
from ...base import MXNetError, _LIB, check_call
from .._model import load
from ._errors import InvalidArgument, loading, of_call
from ._options import SessionOptions
from ._values import IOBinding, ModelMetadata, NodeArg, OrtValue, to_numpy, wait

__all__ = ["InferenceSession", "get_available_providers", "get_device"]

_CPU, _CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"


def get_available_providers():
    """Names of what a session can run on: ``CUDAExecutionProvider`` where there is a GPU, and
    ``CPUExecutionProvider``."""
    return [_CUDA, _CPU] if _context.num_gpus() > 0 else [_CPU]


def get_device():
    """``GPU`` or ``CPU``: what a session runs on by default."""
    return "GPU" if _context.num_gpus() > 0 else "CPU"


def _chosen(providers, options):
    """The names that are there, and the context of the first of them."""
    available, chosen = get_available_providers(), []
    for i, provider in enumerate(providers or ()):
        name, settings = provider if isinstance(provider, tuple) else (provider, options[i] if options else {})
        if name in available:
            chosen.append((name, settings))
        else:
            warnings.warn(f"[onnx.runtime] provider {name!r} is not there; available: {', '.join(available)}", stacklevel=4)
    if not any(name == _CPU for name, _ in chosen):
        chosen.append((_CPU, {}))
    name, settings = chosen[0]
    ctx = _context.gpu(int(settings.get("device_id", 0))) if name == _CUDA else _context.cpu()
    return dict(chosen), ctx


def _dictionaries(scores, labels):
    """A dictionary for each row of scores, as ZipMap says."""
    return [dict(zip(labels, row)) for row in scores.tolist()]


class InferenceSession:
    """A model with the methods that it has in onnxruntime.

    Parameters
    ----------
    path_or_bytes : str, path or bytes
        The model. A file must stay as it is while the session is used.
    sess_options : SessionOptions, optional
        Threads, sizes of inputs, profiling.
    providers : list, optional
        Names, or pairs of a name and options. ``CUDAExecutionProvider`` runs on a GPU (option
        ``device_id``). One that is not there is left out with a warning. Without a list the session
        runs on the CPU.
    provider_options : list, optional
        Options of each name of `providers`.

    Raises
    ------
    NoSuchFile, InvalidProtobuf, InvalidGraph, Fail
        for a model that cannot be read.

    Examples
    --------
    >>> from mxnet.onnx import runtime as ort
    >>> session = ort.InferenceSession('net.onnx')                             # doctest: +SKIP
    >>> session.run(None, {session.get_inputs()[0].name: x})                   # doctest: +SKIP
    """

    def __init__(self, path_or_bytes, sess_options=None, providers=None, provider_options=None, **_):
        if not isinstance(path_or_bytes, (str, bytes, bytearray, os.PathLike)):
            raise TypeError(f"[onnx.runtime] a model of type {type(path_or_bytes).__name__}; accepted: a path or bytes")
        # names that libraries read, optimum for one
        is_bytes = isinstance(path_or_bytes, (bytes, bytearray))
        self._model_path, self._model_bytes = (None, path_or_bytes) if is_bytes else (os.fspath(path_or_bytes), None)
        self._sess_options = SessionOptions() if sess_options is None else sess_options
        self._providers, ctx = _chosen(providers, provider_options)
        with loading():
            self._model = load(path_or_bytes, ctx=ctx)
        model, sizes = self._model, self._sess_options._sizes   # pylint: disable=protected-access
        self._inputs, self._outputs, self._defaults = (
            [NodeArg(info, sizes) for info in infos] for infos in (model.inputs, model.outputs, model.with_defaults))
        self._labels = {o.name: o.labels for o in model.outputs if o.labels is not None}
        self._needed = [i.name for i in model.inputs if i.kind != "optional"]
        self._names = [o.name for o in self._outputs]
        self._places = {name: i for i, name in enumerate(self._names)}
        self._address = model.handle.value if ctx.device_type == "cpu" else None   # of a model that reads NumPy's arrays where they are
        if self._sess_options.intra_op_num_threads > 0:
            check_call(_LIB.MXSetNumOMPThreads(int(self._sess_options.intra_op_num_threads)))
        self._profile, self._began = "", 0
        if self._sess_options.enable_profiling:
            self._start_profiling()

    def _start_profiling(self):
        self._profile = f"{self._sess_options.profile_file_prefix}_{time.strftime('%Y-%m-%d_%H-%M-%S')}.json"
        self._began = time.time_ns()
        profiler.set_config(filename=self._profile, profile_all=True)
        profiler.set_state("run")

    def end_profiling(self):
        """Ends what `SessionOptions.enable_profiling` began. The file's name; empty without one."""
        name, self._profile = self._profile, ""
        if name:
            profiler.set_state("stop")
            profiler.dump()
        return name

    def get_profiling_start_time_ns(self):
        """When profiling began, in nanoseconds of the system's clock."""
        return self._began

    def get_inputs(self):
        """Inputs that must be given, as `NodeArg`."""
        return list(self._inputs)

    def get_outputs(self):
        """All outputs, as `NodeArg`."""
        return list(self._outputs)

    def get_overridable_initializers(self):
        """Inputs that have values in the file, as `NodeArg`."""
        return list(self._defaults)

    def get_modelmeta(self):
        """What the producer wrote."""
        return ModelMetadata(self._model.about)

    def get_session_options(self):
        """The options that it was made with."""
        return self._sess_options

    def get_providers(self):
        """What it runs on, and what it could."""
        return list(self._providers)

    def get_provider_options(self):
        """The options of each."""
        return {name: {str(k): str(v) for k, v in settings.items()} for name, settings in self._providers.items()}

    def set_providers(self, providers=None, provider_options=None):
        """Changes the names of what it runs on, whose device must be the same."""
        chosen, ctx = _chosen(providers, provider_options)
        if ctx != self._model.ctx:
            raise InvalidArgument(f"[onnx.runtime] {self._model.ctx} becomes {ctx}; accepted: providers of the same device. "
                                  "Make another session")
        self._providers = chosen

    def disable_fallback(self):
        """Nothing to do: a session stays on its device."""

    def enable_fallback(self):
        """Nothing to do: a session stays on its device."""

    def _check_missing(self, feed):
        missing = [name for name in self._needed if name not in feed]
        if missing:
            raise ValueError(f"[onnx.runtime] no values for the inputs {missing}; given: {list(feed)}")

    def _call_with_arrays(self, feed, names):
        """The results of these names (None: of all outputs) for arrays, small ones in one step;
        None where a value is something else."""
        if type(feed) is not dict or self._address is None:   # pylint: disable=unidiomatic-typecheck
            return None
        results = onnx_numpy(self._address, feed, None if names is None else tuple(self._places[name] for name in names))
        if results is None or type(results) is list:   # pylint: disable=unidiomatic-typecheck
            return results
        if type(results) is int:   # pylint: disable=unidiomatic-typecheck
            self._check_missing(feed)   # which has an error of its own
        try:
            results = self._model._finished(results, feed.values())   # pylint: disable=protected-access
            wait(results)
        except MXNetError as error:
            raise of_call(error) from error
        return [to_numpy(results[self._places[name]]) for name in names or self._names]

    def _call(self, feed, out=None):
        """All results by name."""
        if not isinstance(feed, dict):
            raise TypeError(f"[onnx.runtime] inputs of type {type(feed).__name__}; accepted: a dictionary {{name: array}}")
        self._check_missing(feed)
        copies = self._model.ctx.device_type != "cpu"
        # an output is no input's memory
        values = {name: value.array(copies or name in self._names) if isinstance(value, OrtValue) else value
                  for name, value in feed.items() if value is not None}
        try:
            results = self._model.run(values, out)
            wait(results.values())   # from here on the caller may write into what was shared
            return results
        except MXNetError as error:
            raise of_call(error) from error

    def _asked(self, output_names):
        if isinstance(output_names, str):
            raise TypeError(f"[onnx.runtime] the outputs {output_names!r}; accepted: a list of names, or None for all")
        names = list(output_names or self._names)
        for name in names:
            if name not in self._names:
                raise InvalidArgument(f"[onnx.runtime] an output {name!r}; accepted: {', '.join(self._names)}")
        return names

    def run(self, output_names, input_feed, run_options=None):
        """Results in the order of `output_names`, or all of them.

        Parameters
        ----------
        output_names : list of str or None
            None, or an empty list: all outputs.
        input_feed : dict
            Name to an array of NumPy, a list, an `OrtValue`, or an array of `mx.nd` or `mx.np`.
        run_options : RunOptions, optional
            Accepted.

        Returns
        -------
        list
            NumPy arrays; lists for sequences; dictionaries of scores in a list for ZipMap.

        Raises
        ------
        ValueError
            where inputs are missing.
        InvalidArgument
            for names, dtypes and shapes that do not fit. Floats of another width are converted.
        """
        del run_options
        names = None if output_names is None else self._asked(output_names)
        results = self._call_with_arrays(input_feed, names)
        if results is None:
            made = self._call(input_feed)
            results = [to_numpy(made[name]) for name in names or self._names]
        if self._labels:
            results = [_dictionaries(array, self._labels[name]) if name in self._labels else array
                       for name, array in zip(names or self._names, results)]
        return results

    def run_async(self, output_names, input_feed, callback, user_data, run_options=None):
        """As `run`, on a thread of its own, which then calls ``callback(results, user_data,
        error)``; the error is an empty text where there is none."""
        def call():
            try:
                results, error = self.run(output_names, input_feed, run_options), ""
            except Exception as raised:   # pylint: disable=broad-exception-caught
                results, error = [], str(raised)
            callback(results, user_data, error)
        self._asked(output_names)
        threading.Thread(target=call, daemon=True).start()

    def run_with_ort_values(self, output_names, input_dict_ort_values, run_options=None):
        """As `run`, with an `OrtValue` for each input and result."""
        del run_options
        names = self._asked(output_names)
        results = self._call(input_dict_ort_values)
        return [OrtValue(results[name]) for name in names]

    def io_binding(self):
        """A new, empty `IOBinding`."""
        return IOBinding(self)

    def run_with_iobinding(self, iobinding, run_options=None):
        """Calls the model with what is bound; results stay in the binding."""
        del run_options
        self._asked(iobinding.outputs)
        iobinding.run(self._call)


def set_seed(seed):
    """Seeds the random operators of all models."""
    from ... import random
    random.seed(int(seed) % 2**31)
