"""Tables for tools/numpy_stubs.py: types of parameters by their names, results of functions, and
results that depend on arguments."""

HEAD = """# Generated from the functions' signatures by `./dev docs`; do not edit.
from builtins import bool as _bool, bytes as _bytes
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as _onp

from mxnet.context import Context as _Context
from mxnet.ndarray.ndarray import NDArray as _NDArray
"""
TYPES = """
_Number: TypeAlias = _bool | int | float | _onp.generic
_Host: TypeAlias = _onp.ndarray[Any, _onp.dtype[Any]]
_ArrayLike: TypeAlias = ndarray | _Host | _Number | Sequence[Any]
_DType: TypeAlias = str | type | _onp.dtype[Any] | None
_Axis: TypeAlias = int | Sequence[int] | None
_Shape: TypeAlias = int | Sequence[int]
_Out: TypeAlias = ndarray | tuple[ndarray] | None
_Device: TypeAlias = _Context | str | None
"""
MODULES = (
    "numpy",
    "numpy.random",
    "numpy.linalg",
    "numpy.fft",
    "numpy_extension",
    "numpy_extension.random",
    "numpy_extension.image",
)

NAMES = {
    "axis": "_Axis",
    "axes": "Any",
    "keepdims": "_bool",
    "dtype": "_DType",
    "out": "_Out",
    "shape": "_Shape",
    "newshape": "_Shape",
    "size": "_Shape | None",
    "ctx": "_Device",
    "device": "_Device",
    "order": "str | None",
    "casting": "str",
    "subok": "_bool",
    "mode": "Any",
    "kind": "str | None",
    "arrays": "Sequence[_ArrayLike] | ndarray | None",
    "seq": "Sequence[_ArrayLike] | ndarray",
    "tup": "Sequence[_ArrayLike] | ndarray | None",
    "ary": "_ArrayLike",
    "indices_or_sections": "int | Sequence[int] | ndarray",
    "ddof": "float",
    "correction": "float | None",
    "decimals": "int",
    "num": "int",
    "endpoint": "_bool",
    "retstep": "_bool",
    "N": "int",
    "M": "int | None",
    "k": "int",
    "start": "_ArrayLike",
    "stop": "_ArrayLike | None",
    "step": "_ArrayLike",
    "subscripts": "str",
    "where": "_ArrayLike",
    "initial": "_Number | None",
    "out_grad": "ndarray | None",
    "prepend": "_ArrayLike | None",
    "append": "_ArrayLike | None",
    "to_begin": "_ArrayLike | None",
    "to_end": "_ArrayLike | None",
    "copy": "_bool | None",
    "destination": "int | Sequence[int]",
    "source": "int | Sequence[int]",
    "a1": "_ArrayLike",
    "a2": "_ArrayLike",
    "ar1": "_ArrayLike",
    "ar2": "_ArrayLike",
    "ar": "_ArrayLike",
    "element": "_ArrayLike",
    "test_elements": "_ArrayLike",
    "repeats": "int | Sequence[int] | ndarray",
    "reps": "int | Sequence[int]",
    "shift": "int | Sequence[int]",
    "n": "_ArrayLike | None",
    "min": "_ArrayLike | None",
    "max": "_ArrayLike | None",
    "left": "float | None",
    "right": "Any",
    "period": "float | None",
    "posinf": "float | None",
    "neginf": "float | None",
    "density": "_bool | None",
    "range": "Sequence[Any] | None",
    "optimize": "Any",
    "fill_value": "_ArrayLike",
    "dimensions": "Sequence[int]",
    "method": "str | None",
    "interpolation": "str | None",
    "overwrite_input": "_bool | None",
    "sorter": "_ArrayLike | None",
    "choices": "Sequence[_ArrayLike] | ndarray",
    "new_shape": "_Shape",
    "mean": "_ArrayLike",
    "cov": "_ArrayLike",
    "pvals": "_ArrayLike",
    "df": "_ArrayLike",
    "dfnum": "_ArrayLike",
    "dfden": "_ArrayLike",
    "alpha": "_ArrayLike",
    "s": "Sequence[int] | None",
    "norm": "str | None",
    "array": "_ArrayLike",
    "replace": "_bool",
    "seed": "int | None",
    "hermitian": "_bool",
    "rcond": "Any",
    "rtol": "Any",
}
# Where a name means something else in one module.
NAMES_OF_MODULES = {
    "numpy": {"obj": "Any"},
    "numpy_extension": {"arr": "ndarray | Sequence[ndarray] | dict[str, ndarray]"},
    "numpy.linalg": {"M": "_ArrayLike | None", "A": "_ArrayLike | None", "tol": "Any"},
    "numpy.random": {
        **dict.fromkeys(
            """shape sigma mean lam mu kappa nonc ngood nbad nsample n left mode right dfnum dfden df
            alpha pvals a b p colors""".split(),
            "_ArrayLike",
        ),
        "p": "_ArrayLike | None",
        "high": "_ArrayLike | None",
        "x": "Any",
        "axis": "int",
        "length": "int",
        "n_children": "int",
        "legacy": "_bool",
        "seed": "Any",
    },
}
# Lines that declare what is no function.
EXTRA = {
    "numpy": ["True_: _onp.bool_", "False_: _onp.bool_"],
    "numpy.random": [
        f"{name} = _onp.random.{name}"
        for name in ("SeedSequence", "PCG64", "MT19937", "Philox", "SFC64")
    ],
    "numpy.linalg": ["class LinAlgError(RuntimeError, ValueError): ..."],
}
CLASSES = {"numpy": ("flatiter",), "numpy.random": ("BitGenerator", "Generator", "RandomState")}
# Results of methods of these classes, and of default_rng.
CLASS_RESULTS = {
    "spawn": "list[Generator]",
    "bytes": "_bytes",
    "shuffle": "None",
    "seed": "None",
    "get_state": "dict[str, Any]",
    "set_state": "None",
}
UFUNC = """class _Ufunc:
    nin: int
    nout: int
    nargs: int
    identity: Any
    signature: str | None
    @overload
    def __call__(self, x1: int | float, x2: int | float, out: _Out = ..., where: _ArrayLike = ..., **kwargs: Any) -> Any: ...
    @overload
    def __call__(self, x1: _ArrayLike, x2: _ArrayLike, out: _Out = ..., where: _ArrayLike = ..., **kwargs: Any) -> ndarray: ...
    def reduce(self, array: _ArrayLike, axis: _Axis = ..., dtype: _DType = ..., out: _Out = ..., **kwargs: Any) -> ndarray: ...
    def accumulate(self, array: _ArrayLike, axis: int = ..., dtype: _DType = ..., out: _Out = ...) -> ndarray: ...
    def outer(self, A: _ArrayLike, B: _ArrayLike, **kwargs: Any) -> ndarray: ...
    def reduceat(self, array: _ArrayLike, indices: Any, axis: int = ..., dtype: _DType = ..., out: _Out = ...) -> ndarray: ...
    def at(self, a: ndarray, indices: Any, b: _ArrayLike) -> None: ...
"""
ARRAYS = frozenset(
    """a b x x1 x2 y m v arr array object values obj data weight bias gamma beta lhs rhs index
    indices condition q p loc scale low high lam prototype fill_value a_min a_max bins weights xp fp
    val A M filt""".split()
)
PAIR = "tuple[ndarray, ndarray]"
ALL = "tuple[ndarray, ...]"
DTYPE = "_onp.dtype[Any]"
LIST = "list[ndarray]"
COMPLEX = "_Host"
RESULTS = {
    "array_split": LIST,
    "split": LIST,
    "hsplit": LIST,
    "vsplit": LIST,
    "dsplit": LIST,
    "meshgrid": LIST,
    "broadcast_arrays": LIST,
    "shape": "tuple[int, ...]",
    "ndim": "int",
    "size": "int",
    "nonzero": ALL,
    "can_cast": "_bool",
    "result_type": DTYPE,
    "finfo": "Any",
    "iinfo": "Any",
    "histogram": PAIR,
    "may_share_memory": "_bool",
    "shares_memory": "_bool",
    "set_printoptions": "None",
    "seed": "None",
    "get_state": "dict[str, Any]",
    "set_state": "None",
    "shuffle": "None",
    "save": "None",
    "savez": "None",
    "load": "Any",
    "waitall": "None",
    "set_np": "None",
    "reset_np": "None",
    "is_np_array": "_bool",
    "is_np_shape": "_bool",
    "is_np_default_dtype": "_bool",
    "num_gpus": "int",
    "gpu_memory_info": "tuple[int, int]",
    "cpu": "_Context",
    "gpu": "_Context",
    "cpu_pinned": "_Context",
    "current_device": "_Context",
    "current_context": "_Context",
    "divmod": PAIR,
    "modf": PAIR,
    "frexp": PAIR,
    "svd": "SVDResult",
    "qr": "QRResult",
    "eig": "EigResult",
    "eigh": "EighResult",
    "slogdet": "SlogdetResult",
    "lstsq": "tuple[ndarray, ndarray, ndarray, ndarray]",
    "foreach": "Any",
    "while_loop": "Any",
    "cond": "Any",
    "fill_diagonal": "None",
    "diag_indices_from": ALL,
    "tril_indices": PAIR,
    "triu_indices": PAIR,
    "triu_indices_from": PAIR,
    "tril_indices_from": PAIR,
    "unravel_index": ALL,
    "rnn": "Any",
    "multibox_target": "Any",
    "slice_channel": "Any",
    "array_equal": "_bool",
    "allclose": "_bool",
    "array_equiv": "_bool",
    "promote_types": DTYPE,
    "min_scalar_type": DTYPE,
    "ix_": ALL,
    "unstack": ALL,
    "isdtype": "_bool",
    "broadcast_shapes": "tuple[int, ...]",
    "unique_all": "UniqueAll",
    "unique_counts": "UniqueCounts",
    "unique_inverse": "UniqueInverse",
    "iscomplexobj": "_bool",
    "isrealobj": "_bool",
    "histogram2d": "tuple[ndarray, ndarray, ndarray]",
    "polydiv": PAIR,
    "to_dlpack_for_read": "Any",
    "to_dlpack_for_write": "Any",
    "get_cuda_compute_capability": "int",
    "set_np_default_dtype": "_bool",
    "polyfit": "Any",
    "histogramdd": "tuple[ndarray, list[ndarray]]",
    "copyto": "None",
    "put_along_axis": "None",
    "put": "None",
    "putmask": "None",
    "place": "None",
    "mask_indices": PAIR,
    "savetxt": "None",
    "array_repr": "str",
    "array_str": "str",
    "array2string": "str",
    "get_printoptions": "dict[str, Any]",
    "printoptions": "Any",
    "fromfunction": "Any",
    "vectorize": "Any",
    "diag_indices": ALL,
    "isscalar": "_bool",
    "issubdtype": "_bool",
    "gradient": "Any",
    "default_rng": "Generator",
    "bytes": "_bytes",
    "base_repr": "str",
    "binary_repr": "str",
    "format_float_positional": "str",
    "format_float_scientific": "str",
    "iterable": "_bool",
    "ndenumerate": "Any",
    "poly1d": "Any",
    "seterr": "dict[str, Any]",
    "geterr": "dict[str, Any]",
    "savez_compressed": "None",
    "einsum_path": "tuple[list[Any], str]",
}
# Results of functions of one module.
OF_MODULES = {
    "numpy.linalg": {"cond": "ndarray", "norm": "ndarray"},
    "numpy.fft": dict.fromkeys(
        ("fft", "ifft", "rfft", "ihfft", "fft2", "ifft2", "rfft2", "fftn", "ifftn", "rfftn"),
        COMPLEX,
    ),
}
NO, YES = "Literal[False]", "Literal[True]"
# Functions with several declarations, or with one that the tables above do not give: types of
# arguments, and the result of these.
OVERLOADS = {
    "unique": (
        ({"return_index": NO, "return_inverse": NO, "return_counts": NO}, "ndarray"),
        ({"return_index": YES, "return_inverse": NO, "return_counts": NO}, PAIR),
        ({"return_index": NO, "return_inverse": YES, "return_counts": NO}, PAIR),
        ({"return_index": NO, "return_inverse": NO, "return_counts": YES}, PAIR),
        ({}, ALL),
    ),
    "linspace": (
        ({"retstep": NO}, "ndarray"),
        ({"retstep": YES}, "tuple[ndarray, Any]"),
        ({}, "Any"),
    ),
    "average": (({"returned": NO}, "ndarray"), ({"returned": YES}, PAIR), ({}, "Any")),
    "count_nonzero": (({"axis": "None", "keepdims": NO}, "int"), ({}, "ndarray")),
    "intersect1d": (({"return_indices": NO}, "ndarray"), ({}, "tuple[ndarray, ndarray, ndarray]")),
    "where": (
        ({"x": "None", "y": "None"}, ALL),
        ({"x": "_ArrayLike!", "y": "_ArrayLike!"}, "ndarray"),
    ),
    "svd": (
        ({"compute_uv": YES + "?"}, "SVDResult"),
        ({"compute_uv": NO + "!"}, "ndarray"),
        ({}, "Any"),
    ),
    "qr": (
        ({"mode": 'Literal["reduced", "complete"]'}, "QRResult"),
        ({"mode": 'Literal["r"]!'}, "ndarray"),
        ({}, "Any"),
    ),
    "atleast_1d": (({"arys": "single"}, "ndarray"), ({}, LIST)),
    "atleast_2d": (({"arys": "single"}, "ndarray"), ({}, LIST)),
    "atleast_3d": (({"arys": "single"}, "ndarray"), ({}, LIST)),
    "fftshift": (({"x": "ndarray"}, "ndarray"), ({"x": COMPLEX}, COMPLEX)),
    "ifftshift": (({"x": "ndarray"}, "ndarray"), ({"x": COMPLEX}, COMPLEX)),
}
NAMED = {
    "SVDResult": ("U", "S", "Vh"),
    "QRResult": ("Q", "R"),
    "EigResult": ("eigenvalues", "eigenvectors"),
    "EighResult": ("eigenvalues", "eigenvectors"),
    "SlogdetResult": ("sign", "logabsdet"),
    "UniqueAll": ("values", "indices", "inverse_indices", "counts"),
    "UniqueCounts": ("values", "counts"),
    "UniqueInverse": ("values", "inverse_indices"),
}
# What a number makes of a function of one operand, by what the function makes of integers.
OF_NUMBERS = {"float": "_onp.float64", "same": "Any", "bool": "_onp.bool_"}

METHODS = {
    "item": "Any",
    "tolist": "Any",
    "asnumpy": "_Host",
    "backward": "None",
    "attach_grad": "None",
    "wait_to_read": "None",
    "wait_to_write": "None",
    "as_nd_ndarray": "_NDArray",
    "nonzero": ALL,
    "to_dlpack_for_read": "Any",
    "to_dlpack_for_write": "Any",
    "drop_grad": "None",
    "slice_assign": "None",
    "slice_assign_scalar": "None",
    "fill": "None",
    "put": "None",
    "partition": "None",
    "tofile": "None",
    "dump": "None",
    "dumps": "_bytes",
    "tobytes": "_bytes",
}
ATTRIBUTES = (
    ("shape", "tuple[int, ...]"),
    ("dtype", "_onp.dtype[Any]"),
    ("ndim", "int"),
    ("size", "int"),
    ("itemsize", "int"),
    ("nbytes", "int"),
    ("strides", "tuple[int, ...]"),
    ("T", "ndarray"),
    ("mT", "ndarray"),
    ("real", "ndarray"),
    ("imag", "ndarray"),
    ("context", "_Context"),
    ("ctx", "_Context"),
    ("device", "_Context"),
    ("grad", "ndarray | Any"),
    ("stype", "str"),
)
STARRED = {"shape": "_Shape", "axes": "int | Sequence[int] | None", "args": "Any"}
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
SPECIAL = (
    ("__len__(self)", "int"),
    ("__iter__(self)", "Iterator[ndarray]"),
    ("__bool__(self)", "_bool"),
    ("__int__(self)", "int"),
    ("__float__(self)", "float"),
    ("__complex__(self)", "complex"),
    ("__index__(self)", "int"),
    ("__hash__(self)", "int"),
    ("__getitem__(self, key: Any)", "ndarray"),
    ("__setitem__(self, key: Any, value: _ArrayLike)", "None"),
    ("__neg__(self)", "ndarray"),
    ("__pos__(self)", "ndarray"),
    ("__abs__(self)", "ndarray"),
    ("__invert__(self)", "ndarray"),
    ("__contains__(self, value: Any)", "_bool"),
    ("__round__(self, n: int = ...)", "ndarray"),
    ("__divmod__(self, other: _ArrayLike)", PAIR),
    ("__rdivmod__(self, other: _ArrayLike)", PAIR),
    ("__array__(self, dtype: Any = ..., copy: _bool | None = ...)", "_Host"),
    ("__array_namespace__(self, api_version: str | None = ...)", "Any"),
    (
        "__dlpack__(self, *, stream: Any = ..., max_version: Any = ..., dl_device: Any = ..., "
        "copy: _bool | None = ...)",
        "Any",
    ),
    ("__dlpack_device__(self)", "tuple[int, int]"),
)
