"""A Gluon block of an ONNX model that is no single graph."""
import ctypes

from ..base import MXNetError, NDArrayHandle, _LIB, c_str_array, check_call
from ..gluon import Block
from ..ndarray import NDArray
from ..numpy import ndarray as _np_ndarray
from ..util import is_np_array as _is_np_array


class PartsBlock(Block):
    """A model whose shapes depend on contents (NonZero, Compress, loops of any length), with its
    weights as parameters; made by `Model.to_block`.

    It is cut where contents are needed, and each part has a plan for each set of shapes. Gradients
    pass from part to part. Parameters are the floats of the file that nodes read as data, by their
    names there; weights in integers stay as they are. It takes arrays by position, in the order of
    the model's inputs, and serves any shapes that the file allows.
    """

    def __init__(self, model, ctx=None):
        super().__init__(prefix="")
        self._model, self._names = model, [info.name for info in model.inputs]
        handle, count = ctypes.c_void_p(), ctypes.c_int()
        names, arrays = ctypes.POINTER(ctypes.c_char_p)(), ctypes.POINTER(NDArrayHandle)()
        check_call(_LIB.MXOnnxModelForTraining(model.handle, ctypes.byref(handle), ctypes.byref(count), ctypes.byref(names),
                                               ctypes.byref(arrays)))
        self._parts = _Handle(handle)
        weights = {names[i].decode(): NDArray(handle=NDArrayHandle(arrays[i])) for i in range(count.value)}
        for name, value in weights.items():
            parameter = self.params.get(name, shape=value.shape, dtype=value.dtype)
            parameter._load_init(value, ctx or model.ctx, cast_dtype=True, dtype_source="saved")
            self._reg_params[name] = parameter

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self._model.inputs))})"

    def forward(self, *args):
        """The results for arrays, in the model's order; one array where there is one."""
        if len(args) != len(self._names):
            raise TypeError(f"[onnx] the block got {len(args)} inputs; accepted: {len(self._names)}, {self._model.inputs}")
        for info, value in zip(self._model.inputs, args):
            if not isinstance(value, NDArray):
                raise TypeError(f"[onnx] input {info.name} is {type(value).__name__}; accepted: arrays of mx.nd and mx.np")
        given = dict(zip(self._names, args))
        given.update((name, parameter.data(args[0].ctx) if args else parameter.data()) for name, parameter in self._reg_params.items())
        count, made = ctypes.c_int(), ctypes.POINTER(NDArrayHandle)()
        check_call(_LIB.MXOnnxModelRunRecorded(
            self._parts.handle, ctypes.c_int(len(given)), c_str_array(list(given)),
            (NDArrayHandle * len(given))(*[value.handle for value in given.values()]), ctypes.byref(count), ctypes.byref(made)))
        numpy = any(isinstance(value, _np_ndarray) for value in args) if args else _is_np_array()
        results = [(_np_ndarray if numpy else NDArray)(handle=NDArrayHandle(made[i])) for i in range(count.value)]
        return results[0] if len(results) == 1 else results

    def export(self, path, epoch=0, *_args, **_kwargs):
        """An error: there is no graph. `mx.onnx.export_model` writes the file instead."""
        raise MXNetError("[onnx] export of a block that is no single graph: shapes depend on contents; accepted: "
                         "mx.onnx.export_model(block, onnx_file_path=...), which writes the ONNX file with these weights, and "
                         "save_parameters")

    def written(self, package):
        """The model of the file with the weights of this block, as the package `onnx` has it."""
        from ._written import written
        return written(package, self._model.source, self._model._within, self._reg_params)


class _Handle:
    """A model of the library, given back at the end."""

    def __init__(self, handle):
        self.handle = handle

    def __del__(self):
        if _LIB is not None:
            _LIB.MXOnnxModelFree(self.handle)
