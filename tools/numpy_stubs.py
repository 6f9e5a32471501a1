"""Type stubs of mx.np, mx.npx and their parts, from the functions' signatures; generate_docs.py
writes them.

A parameter's type follows from its name (`NAMES`) or its default. A function gives an array, unless
`RESULTS` knows it.
"""
import importlib
import inspect
import keyword

import numpy as onp

HEAD = """# Generated from the functions' signatures by `./dev docs`; do not edit.
from builtins import bool as _bool
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as _onp
"""
TYPES = """
_Number: TypeAlias = _bool | int | float | _onp.generic
_ArrayLike: TypeAlias = ndarray | _onp.ndarray[Any, Any] | _Number | Sequence[Any]
_DType: TypeAlias = str | type | _onp.dtype[Any] | None
_Axis: TypeAlias = int | Sequence[int] | None
_Shape: TypeAlias = int | Sequence[int]
"""
MODULES = ("numpy", "numpy.random", "numpy.linalg", "numpy_extension", "numpy_extension.random", "numpy_extension.image")

NAMES = {
    "axis": "_Axis", "axes": "Any", "keepdims": "_bool", "dtype": "_DType", "out": "Any", "shape": "_Shape", "newshape": "_Shape",
    "size": "_Shape | None", "ctx": "Any", "device": "Any", "order": "str", "casting": "str", "subok": "_bool", "mode": "str",
    "kind": "str | None", "arrays": "Sequence[_ArrayLike]", "ary": "_ArrayLike", "indices_or_sections": "int | Sequence[int] | ndarray",
    "ddof": "int", "decimals": "int", "num": "int", "endpoint": "_bool", "retstep": "_bool", "N": "int", "M": "int | None", "k": "int",
    "start": "Any", "stop": "Any", "step": "Any", "subscripts": "str", "where": "Any", "initial": "Any", "out_grad": "Any",
}
ARRAYS = frozenset("""a b x x1 x2 y m v arr array object values obj data weight bias gamma beta lhs rhs index indices condition q p
    loc scale low high lam prototype fill_value a_min a_max bins weights xp fp""".split())
RESULTS = {
    "array_split": "list[ndarray]", "split": "list[ndarray]", "hsplit": "list[ndarray]", "vsplit": "list[ndarray]",
    "dsplit": "list[ndarray]", "meshgrid": "list[ndarray]", "broadcast_arrays": "list[ndarray]", "shape": "tuple[int, ...]", "ndim": "int",
    "size": "int", "nonzero": "tuple[ndarray, ...]", "can_cast": "_bool", "result_type": "_onp.dtype[Any]", "finfo": "Any", "iinfo": "Any",
    "unique": "Any", "histogram": "tuple[ndarray, ndarray]", "linspace": "Any", "average": "Any", "may_share_memory": "_bool",
    "shares_memory": "_bool", "set_printoptions": "None", "seed": "None", "shuffle": "None", "save": "None", "savez": "None",
    "load": "Any", "waitall": "None", "set_np": "None", "reset_np": "None", "is_np_array": "_bool", "is_np_shape": "_bool",
    "is_np_default_dtype": "_bool", "num_gpus": "int", "gpu_memory_info": "tuple[int, int]", "cpu": "Any", "gpu": "Any",
    "cpu_pinned": "Any", "current_device": "Any", "current_context": "Any", "divmod": "tuple[ndarray, ndarray]",
    "modf": "tuple[ndarray, ndarray]", "frexp": "tuple[ndarray, ndarray]", "svd": "tuple[ndarray, ndarray, ndarray]",
    "qr": "tuple[ndarray, ndarray]", "eig": "tuple[ndarray, ndarray]", "eigh": "tuple[ndarray, ndarray]",
    "slogdet": "tuple[ndarray, ndarray]", "lstsq": "tuple[ndarray, ndarray, ndarray, ndarray]", "foreach": "Any", "while_loop": "Any",
    "cond": "Any", "fill_diagonal": "None", "diag_indices_from": "tuple[ndarray, ...]", "tril_indices": "tuple[ndarray, ndarray]",
    "triu_indices": "tuple[ndarray, ndarray]", "triu_indices_from": "tuple[ndarray, ndarray]",
    "tril_indices_from": "tuple[ndarray, ndarray]", "unravel_index": "tuple[ndarray, ...]", "topk": "Any", "batch_norm": "Any",
    "layer_norm": "Any", "rnn": "Any", "multibox_target": "Any", "slice_channel": "Any", "array_equal": "_bool", "allclose": "_bool",
    "array_equiv": "_bool", "promote_types": "_onp.dtype[Any]", "min_scalar_type": "_onp.dtype[Any]", "ix_": "tuple[ndarray, ...]",
}
METHODS = {
    "item": "Any", "tolist": "Any", "asnumpy": "_onp.ndarray[Any, Any]", "asscalar": "Any", "backward": "None", "attach_grad": "None",
    "wait_to_read": "None", "wait_to_write": "None", "as_nd_ndarray": "Any", "nonzero": "tuple[ndarray, ...]", "split": "list[ndarray]",
    "topk": "Any", "to_dlpack_for_read": "Any", "to_dlpack_for_write": "Any", "drop_grad": "None",
}
ATTRIBUTES = (("shape", "tuple[int, ...]"), ("dtype", "_onp.dtype[Any]"), ("ndim", "int"), ("size", "int"), ("itemsize", "int"),
              ("T", "ndarray"), ("context", "Any"), ("ctx", "Any"), ("device", "Any"), ("grad", "ndarray | None"), ("stype", "str"))
BINARY = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
SPECIAL = (("__len__(self)", "int"), ("__iter__(self)", "Iterator[ndarray]"), ("__bool__(self)", "_bool"), ("__int__(self)", "int"),
           ("__float__(self)", "float"), ("__index__(self)", "int"), ("__getitem__(self, key: Any)", "ndarray"),
           ("__setitem__(self, key: Any, value: _ArrayLike)", "None"), ("__neg__(self)", "ndarray"), ("__pos__(self)", "ndarray"),
           ("__abs__(self)", "ndarray"), ("__invert__(self)", "ndarray"), ("__contains__(self, value: Any)", "_bool"),
           ("__divmod__(self, other: _ArrayLike)", "tuple[ndarray, ndarray]"))


def parameter_type(parameter):
    """The annotation of a parameter."""
    name, default = parameter.name, parameter.default
    if name in NAMES:
        return NAMES[name]
    if name in ARRAYS:
        return "_ArrayLike" if default is not None else "_ArrayLike | None"
    for kind in (bool, int, float, str):
        if type(default) is kind:
            return {bool: "_bool", int: "int", float: "float", str: "str"}[kind]
    return "Any"


def signature(function, first=()):
    """The parameters of a function, with annotations, behind those of `first`."""
    parts, bare_star = list(first), False
    parameters = list(inspect.signature(function).parameters.values())[len(first):]
    for p in parameters:
        if p.name.startswith("_") or keyword.iskeyword(p.name):
            continue
        if p.kind == p.KEYWORD_ONLY and not bare_star and not any(q.kind == q.VAR_POSITIONAL for q in parameters):
            parts.append("*")
            bare_star = True
        star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
        kind = "Any" if star else parameter_type(p)
        parts.append(f"{star}{p.name}: {kind}" + ("" if star or p.default is p.empty else " = ..."))
        if p.kind == p.POSITIONAL_ONLY and not any(q.kind == q.POSITIONAL_ONLY for q in parameters[parameters.index(p) + 1:]):
            parts.append("/")
    return ", ".join(parts)


def functions_of(module):
    """The public functions of a module, by name."""
    found = {}
    for name in sorted(n for n in dir(module) if not n.startswith("_") and not keyword.iskeyword(n)):
        value = getattr(module, name)
        if callable(value) and not inspect.isclass(value) and not inspect.ismodule(value):
            found[name] = value
    return found


def declaration(name, function):
    """The line that declares a function."""
    try:
        arguments = signature(function)
    except (TypeError, ValueError):      # compiled ones without a text signature
        arguments = "*args: Any, **kwargs: Any"
    return f"def {name}({arguments}) -> {RESULTS.get(name, 'ndarray')}: ..."


def array_class(cls):
    """Lines that declare mx.np.ndarray."""
    lines = ["class ndarray:", "    __array_priority__: float"]
    known = {name for name, _ in ATTRIBUTES}
    for name, kind in ATTRIBUTES:
        lines += ["    @property", f"    def {name}(self) -> {kind}: ..."]
    lines += [f"    def {text} -> {result}: ..." for text, result in SPECIAL]
    for method in BINARY:
        lines += [f"    def __{prefix}{method}__(self, other: _ArrayLike) -> ndarray: ..." for prefix in ("", "r", "i")]
    for method in ("lt", "le", "gt", "ge"):
        lines.append(f"    def __{method}__(self, other: _ArrayLike) -> ndarray: ...")
    for method in ("eq", "ne"):
        lines.append(f"    def __{method}__(self, other: Any) -> ndarray: ...  # type: ignore[override]")
    for name in sorted(n for n in dir(cls) if not n.startswith("_") and n not in known):
        value = inspect.getattr_static(cls, name)
        if isinstance(value, property) or not callable(value):
            lines += ["    @property", f"    def {name}(self) -> Any: ..."]
            continue
        try:
            arguments = signature(value, ("self",))
        except (TypeError, ValueError):
            arguments = "self, *args: Any, **kwargs: Any"
        lines.append(f"    def {name}({arguments}) -> {METHODS.get(name, 'ndarray')}: ...")
    return lines


def stub(module_name):
    """Text of the stub of a module below mxnet."""
    module = importlib.import_module(f"mxnet.{module_name}")
    functions = functions_of(module)
    lines = [HEAD]
    if module_name == "numpy":
        lines += ["from . import linalg as linalg, random as random", ""]
        for name, value in sorted(vars(module).items()):
            if isinstance(value, float) and not name.startswith("_"):
                lines.append(f"{name}: float")
            elif inspect.isclass(value) and issubclass(value, onp.generic) and not name.startswith("_"):
                lines.append(f"{name} = _onp.{value.__name__}")
        lines += [f"{name}: list[_onp.dtype[Any]]" for name in sorted(vars(module)) if name.endswith("_dtypes")]
        lines += ["newaxis: None", "dtype = _onp.dtype", *array_class(module.ndarray)]
    else:
        lines.append(f"from {'.' if module_name.startswith('numpy.') else '..numpy'} import ndarray")
        lines += [f"from . import {part} as {part}" for part in ("random", "image") if module_name == "numpy_extension"]
    lines += TYPES.split("\n")[1:-1] + [declaration(n, f) for n, f in functions.items()]
    text = "\n".join(lines) + "\n"
    if "Iterator[" not in text:
        text = text.replace("import Iterator, Sequence", "import Sequence")
    return text.replace(" | None | None", " | None")


def paths():
    """Path (from the repository's root) to text of every stub."""
    out = {}
    for module in MODULES:
        try:
            source = importlib.import_module(f"mxnet.{module}")
        except ModuleNotFoundError:
            continue
        name = "/__init__.pyi" if hasattr(source, "__path__") else ".pyi"
        out[f"python/mxnet/{module.replace('.', '/')}{name}"] = stub(module)
    return out
