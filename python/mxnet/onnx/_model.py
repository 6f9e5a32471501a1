"""ONNX models that run: `load`, and what it returns."""
import ctypes
import html
import json
import os
import warnings

from .._binding import onnx_named, onnx_run
from .._files import kinds as _kinds
from ..base import MXNetError, NDArrayHandle, NotCopied, SymbolHandle, _LIB, c_str, c_str_array, check_call
from ..context import current_context, Context
from .. import _dtypes
from ..ndarray import NDArray
from ..numpy import ndarray as _np_ndarray
from ..symbol import Symbol
from ..util import is_np_array as _is_np_array
from ._values import Handle, array_of_strings, as_arrays as _as_arrays, from_value, row_of_map, takes_sequence, to_value as _to_value

__all__ = ["Model", "load", "operators"]

_NEWEST_OPSET = 28   # of ai.onnx, whose operators are known


class _Info:
    """An input or output as the file describes it: `name`, `shape` (numbers, names of dimensions,
    None), `dtype`, `kind` (tensor, sequence, optional, map), `stored`: the type of 8 or fewer bits,
    as the file names it, whose numbers arrays of `dtype` hold, or None; and `labels`: the names of
    the columns of scores, of which ZipMap makes dictionaries elsewhere, the keys of a map, or
    None."""

    def __init__(self, about):
        self.name, self.dtype, self.kind = about["name"], about["dtype"], about["kind"]
        self.stored, self.labels = about.get("stored"), about.get("labels")
        self.shape = None if about["shape"] is None else tuple(about["shape"])

    def described(self):
        """The dtype, and the shape with what is no tensor, as texts."""
        shape = "any shape" if self.shape is None else "(" + ", ".join("?" if d is None else str(d) for d in self.shape) + ")"
        stored = f" of {self.stored}" if self.stored else ""
        return f"{self.dtype or 'any'}{stored}", shape if self.kind == "tensor" else f"{shape} {self.kind}"

    def __repr__(self):
        return f"{self.name}: {' '.join(self.described())}"


_NO_ARRAYS = {}   # for outputs; never changed


class Model(NotCopied):
    """An ONNX model, called with arrays; made by `load`.

    A call takes inputs by position or by name, as `mx.nd`, `mx.np` or NumPy arrays, or numbers in
    lists. It returns one array, or a list where the model has several outputs. Shapes may change
    from call to call; a plan is made for each, and the ones used last are kept. Any number of
    threads may call one model.

    Attributes
    ----------
    inputs, outputs : list
        Each with `name`, `shape` (numbers, names of free dimensions, None), `dtype` and `kind`; an
        output of scores has `labels`, the names of its columns, where the file has them (ZipMap).
        An input of the kind ``map`` takes a dictionary of numbers, or an array of one row in the
        order of its `labels`.
    with_defaults : list
        Inputs that need no value, since the file has one.
    ctx : Context
        Where it runs.
    metadata : dict
        What the producer wrote; `opsets`, `producer`, `ir_version` beside it in `about`.
    precision : str or None
        The 16-bit dtype of products, where `load` was asked for one and the device has them.
    source : str or None
        The path of the file; None where `load` was given bytes.
    """

    handle = None
    precision = None
    source = None
    _within = ()   # of a subgraph: its name and node, behind those that it lies in
    _instead = "its file. mx.onnx.load(path) makes one in each process; threads of a process share it"

    def __init__(self, handle, ctx):
        self.handle, self.ctx, self._copies = handle, ctx, ctx.device_type == "cpu"
        text = ctypes.c_char_p()
        check_call(_LIB.MXOnnxModelDescribe(handle, ctypes.byref(text)))
        self.about = json.loads(text.value.decode(errors="replace"))
        self.inputs, self.with_defaults, self.outputs = (
            [_Info(i) for i in self.about[key]] for key in ("inputs", "with_defaults", "outputs"))
        self.metadata = self.about["metadata"]
        self._maps = {i.name: i for i in self.inputs if i.kind == "map" and i.labels is not None}
        self._names, self._output_names = (tuple(i.name for i in infos) for infos in (self.inputs, self.outputs))
        self._address = handle.value

    def __del__(self):
        if self.handle is not None and _LIB is not None:
            _LIB.MXOnnxModelFree(self.handle)

    def _is_map(self, given):
        """Is the dictionary the first input, rather than all inputs by name?"""
        return bool(self.inputs) and self.inputs[0].name in self._maps and not any(name in given for name in self._names)

    def _rows(self, inputs):
        """The inputs with rows in the place of dictionaries, where the model takes maps."""
        return {name: row_of_map(self._maps[name], value) if name in self._maps and isinstance(value, dict) else value
                for name, value in inputs.items()}

    def _named(self, args, kwargs):
        if len(args) == 1 and isinstance(args[0], dict) and not self._is_map(args[0]):
            kwargs = {**args[0], **kwargs}
            args = ()
        if len(args) > len(self.inputs):
            raise TypeError(f"[onnx] {len(args)} inputs; accepted: {len(self.inputs)}, {self.inputs}")
        named = {info.name: value for info, value in zip(self.inputs, args) if value is not None}
        for name, value in kwargs.items():
            if name in named:
                raise TypeError(f"[onnx] input {name} is given twice")
            named[name] = value
        return named

    def _of_arrays(self, names, values, out, tried=False):
        """The results for tuples of names and arrays; None where a value is something else.
        `tried`: NumPy's arrays were among what is something else."""
        results = None if tried else onnx_run(self._address, names, values, 1 + _is_np_array() if self._copies else 0, out)
        if results is None:
            values = _as_arrays(values, self.ctx)
            results = None if values is None else onnx_run(self._address, names, values, 0, out)
        return self._finished(results, values)

    @staticmethod
    def _finished(results, values):
        """Results of the binding with all arrays, strings and lists in them; None as it is. Raises
        what the call failed with."""
        if type(results) is int:   # pylint: disable=unidiomatic-typecheck
            check_call(results)
        if not isinstance(results, tuple):
            return results
        results = list(results)
        for i, result in enumerate(results):
            if isinstance(result, NDArray):
                continue
            if isinstance(result, tuple):
                results[i] = array_of_strings(result[1], result[0])
            else:
                ours = [v for v in values if isinstance(v, NDArray)]
                numpy = any(isinstance(v, _np_ndarray) for v in ours) or (_is_np_array() and not ours)
                results[i] = from_value(Handle(result), _np_ndarray if numpy else NDArray)
        return results

    def __call__(self, *args, **kwargs):
        values = self._of_arrays(self._names, args, {}) if not kwargs and len(args) == len(self._names) else None
        if values is None:
            values = list(self.run(self._named(args, kwargs)).values())
        return values[0] if len(values) == 1 else values

    def run(self, inputs, out=None):
        """All outputs by name, for inputs by name.

        Parameters
        ----------
        inputs : dict
            Name to array. Floats become the model's float type, integers its integer type.
        out : dict, optional
            Name of an output to the array that it is written to, of its shape and dtype, without a
            copy: the caches of a decoder, for example, two of each in turn. It may be the array of
            an input; operators that append to a buffer of fixed length then write in place.

        Returns
        -------
        dict
            Name to array, of the kind of the inputs (`mx.np` where one of them is, or none is ours
            and NumPy semantics are on; else `mx.nd`); strings are NumPy arrays of objects,
            sequences lists.

        Raises
        ------
        MXNetError
            for names, dtypes and shapes that do not fit, with what the model takes.
        """
        results, tried = None, type(inputs) is dict and not out and not self._maps   # pylint: disable=unidiomatic-typecheck
        if tried:   # what most calls are, in one step
            results = onnx_named(self._address, inputs, self._output_names, 1 + _is_np_array() if self._copies else 0)
            if type(results) is dict:   # pylint: disable=unidiomatic-typecheck
                return results
        if not isinstance(inputs, dict):
            raise TypeError(f"[onnx] run got {type(inputs).__name__} as the inputs; accepted: a dictionary {{name: array}}. "
                            "run(None, inputs) of onnxruntime is run(inputs) here, which gives all outputs by name; "
                            "mx.onnx.runtime has its interface")
        for name in inputs:   # a generator would take longer than all else here
            if not isinstance(name, str):
                raise TypeError(f"[onnx] run got inputs called {', '.join(map(repr, inputs))}; accepted: names, "
                                f"{', '.join(self._names)}")
        if out is not None and not isinstance(out, dict):
            raise TypeError(f"[onnx] out is a {type(out).__name__}; accepted: a dictionary {{name of an output: array}}")
        if out and len({id(array) for array in out.values()}) < len(out):
            raise ValueError(f"[onnx] out has one array for several of {', '.join(out)}; accepted: an array for each")
        if self._maps:
            inputs = self._rows(inputs)
        if results is None:
            results = self._of_arrays(tuple(inputs), tuple(inputs.values()), dict(out) if out else _NO_ARRAYS, tried)
        else:
            results = self._finished(results, inputs.values())
        if results is not None:
            named = dict(zip(self._output_names, results))
            if out:
                named.update(out)
            return named
        from .. import util
        about = {i.name: "sequence" if takes_sequence(i, inputs.get(i.name)) else i.dtype for i in self.inputs}
        arrays = [v for v in inputs.values() if isinstance(v, NDArray)]
        numpy = any(isinstance(v, _np_ndarray) for v in arrays) or (not arrays and util.is_np_array())
        stored = {i.name: i.stored or i.dtype for i in self.inputs}
        values = [_to_value(v, about.get(name), self.ctx, stored.get(name), f"input {name}") for name, v in inputs.items()]
        handles = (ctypes.c_void_p * len(values))(*[v.handle for v in values])
        given = dict(out or {})
        for name, array in given.items():
            if not isinstance(array, NDArray):
                raise TypeError(f"[onnx] out[{name!r}] is {type(array).__name__}; accepted: arrays of mx.nd and mx.np")
        count, made = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(_LIB.MXOnnxModelRunInto(
            self.handle, ctypes.c_int(len(values)), c_str_array(list(inputs)), handles, ctypes.c_int(len(given)), c_str_array(list(given)),
            (NDArrayHandle * len(given))(*[a.handle for a in given.values()]), ctypes.byref(count), ctypes.byref(made)))
        results = [Handle(ctypes.c_void_p(made[i])) for i in range(count.value)]
        make = _np_ndarray if numpy else NDArray
        return {info.name: given[info.name] if info.name in given else from_value(h, make) for info, h in zip(self.outputs, results)}

    def convert(self, shapes=None, dtypes=None, values=None):
        """The same computation as a symbol of this library, for given shapes of inputs.

        Parameters
        ----------
        shapes : dict, optional
            Input to shape; needed for inputs with free dimensions. A free first dimension may be
            left out: the symbol then serves any batch.
        dtypes : dict, optional
            Input to dtype, where the model leaves it open.
        values : dict, optional
            Input to its contents, which are fixed: the symbol is for these, and has no such inputs.
            So an input that chooses a branch is fixed: ``values={'use_cache_branch': [False]}``.
            Inputs that nothing reads then need no shape.

        Returns
        -------
        (Symbol, dict)
            The graph, and its parameters by name, which are copies: whoever writes them does not
            change this model. Sizes that the model computes from the shapes of its inputs are those
            of `shapes`.

        Raises
        ------
        MXNetError
            where results have shapes that depend on values, or a branch or loop is no single graph.
        """
        from .. import util
        from ._import import to_symbol
        symbol, params = to_symbol(self, shapes, dtypes, values)
        with util.np_shape(True):
            return symbol, {name: value.copy() for name, value in params.items()}

    def _convert(self, shapes, dtypes, values, learns=None):
        """A symbol and parameters; `learns`: for training, with operators on weights or without."""
        about = {i.name: (i.dtype, i.stored or i.dtype) for i in self.inputs}
        values = self._rows(values)
        given = [_to_value(v, about.get(n, (None,))[0], self.ctx, about.get(n, (None, None))[1], f"input {n}")
                 for n, v in values.items()]
        names = list(shapes)
        ndims = (ctypes.c_int * len(names))(*[len(shapes[n]) for n in names])
        flat = [int(d) for n in names for d in shapes[n]]
        dims = (ctypes.c_int64 * max(len(flat), 1))(*flat)
        kinds = (ctypes.c_int * len(names))(*[_dtypes.number(dtypes[n]) if n in dtypes else -1 for n in names])
        symbol, count = SymbolHandle(), ctypes.c_int()
        param_names, params = ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(NDArrayHandle)()
        convert = _LIB.MXOnnxModelConvertFor if learns is None else _LIB.MXOnnxModelConvertToLearn
        more = () if learns is None else (ctypes.c_int(learns),)
        check_call(convert(
            self.handle, ctypes.c_int(len(names)), c_str_array(names), ndims, dims, kinds, ctypes.c_int(len(given)),
            c_str_array(list(values)), (ctypes.c_void_p * len(given))(*[v.handle for v in given]), *more, ctypes.byref(symbol),
            ctypes.byref(count), ctypes.byref(param_names), ctypes.byref(params)))
        arrays = {param_names[i].decode(): NDArray(handle=NDArrayHandle(params[i])) for i in range(count.value)}
        return Symbol(handle=symbol), arrays

    def to_block(self, shapes=None, dtypes=None, values=None):
        """A Gluon block with the model's weights, for training and for use in other blocks.

        Parameters
        ----------
        shapes, dtypes, values : dict, optional
            As in `convert`. With `values` the block's inputs are, in the model's order, those that
            something reads and those that `shapes` names.

        Returns
        -------
        gluon.SymbolBlock, or a gluon.Block
            Its parameters have the names of the file. Weights are trained, constants are not
            (``grad_req`` is ``'null'``). What the file computes of weights is computed in each
            step. Normalisation keeps the statistics of the file, and dropout is left out, as in
            inference; BatchNormalization with ``training_mode=1`` is Gluon's layer, with the
            statistics of the batch while gradients are recorded. A model that is no single graph,
            since shapes depend on contents (NonZero), is a block of parts: it takes any shapes,
            cannot be hybridized with others or exported as a symbol, and `export_model` writes its
            file with the trained weights. So is a `subgraph` where `shapes` is not given.

        Raises
        ------
        MXNetError
            for a search, which has no gradients, and for numbers in integers whose scales gradients
            do not pass; the message says what to call instead.
        """
        from ._import import to_block
        return to_block(self, shapes, dtypes, values=values)

    def subgraph(self, name, node=None):
        """A graph that a node of the model holds, as a model of its own: the decoder of a search,
        the branch of an If.

        A search (BeamSearch, GreedySearch, Sampling) chooses tokens, which has no gradients. Its
        decoder is trained by itself: ``model.subgraph('decoder').to_block()`` is a block whose
        parameters are the decoder's weights, and :func:`export_model` of that block writes the
        whole file, with the search, and these weights.

        Parameters
        ----------
        name : str
            The name of the node's attribute: ``decoder``, ``encoder``, ``init_decoder`` of a
            search, ``then_branch``, ``else_branch``, ``body``.
        node : str, optional
            The name of the node, or of its first output where it has none. It is needed where
            several nodes have a graph of that name.

        Returns
        -------
        Model
            Its inputs are those of the graph, and behind them what nodes around it compute for it.
            Weights around it that it reads are its own. It may be called, converted and trained as
            any model, and its ``source`` is the same file.

        Raises
        ------
        MXNetError
            where there is no such graph, or more than one; the message lists those there are.

        Examples
        --------
        >>> search = mx.onnx.load('gpt2_beam_search.onnx')                      # doctest: +SKIP
        >>> decoder = search.subgraph('decoder').to_block()                     # doctest: +SKIP
        >>> mx.onnx.export_model(decoder, onnx_file_path='trained.onnx')        # doctest: +SKIP
        'trained.onnx'
        """
        if not isinstance(name, str) or not isinstance(node, (str, type(None))):
            raise TypeError(f"[onnx] subgraph got {name!r} of the node {node!r}; accepted: names")
        handle = ctypes.c_void_p()
        check_call(_LIB.MXOnnxModelInner(self.handle, c_str(name), c_str(node) if node is not None else None, ctypes.byref(handle)))
        made = Model(handle, self.ctx)
        made.source, made.precision, made._within = self.source, self.precision, (*self._within, (name, node))
        return made

    def explain(self, path=None, runs=None):
        """The plans made so far: nodes, bulks, memory, and where the graph was cut.

        Parameters
        ----------
        path : str, optional
            Where the plans are also written: a page (``.html``), a picture (``.svg``), the report
            (``.txt``) or data (``.json``). Of several plans each gets a file, with ``-1``, ``-2``
            and so on before the ending.
        runs : int, optional
            How often nodes are run and timed, on inputs of zeros; then the report says which
            implementation ran at which level, and how far it is from the machine's peaks. 5 with
            `path`; otherwise nothing is timed.

        Returns
        -------
        ModelExplanation
            A str, the report. Its ``plans`` are an :class:`mxnet.explain.Explanation` each.

        Raises
        ------
        ValueError
            for another ending of `path`, and for `runs` outside of 0 to 1000.

        Examples
        --------
        >>> model = mx.onnx.load('net.onnx')                          # doctest: +SKIP
        >>> _ = model(mx.nd.ones((2, 4)))                             # doctest: +SKIP
        >>> [node['ran'] for node in model.explain(runs=3).plans[0].plan['nodes']]   # doctest: +SKIP
        [[{'implementation': 'GEMM of few rows', 'level': 'AVX2'}]]
        """
        from ..explain import of_onnx_model    # seldom needed
        text = ctypes.c_char_p()
        check_call(_LIB.MXOnnxModelExplain(self.handle, ctypes.byref(text)))
        report = text.value.decode()
        if runs is None and path is None:
            return of_onnx_model(None, report, None)
        explanation = of_onnx_model(self.handle, report, 5 if runs is None else runs)
        if path is not None:
            explanation.save(path)
        return explanation

    def __repr__(self):
        lines = [f"<mx.onnx.Model {self.about['graph'] or os.path.basename(self.about['path'])}: "
                 f"{sum(self.about['operators'].values())} nodes, {self.about['weight_bytes'] / 2**20:.1f} MiB of weights"]
        lines += [f"  in   {i}" for i in self.inputs] + [f"  out  {o}" for o in self.outputs]
        return "\n".join(lines) + ">"

    def _repr_html_(self):
        rows = [(kind, i.name, *i.described()) for kind, infos in (("in", self.inputs), ("out", self.outputs)) for i in infos]
        cells = "".join(f"<tr><td>{kind}</td><td><b>{html.escape(name)}</b></td><td>{html.escape(dtype)}</td>"
                        f"<td>{html.escape(shape)}</td></tr>" for kind, name, dtype, shape in rows)
        title = html.escape(repr(self).splitlines()[0].strip("<>"))
        return f"<table><caption>{title}</caption>{cells}</table>"


def _set_precision(model, precision):
    if precision is None:
        return
    used = ctypes.c_int()
    check_call(_LIB.MXOnnxModelSetPrecision(model.handle, ctypes.c_int(_dtypes.number(precision)), ctypes.byref(used)))
    model.precision = _dtypes.NAMES[used.value] if used.value else None


def _path_or_bytes(model):
    """Where a model is, or what is in it. TypeError, with what to do, for anything else."""
    what = type(model).__name__
    if hasattr(model, "SerializeToString"):
        if not hasattr(model, "graph"):
            raise TypeError(f"[onnx.load] got the {what} of the package onnx; accepted: a ModelProto, which onnx.helper.make_model makes "
                            "of a graph")
        return model.SerializeToString()
    if hasattr(model, "read"):
        model = model.read()
        if isinstance(model, str):
            raise TypeError(f"[onnx.load] got a file that is open for text ({what}); accepted: open(path, 'rb'), which gives bytes")
    if isinstance(model, (bytes, bytearray, memoryview, str, os.PathLike)):
        return model
    if isinstance(model, Model):
        raise TypeError("[onnx.load] got a Model, which is loaded; call it, or give its file")
    hint = ""
    if hasattr(model, "state_dict"):
        hint = ". torch.onnx.export(module, inputs, 'model.onnx') writes a module of PyTorch to a file"
    elif isinstance(model, dict):
        hint = ". mx.contrib.torch.load_into(net, weights) puts weights into a Gluon network"
    raise TypeError(f"[onnx.load] got {what}; accepted: a path, bytes, a file that is open for bytes, or an onnx.ModelProto{hint}")


def load(model, ctx=None, folder=None, precision=None):
    """Reads an ONNX model.

    Parameters
    ----------
    model : str, path, bytes, file or onnx.ModelProto
        A file, or its contents, also as a file that is open for bytes or as the package `onnx` has
        them. A file must stay as it is while the model is used, because weights
        are mapped into memory.
    ctx : Context, optional
        Where the model runs; the current context by default.
    folder : str, optional
        Where external data of a model in bytes lies. Files keep theirs beside them.
    precision : str, optional
        ``'bfloat16'`` or ``'float16'``: convolutions, dense layers and products of matrices compute
        in that dtype, with float32 sums; functions that lose too much stay in float32, as in
        :mod:`mxnet.amp`. Inputs and outputs keep their dtypes. A processor without such products
        keeps float32 (`Model.precision` is None then): those with AVX512_BF16 have bfloat16, GPUs
        both. By default all is computed as the file says, but that data is rounded to 8 bits where
        it meets 8-bit weights in blocks (DequantizeLinear in front of MatMul), as in onnxruntime.
        ``'float32'`` keeps all digits there, too.

    Returns
    -------
    Model

    Raises
    ------
    MXNetError
        for a file that is damaged, and for operators that are not known, with node and opset.

    Examples
    --------
    >>> net = mx.gluon.nn.Dense(3, in_units=4)                    # doctest: +SKIP
    >>> model = mx.onnx.load('net.onnx')                          # doctest: +SKIP
    >>> model(mx.nd.ones((2, 4))).shape                           # doctest: +SKIP
    (2, 3)
    """
    ctx = current_context() if ctx is None else Context(ctx)
    handle = ctypes.c_void_p()
    model = _path_or_bytes(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        check_call(_LIB.MXOnnxModelCreateFromBuffer(data, ctypes.c_size_t(len(data)), c_str(os.fspath(folder)) if folder else None,
                                                    ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id), ctypes.byref(handle)))
    else:
        path = os.fspath(model)
        try:
            check_call(_LIB.MXOnnxModelCreate(c_str(path if isinstance(path, str) else os.fsdecode(path)),
                                              ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id), ctypes.byref(handle)))
        except MXNetError:
            if os.path.isfile(path):   # another kind of file, perhaps
                _kinds.refuse_other("onnx.load", path, ("onnx",), "ONNX models")
            raise
    made = Model(handle, ctx)
    opset = made.about["opsets"].get("", 0)
    if opset > _NEWEST_OPSET:
        warnings.warn(f"[onnx.load] the model has opset {opset} of ai.onnx; accepted: up to {_NEWEST_OPSET}, the newest that is known. Its "
                      f"operators are read as those of {_NEWEST_OPSET}, which may mean something else", stacklevel=2)
    if not isinstance(model, (bytes, bytearray, memoryview)):
        made.source = os.path.abspath(os.fsdecode(model))   # also when the program goes to another folder
    _set_precision(made, precision)
    return made


def operators():
    """What can be read: {domain: {operator: [(first opset, last opset or None), ...]}}."""
    count, out = ctypes.c_int(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXOnnxListOps(ctypes.byref(count), ctypes.byref(out)))
    table = {}
    for i in range(count.value):
        domain, op, first, last = out[i].decode().split(" ")
        table.setdefault(domain, {}).setdefault(op, []).append((int(first), None if last == "-1" else int(last)))
    return table
