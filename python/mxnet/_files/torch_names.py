"""What names in the pickles of PyTorch stand for: the whole of what such a file may ask for."""
import datetime

import numpy as np

from .. import _dtypes
from .mapped import check_shape
from .numpy_names import array_from_buffer, as_bytes, empty_array, encoded, give_state, numpy_dtype, numpy_number
from .other_dtypes import BITS, is_known, item_bytes
from .plain_pickle import Known, brief
from .torch_forms import PLAIN

__all__ = ["Rebuilt", "Storage", "Table", "changed", "give_attributes", "storage_type"]

# PyTorch's dtypes that there are arrays of.
DTYPES = {"float64": "float64", "double": "float64", "float32": "float32", "float": "float32", "float16": "float16", "half": "float16",
          "bfloat16": "bfloat16", "int64": "int64", "long": "int64", "int32": "int32", "int": "int32", "int16": "int16", "short": "int16",
          "int8": "int8", "uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "bool": "bool"}
# Those that there are none of.
_OTHER_NAMES = {"chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128"}
OTHER_DTYPES = {name: _OTHER_NAMES.get(name, name) for name in (*BITS, *_OTHER_NAMES)}
_STORAGES = {"Double": "float64", "Float": "float32", "Half": "float16", "BFloat16": "bfloat16", "Long": "int64", "Int": "int32",
             "Short": "int16", "Char": "int8", "Byte": "uint8", "Bool": "bool", "Untyped": "uint8",
             "ComplexDouble": "complex128", "ComplexFloat": "complex64", "QUInt8": "quint8", "QInt8": "qint8", "QInt32": "qint32",
             "QUInt4x2": "quint4x2", "QUInt2x4": "quint2x4"}
_LAYOUTS = ("strided", "contiguous_format", "preserve_format", "channels_last", "channels_last_3d", "per_tensor_affine",
            "per_channel_affine", "per_channel_affine_float_qparams", "per_tensor_symmetric", "per_channel_symmetric")
_CHANGES = {"neg": np.negative, "conj": np.conj}     # of views that imag and conj() make, by PyTorch's names
_TENSORS = ("torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer")


def storage_type(kind):
    """(dtype, bytes of an element) of what the table has for a type of storages; ValueError for
    anything else."""
    if not isinstance(kind, tuple) or len(kind) != 2 or not isinstance(kind[0], str) or _STORAGES.get(kind[0]) is not kind[1]:
        raise ValueError("a storage without type")
    return kind[1], item_bytes(kind[1])


class Storage:
    """Memory that tensors of a file share: `values` are its bytes, whose elements have `dtype`."""

    __slots__ = ("dtype", "key", "values")

    def __init__(self, key, dtype, values):
        self.key, self.dtype, self.values = key, dtype, values


class Rebuilt:
    """A tensor of a file: where its elements are. `changes` are names of `_CHANGES`, which are
    still to be made of them."""

    __slots__ = ("changes", "dtype", "offset", "shape", "storage", "strides")

    def __init__(self, storage, offset, shape, strides, dtype, changes=()):
        self.storage, self.offset, self.shape, self.strides, self.dtype = storage, offset, shape, strides, dtype
        self.changes = changes

    def check(self):
        """ValueError unless all of its elements are inside of its storage."""
        count = check_shape(self.shape, "a tensor")
        if not isinstance(self.strides, tuple) or len(self.strides) != len(self.shape):
            raise ValueError(f"a tensor of {len(self.shape)} dimensions with strides {brief(self.strides)}")
        for number in (self.offset, *self.strides):
            if type(number) is not int or not 0 <= number < 2 ** 62:     # pylint: disable=unidiomatic-typecheck
                raise ValueError(f"a tensor with offset or stride {brief(number)}; accepted: whole numbers from 0")
        there = len(self.storage.values) // item_bytes(self.dtype)
        last = self.offset + sum((size - 1) * stride for size, stride in zip(self.shape, self.strides))
        if count and last >= there or self.offset > there:
            raise ValueError(f"a tensor of shape {self.shape}, strides {self.strides} and offset {self.offset} in storage "
                             f"{self.storage.key!r}, which has {there} elements")
        return count

    def is_contiguous(self):
        step = 1
        for size, stride in zip(reversed(self.shape), reversed(self.strides)):
            if size != 1 and stride != step:
                return 0 in self.shape
            step *= size
        return True


def changed(values, changes):
    """The numbers of a view that are changed when they are read: an array of NumPy."""
    for name in changes:
        values = _CHANGES[name](values)
    return values


def _layout(name):
    if not isinstance(name, str):
        raise ValueError("a layout without name")
    return name


class Attributes(dict):
    """The attributes of a namespace, such as the arguments of the program that trained."""

    def __init__(self):     # whatever is given: attributes come as a state
        super().__init__()


def give_attributes(made, state):
    """As :func:`give_state`, for namespaces, too."""
    if not isinstance(made, Attributes):
        return give_state(made, state)
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise ValueError("attributes that are no dictionary of names")
    made.update(state)
    return True


def _path(*parts):
    if not all(isinstance(part, str) for part in parts):
        raise ValueError("a path that is no text")
    return "/".join(parts).replace("//", "/") if parts else "."


def _device(kind, number=None):
    if not isinstance(kind, str) or not isinstance(number, (int, type(None))):
        raise ValueError("a device that is no text and number")
    return kind if number is None else f"{kind}:{number}"


def _complex(real, imaginary=0.0):
    if not isinstance(real, (int, float)) or not isinstance(imaginary, (int, float)):
        raise ValueError("a complex number of something else than numbers")
    return complex(real, imaginary)


def _range(*ends):
    if not all(isinstance(end, int) for end in ends):
        raise ValueError("a range of something else than whole numbers")
    return range(*ends)


def _packed(state, size, zone):
    """The bytes of a time, and its zone as keyword arguments."""
    if not isinstance(state, bytes) or len(state) != size or not isinstance(zone, (datetime.timezone, type(None))):
        raise ValueError("a time of something else than its bytes and a zone")
    return state, {"tzinfo": zone, "fold": state[0 if size == 6 else 2] >> 7}


def _date(state):
    state, _ = _packed(state, 4, None)
    return datetime.date(state[0] << 8 | state[1], *state[2:])


def _clock(state):
    """Hours, minutes, seconds, millionths of them."""
    return (*state[:3], int.from_bytes(state[3:6], "big"))


def _time(state, zone=None):
    state, more = _packed(state, 6, zone)
    hours, *rest = _clock(state)
    return datetime.time(hours & 127, *rest, **more)


def _datetime(state, zone=None):
    state, more = _packed(state, 10, zone)
    return datetime.datetime(state[0] << 8 | state[1], state[2] & 127, state[3], *_clock(state[4:]), **more)


def _duration(days=0, seconds=0, millionths=0):
    if not all(type(number) is int and abs(number) < 1 << 40 for number in (days, seconds, millionths)):   # pylint: disable=unidiomatic-typecheck
        raise ValueError("a duration of something else than whole numbers")
    try:
        return datetime.timedelta(days, seconds, millionths)
    except OverflowError as error:
        raise ValueError("a duration of too many days") from error


def _zone(offset, name=None):
    if not isinstance(offset, datetime.timedelta) or not isinstance(name, (str, type(None))):
        raise ValueError("a time zone of something else than a duration and a name")
    return datetime.timezone(offset) if name is None else datetime.timezone(offset, name)


_TIMES = {"date": _date, "time": _time, "datetime": _datetime, "timedelta": _duration, "timezone": _zone}


class Table:
    """The names of one file. `make` gives an array for a :class:`Rebuilt`; `forms` has methods
    ``dequantized`` and ``sparse`` for other tensors, or is None where nothing is made."""

    def __init__(self, make, room, forms=None):
        self._make, self._room, self._forms = make, room, forms
        known = {"collections.OrderedDict": self._dict, "collections.Counter": self._dict, "collections.defaultdict": self._default_dict,
                 "collections.deque": self._deque,
                 "torch.Size": self._size, "torch.device": _device, "_codecs.encode": encoded, "numpy.dtype": numpy_dtype,
                 "torch.serialization._get_layout": _layout, "argparse.Namespace": Attributes, "types.SimpleNamespace": Attributes,
                 "torch._utils._rebuild_tensor": self._tensor, "torch._utils._rebuild_tensor_v2": self._tensor_v2,
                 "torch._utils._rebuild_tensor_v3": self._tensor_v3, "torch._utils._rebuild_parameter": self._parameter,
                 "torch._utils._rebuild_qtensor": self._quantized, "torch._utils._rebuild_sparse_tensor": self._sparse,
                 "torch._utils._rebuild_sparse_csr_tensor": self._sparse,
                 "torch._utils._rebuild_parameter_with_state": self._parameter, "torch._tensor._rebuild_from_type_v2": self._of_type}
        for home in ("builtins", "__builtin__"):
            known.update({f"{home}.set": self._set, f"{home}.frozenset": self._set, f"{home}.dict": self._dict, f"{home}.list": self._list,
                          f"{home}.bytes": as_bytes, f"{home}.bytearray": as_bytes, f"{home}.complex": _complex, f"{home}.range": _range,
                          f"{home}.xrange": _range})
        for home in ("numpy.core", "numpy._core"):
            known.update({f"{home}.multiarray.scalar": numpy_number, f"{home}.multiarray._reconstruct": empty_array,
                          f"{home}.numeric._frombuffer": array_from_buffer})
        for home in ("pathlib", "pathlib._local"):
            known.update({f"{home}.{name}": _path for name in ("PosixPath", "PurePosixPath", "WindowsPath", "PureWindowsPath")})
        known.update({f"datetime.{name}": call for name, call in _TIMES.items()})
        self._known = {name: Known(name, call) for name, call in known.items()}
        plain = [f"{home}.{name}" for home in ("builtins", "__builtin__") for name in "int long float bool str unicode tuple".split()]
        for name in (*_TENSORS, *plain, "numpy.ndarray"):
            self._known.setdefault(name, Known(name, value=name))
        for name in (*DTYPES, *OTHER_DTYPES, *_LAYOUTS):
            self._known["torch." + name] = Known("torch." + name, value=DTYPES.get(name) or OTHER_DTYPES.get(name, name))
        for name, dtype in _STORAGES.items():
            for home in ("torch", "torch.cuda", "torch.storage"):
                full = f"{home}.{name}Storage"
                self._known[full] = Known(full, value=(name, dtype))

    def find(self, name):
        return self._known.get(name)

    # Lists that are given again and again cost no more than the file is long.
    def _items(self, given):
        if not isinstance(given, (list, tuple, dict, set)):
            raise ValueError(f"values that are a {type(given).__name__}; accepted: a list")
        self._room -= len(given)
        if self._room < 0:
            raise ValueError("lists that are used again make more values than the file is long")
        return given

    def _dict(self, items=()):
        if isinstance(items, dict):
            return dict(self._items(items))
        made = {}
        for pair in self._items(items):
            key, value = pair
            if not isinstance(key, (str, int, float)):
                raise ValueError(f"a {type(key).__name__} as a key of a list of pairs")
            made[key] = value
        return made

    def _default_dict(self, _kind=None, items=()):
        return self._dict(items)

    def _set(self, items=()):
        if not all(isinstance(item, (str, int, float)) for item in self._items(items)):
            raise ValueError("a set of other things than texts and numbers")
        return set(items)

    def _list(self, items=()):
        return list(self._items(items))

    def _deque(self, items=(), _longest=None):
        return self._list(items)

    @staticmethod
    def _size(sizes=()):
        return tuple(sizes) if isinstance(sizes, list) and len(sizes) < 100 else sizes

    def _tensor(self, storage, offset, shape, strides):
        return self._rebuild(storage, offset, shape, strides, None)

    def _tensor_v2(self, storage, offset, shape, strides, _requires_grad=False, _hooks=None, metadata=None):
        return self._rebuild(storage, offset, shape, strides, None, metadata)

    def _tensor_v3(self, storage, offset, shape, strides, _requires_grad, _hooks, dtype, metadata=None):
        return self._rebuild(storage, offset, shape, strides, dtype, metadata)

    def _rebuild(self, storage, offset, shape, strides, dtype, metadata=None):
        if not isinstance(storage, Storage):
            raise ValueError(f"a tensor whose storage is a {type(storage).__name__}")
        changes = tuple(metadata) if isinstance(metadata, dict) else ()
        if metadata and (not changes or any(metadata[name] is not True or name not in _CHANGES for name in changes)):
            raise ValueError(f"a tensor whose values are to be changed ({', '.join(map(brief, changes[:3]))}); save a clone() of it")
        dtype = storage.dtype if dtype is None else dtype.value if isinstance(dtype, Known) else dtype
        if not is_known(dtype):
            raise ValueError(f"a tensor of dtype {brief(dtype)}, of which there are no arrays; accepted: {', '.join(_dtypes.NAMES)}; "
                             "convert it where PyTorch runs: tensor.float()")
        if not isinstance(shape, tuple) or not isinstance(strides, tuple):
            raise ValueError("a tensor whose shape or strides are no tuple")
        return self._make(Rebuilt(storage, offset, shape, strides, dtype, changes))

    def _quantized(self, storage, offset, shape, strides, how, *_):
        """What :class:`torch_forms` makes of integers that stand for other numbers."""
        if not isinstance(storage, Storage) or not isinstance(shape, tuple) or not isinstance(how, tuple):
            raise ValueError("a quantized tensor without storage, shape or scales")
        if storage.dtype not in PLAIN:
            return self._rebuild(storage, offset, shape, strides, None)
        values = self._make(Rebuilt(storage, offset, shape, strides, PLAIN[storage.dtype]))
        how = tuple(part.value if isinstance(part, Known) else part for part in how)
        return None if self._forms is None else self._forms.dequantized(values, how, storage.dtype)

    def _sparse(self, layout, data):
        if not isinstance(layout, str) or not isinstance(data, tuple) or not 3 <= len(data) <= 4:
            raise ValueError("a sparse tensor without layout or arrays")
        parts = 2 if layout == "torch.sparse_coo" else 3
        if len(data) <= parts:
            raise ValueError("a sparse tensor without shape")
        return None if self._forms is None else self._forms.sparse(layout, data[:parts], data[parts])

    @staticmethod
    def _parameter(data, *_):
        return data

    @staticmethod
    def _of_type(function, kind, arguments, _state=None):
        if not isinstance(function, Known) or function.call is None or not isinstance(arguments, tuple):
            raise ValueError("a tensor that is built by no function")
        if kind not in _TENSORS:
            raise ValueError("a tensor of another class than Tensor and Parameter")
        return function.call(*arguments)
