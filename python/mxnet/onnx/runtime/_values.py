"""Values beside a model: `OrtValue`, descriptions of inputs, and bindings of memory."""
import ctypes

import numpy as np

from ... import context as _context, ndarray as nd
from ...base import MXNetError
from ...ndarray import NDArray
from ._errors import InvalidArgument

__all__ = ["IOBinding", "ModelMetadata", "NodeArg", "OrtValue"]

_WORDS = {"float32": "float", "float64": "double"}
# ONNX's numbers of the types (TensorProto.DataType)
_NUMBERS = {"float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "object": 8, "bool": 9, "float16": 10,
            "float64": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}
_DTYPES = {number: name for name, number in _NUMBERS.items()}


def type_text(dtype, stored=None):
    """``tensor(float)`` for float32; `stored`: what bytes stand for."""
    word = stored.lower() if stored else "string" if dtype == "object" else _WORDS.get(dtype, dtype)
    return f"tensor({word})"


def _dtype_of(element_type):
    """What NumPy calls a type that is given as a dtype or by ONNX's number."""
    if isinstance(element_type, (int, np.integer)) and not isinstance(element_type, bool):
        if element_type not in _DTYPES:
            raise InvalidArgument(f"[onnx.runtime] element type {element_type}; accepted: {_DTYPES}")
        return np.dtype(_DTYPES[element_type])
    return np.dtype(element_type)


class NodeArg:
    """An input or output: `name`, `shape` (a list of numbers, names and None) and `type`, such as
    ``tensor(float)``."""

    def __init__(self, info, sizes):
        self.name = info.name
        shape = info.shape if info.kind not in ("sequence", "map") and info.shape is not None else ()
        self.shape = [sizes.get(d, d) for d in shape]
        text = type_text(info.dtype, info.stored)
        if info.labels is not None:
            key = "int64" if all(isinstance(label, int) for label in info.labels) else "string"
            text = f"map({key},{text if info.kind == 'map' else 'tensor(float)'})"
        self.type = {"sequence": f"seq({text})", "optional": f"optional({text})"}.get(info.kind, text)

    def __repr__(self):
        return f"NodeArg(name={self.name!r}, type={self.type!r}, shape={self.shape})"


class ModelMetadata:
    """What the producer wrote into the file."""

    def __init__(self, about):
        self.producer_name, self.domain, self.version = about["producer"], about["domain"], about["version"]
        self.graph_name, self.graph_description = about["graph"], about["graph_description"]
        self.description, self.custom_metadata_map = about["description"], dict(about["metadata"])


class _Memory:
    """Memory of a device that somebody else owns."""

    def __init__(self, address, shape, dtype):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": tuple(shape), "typestr": dtype.str, "version": 3}


def array_at(address, shape, dtype, ctx):
    """An array over memory that the caller keeps."""
    dtype = np.dtype(dtype)
    if not address:
        raise InvalidArgument("[onnx.runtime] a null address; accepted: that of memory of the bound size")
    if ctx.device_type == "gpu":
        return nd.from_dlpack(_Memory(address, shape, dtype))
    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.frombuffer((ctypes.c_char * size).from_address(address), dtype=dtype)
    return nd.from_dlpack(memory.reshape(shape))


def ctx_of(device_type, device_id):
    """The context of a device that is called as in onnxruntime."""
    if device_type == "cpu":
        return _context.cpu()
    if device_type not in ("cuda", "gpu"):
        raise InvalidArgument(f"[onnx.runtime] device {device_type!r}; accepted: 'cpu', 'cuda'")
    if _context.num_gpus() <= device_id:
        raise RuntimeError(f"[onnx.runtime] device {device_id} of 'cuda'; there are {_context.num_gpus()}")
    return _context.gpu(device_id)


def to_numpy(value):
    """An array of the library as NumPy's, without a copy where it is large; lists element by
    element."""
    if isinstance(value, list):
        return [to_numpy(v) for v in value]
    if not isinstance(value, NDArray):
        return value
    if value.size > 1 << 14 and value.context.device_type == "cpu":
        try:
            return np.from_dlpack(value)
        except (BufferError, TypeError, MXNetError):   # a dtype that DLPack or NumPy lacks
            pass
    return value.asnumpy()


def wait(values):
    """Waits until arrays, and those in lists, are written."""
    for value in values:
        if isinstance(value, list):
            wait(value)
        elif isinstance(value, NDArray):
            value.wait_to_read()


def shared(value):
    """An array of the library with the memory of a contiguous array of NumPy that may be written;
    anything else as it is."""
    if not isinstance(value, np.ndarray) or value.ndim == 0 or value.size == 0 or not (value.flags.c_contiguous and value.flags.writeable):
        return value
    try:
        return nd.from_dlpack(value)
    except (BufferError, TypeError, ValueError, MXNetError):   # strings, and dtypes that DLPack lacks
        return value


class OrtValue:
    """An array on a device, a list of arrays, or an array of strings.

    On the CPU it shares memory with the array that it was made of.

    >>> from mxnet.onnx import runtime as ort
    >>> value = ort.OrtValue.ortvalue_from_numpy(np.ones((2, 3), dtype='float32'))
    >>> value.shape(), value.data_type(), value.device_name()
    ([2, 3], 'tensor(float)', 'cpu')
    """

    def __init__(self, value):
        self._value, self._array = value, None

    @staticmethod
    def ortvalue_from_numpy(numpy_obj, device_type="cpu", device_id=0):
        """The value of an array, which is copied to other devices than the CPU."""
        array, ctx = np.asarray(numpy_obj), ctx_of(device_type, device_id)
        if ctx.device_type == "cpu" or array.dtype.kind in "OUS":
            return OrtValue(array)
        return OrtValue(nd.array(array, ctx=ctx, dtype=array.dtype))

    @staticmethod
    def ortvalue_from_shape_and_type(shape, element_type, device_type="cpu", device_id=0):
        """A value of that shape, whose contents are not set."""
        ctx, dtype = ctx_of(device_type, device_id), _dtype_of(element_type)
        if ctx.device_type == "cpu":
            return OrtValue(np.empty(tuple(shape), dtype=dtype))
        return OrtValue(nd.empty(tuple(shape), ctx=ctx, dtype=dtype))

    @staticmethod
    def from_dlpack(data, is_bool_tensor=False):
        """The value of an array of another library, whose memory it shares."""
        array = nd.from_dlpack(data)
        return OrtValue(array.astype(bool) if is_bool_tensor else array)

    def __dlpack__(self, **arguments):
        return self._value.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self._value.__dlpack_device__()

    def _dtype(self):
        value = self._value[0] if isinstance(self._value, list) else self._value
        return np.dtype(value.dtype).name if not isinstance(value, np.ndarray) or value.dtype.kind not in "OUS" else "object"

    def numpy(self):
        """The value as NumPy's array."""
        return to_numpy(self._value)

    def shape(self):
        """The sizes, in a list."""
        return list(self._value.shape)

    def data_type(self):
        """Such as ``tensor(float)``."""
        text = type_text(self._dtype())
        return f"seq({text})" if isinstance(self._value, list) else text

    def element_type(self):
        """ONNX's number of the type."""
        return _NUMBERS[self._dtype()]

    def device_name(self):
        """``cpu`` or ``cuda``."""
        on_gpu = isinstance(self._value, NDArray) and self._value.context.device_type == "gpu"
        return "cuda" if on_gpu else "cpu"

    def data_ptr(self):
        """The address of the first element."""
        if isinstance(self._value, np.ndarray):
            return self._value.ctypes.data
        if self.device_name() == "cuda":
            return self._value.__cuda_array_interface__["data"][0]
        return np.from_dlpack(self._value).ctypes.data

    def tensor_size_in_bytes(self):
        """Bytes of all elements."""
        return self._value.size * np.dtype(self._dtype()).itemsize

    def has_value(self):
        """False for an optional that is none."""
        return self._value is not None

    def is_tensor(self):
        """Is it one array?"""
        return not isinstance(self._value, list)

    def is_tensor_sequence(self):
        """Is it a list of arrays?"""
        return isinstance(self._value, list)

    def is_sparse_tensor(self):
        """False: there are none."""
        return False

    def update_inplace(self, np_arr):
        """Writes new contents of the same shape into its memory."""
        if tuple(np.shape(np_arr)) != tuple(self._value.shape):
            raise InvalidArgument(f"[onnx.runtime] contents of shape {np.shape(np_arr)}; accepted: {tuple(self._value.shape)}")
        self._value[...] = np_arr

    def array(self, copies=False):
        """What a model takes: an array of the library that has the memory of NumPy's, where there
        can be one; with `copies` what was given."""
        if self._array is None and not copies:
            self._array = shared(self._value)
        return self._value if copies else self._array

    def target(self):
        """The array of the library that a model writes into, which is also what it takes: so
        caches that are input and output are written in place."""
        array = self.array()
        return array if isinstance(array, NDArray) else nd.from_dlpack(self._value)


class IOBinding:
    """Inputs and outputs of a session that are bound once and used in many calls.

    Outputs with memory are written there, without a copy; the others are new in each call.
    """

    def __init__(self, session):
        self._session, self._inputs, self._outputs, self._results = session, {}, {}, []

    def bind_cpu_input(self, name, arr_on_cpu):
        """Binds an array of NumPy, whose memory each call reads."""
        self._bind(name, OrtValue(np.asarray(arr_on_cpu)))

    def bind_input(self, name, device_type, device_id, element_type, shape, buffer_ptr):
        """Binds memory, which the caller keeps as long as the binding is used."""
        self._bind(name, array_at(buffer_ptr, shape, _dtype_of(element_type), ctx_of(device_type, device_id)))

    def bind_ortvalue_input(self, name, ortvalue):
        """Binds a value."""
        self._bind(name, ortvalue)

    def _bind(self, name, value):
        names = [i.name for i in self._session.get_inputs() + self._session.get_overridable_initializers()]
        if name not in names:
            raise RuntimeError(f"[onnx.runtime] an input {name!r}; accepted: {', '.join(names)}")
        self._inputs[name] = value

    def bind_output(self, name, device_type="cpu", device_id=0, element_type=None, shape=None, buffer_ptr=None):
        """Asks for an output, in memory of the caller where `buffer_ptr` is its address."""
        if buffer_ptr is None:
            ctx_of(device_type, device_id)
            self._outputs[name] = None
        else:
            self._outputs[name] = OrtValue(array_at(buffer_ptr, shape, _dtype_of(element_type), ctx_of(device_type, device_id)))

    def bind_ortvalue_output(self, name, ortvalue):
        """Asks for an output in the memory of a value."""
        self._outputs[name] = ortvalue

    def clear_binding_inputs(self):
        """Forgets the inputs."""
        self._inputs.clear()

    def clear_binding_outputs(self):
        """Forgets the outputs and the results."""
        self._outputs.clear()
        self._results = []

    def synchronize_inputs(self):
        """Waits until inputs are written."""
        nd.waitall()

    def synchronize_outputs(self):
        """Waits until outputs are written."""
        nd.waitall()

    def run(self, call):
        """Calls ``call(inputs, out)``, which gives results by name, and keeps those asked for."""
        targets = {name: value.target() for name, value in self._outputs.items() if value is not None}
        made = call(self._inputs, targets)
        self._results = [value or OrtValue(made[name]) for name, value in self._outputs.items()]

    @property
    def outputs(self):
        """Names that were asked for."""
        return list(self._outputs)

    def get_outputs(self):
        """The outputs of the last call."""
        return list(self._results)

    def copy_outputs_to_cpu(self):
        """The outputs of the last call as arrays of NumPy."""
        return [np.array(r.numpy()) if r.is_tensor() else r.numpy() for r in self._results]
