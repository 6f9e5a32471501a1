"""Writes the stub of mxnet._typing, types for checkers alone: arrays of mx.nd or of mx.np,
of which npx.set_np() decides when the program runs, and nodes of graphs."""
import ast

ND, NP = "python/mxnet/ndarray/ndarray.pyi", "python/mxnet/numpy/__init__.pyi"
HEAD = '''# Generated from the stubs of arrays by `./dev docs`; do not edit.
"""Types for checkers alone; a running program has no such module."""
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, overload
from mxnet.gluon.block import HybridBlock
from mxnet.ndarray.ndarray import NDArray
from mxnet.numpy import ndarray
from mxnet.symbol.symbol import Symbol

# What a decorator gives back as it was: a class or a function.
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

class Network(HybridBlock):
    """A network of the model zoo."""
    features: Any
    output: Any

class Array(NDArray, ndarray):
    """An array of mx.nd or of mx.np: of mx.np where npx.set_np() was called."""
'''
RESULTS = '''
class Results(Array, tuple[Any, ...]):
    """What a block gives for several arguments: an array, or a tuple of results."""
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...

class Node:
    """One node of a graph (Symbol.nodes)."""
    index: int
    name: str
    op: str
    attrs: dict[str, str]
    inputs: tuple[tuple[Node, int], ...]
    outputs: tuple[str, ...]
    subgraphs: tuple[Symbol, ...]
    is_auxiliary: bool
    @property
    def is_variable(self) -> bool: ...
    @property
    def params(self) -> dict[str, Any]: ...

class Nodes(tuple[Node, ...]):
    """All nodes of a graph, and its outputs."""
    heads: tuple[tuple[Node, int], ...]
'''


def members(text, name):
    """{member: (annotation, whether a property)} of the class of that name in a stub."""
    cls = next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == name)
    return {node.name: (ast.unparse(node.returns), any(getattr(d, "id", "") == "property" for d in node.decorator_list))
            for node in cls.body if isinstance(node, ast.FunctionDef) and node.returns}


def operator(name, operands):
    """Lines that declare an operator: with an array of one kind the result is of that kind."""
    if not operands:
        return [f"    def {name}(self) -> Array: ..."]
    if name in ("__eq__", "__ne__"):
        return [f"    def {name}(self, other: object) -> Array: ..."]
    if name == "__round__":
        return ["    def __round__(self, n: int = ...) -> Array: ..."]
    if name.startswith("__i") and name != "__invert__":
        return [f"    def {name}(self, other: Any) -> Array: ..."]
    return [line for kind, result in (("Array", "Array"), ("NDArray", "NDArray"), ("ndarray", "ndarray"), ("Any", "Array"))
            for line in ("    @overload", f"    def {name}(self, other: {kind}) -> {result}: ...")]


def paths(texts):
    """Path to contents, from those of the other stubs."""
    lines, one, other = [HEAD.rstrip("\n")], members(texts[ND], "NDArray"), members(texts[NP], "ndarray")
    for name in sorted({*one, *other}):
        kinds = [kind for kind, _ in (one.get(name, ("", 0)), other.get(name, ("", 0)))]
        arrays = any(kind in ("NDArray", "ndarray", "ndarray | Any") for kind in kinds) or name in ("__eq__", "__ne__")
        if name == "__iter__":
            lines.append("    def __iter__(self) -> Iterator[Array]: ...")
        elif not arrays or name in ("as_np_ndarray", "as_nd_ndarray"):
            continue
        elif any(found.get(name, ("", False))[1] for found in (one, other)):
            lines += ["    @property", f"    def {name}(self) -> Array: ..."]
        elif name == "__getitem__":
            lines.append("    def __getitem__(self, key: Any) -> Array: ...")
        elif name.startswith("__"):
            lines += operator(name, name not in ("__neg__", "__pos__", "__abs__", "__invert__"))
        else:
            lines.append(f"    def {name}(self, *args: Any, **kwargs: Any) -> Array: ...")
    return {"python/mxnet/_typing.pyi": "\n".join([*lines, RESULTS])}
