"""Training in a given number of bytes: what to recompute in the backward pass instead of keeping
it.

A compiled training step keeps in its arena what the backward pass will read. :func:`plan` chooses
results that are computed again when they are needed, so that the arena fits a budget at the least
extra time; on a chain of N layers that is the O(sqrt(N)) memory of Chen et al., "Training Deep Nets
with Sublinear Memory Cost" (arXiv 1604.06174). Results are the same to the last bit: random masks
are kept, moving averages are not moved twice.
"""
import ctypes
import numbers
import re

from . import _dtypes
from .base import SymbolHandle, _LIB, c_str_array, check_call, py_str
from .context import Context, current_context

__all__ = ["MemoryPlan", "plan"]

_UNITS = {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}


def _bytes(budget):
    """Bytes from a number, or from text such as "64MB" (units of 1024); 0 for None."""
    if budget is None:
        return 0
    if isinstance(budget, str):
        found = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([KMG]?i?B?)\s*", budget, re.IGNORECASE)
        unit = found and found.group(2).upper().replace("I", "")
        if not found or (unit and not unit.endswith("B")):
            raise ValueError(f"[memory] budget {budget!r}; accepted: bytes, text such as '64MB' or "
                             f"'1.5 GB', or None for the least possible")
        budget = int(float(found.group(1)) * _UNITS[unit])
    if isinstance(budget, bool) or int(budget) != budget or budget <= 0:
        raise ValueError(f"[memory] budget {budget!r}; accepted: a positive number of bytes, text "
                         f"such as '64MB', or None for the least possible")
    return int(budget)


class MemoryPlan:
    """What :func:`plan` chose.

    Attributes
    ----------
    symbol : Symbol
        A copy of the planned graph with ``__force_mirroring__`` on every node that is recomputed.
    planned_bytes, lower_bound_bytes : int
        The arena of a training step, and the most that lives in it at one moment.
    kept_bytes : int
        The arena when nothing is recomputed.
    extra_flops, extra_seconds : float
        Estimates of what is computed twice.
    step_flops, step_seconds : float
        Estimates of a whole step without recomputation.
    recomputed : list of str
        Names of the recomputed nodes, in the order of the forward pass.

    Examples
    --------
    >>> x = mx.sym.var('data')
    >>> for _ in range(6):
    ...     x = mx.sym.exp(mx.sym.FullyConnected(x, num_hidden=64, flatten=False))
    >>> plan = mx.memory.plan(x, data=(256, 64))
    >>> plan.kept_bytes, plan.planned_bytes, len(plan.recomputed)
    (458752, 327680, 4)
    >>> executor = plan.apply().simple_bind(mx.cpu(), data=(256, 64))
    """

    def __init__(self, symbol, block, num_bytes, costs, recomputed):
        self.symbol, self._block, self.recomputed = symbol, block, recomputed
        self.planned_bytes, self.lower_bound_bytes, self.kept_bytes = num_bytes
        self.step_seconds, self.step_flops, self.extra_seconds, self.extra_flops = costs[0] * 1e-9, costs[1], costs[2] * 1e-9, costs[3]

    def apply(self):
        """Make training use the plan.

        Of a symbol: returns the marked copy, for ``bind`` and ``simple_bind``. Of a block: compiles
        it (as ``hybridize`` with its present flags) with ``planned_bytes`` as the limit of every
        training step, for any input shape, and returns it; a step that cannot fit raises
        ValueError.
        """
        if self._block is None:
            return self.symbol
        block = self._block
        flags = {k: v for k, v in dict(block._flags).items() if k != "memory_budget"}
        block.hybridize(True, **flags)
        block._flags.append(("memory_budget", self.planned_bytes))
        return block

    def __repr__(self):
        return (f"MemoryPlan({self.planned_bytes / 2**20:.1f} MiB of "
                f"{self.kept_bytes / 2**20:.1f}, {len(self.recomputed)} nodes recomputed, "
                f"{100 * self.extra_seconds / max(self.step_seconds, 1e-12):.1f} % more time)")


def plan(symbol_or_block, budget=None, ctx=None, type_dict=None, grad_names=None, **shapes):
    """Choose what a training step recomputes.

    Parameters
    ----------
    symbol_or_block : Symbol or HybridBlock
        What is trained. A block has to be initialized.
    budget : int, str or None
        Bytes that the arena of a step may have (activations, gradients and temporaries inside the
        graph; not parameters, their gradients or outputs), as a number or text such as ``"64MB"``.
        None: the least possible.
    ctx : Context
        Default: the current context.
    type_dict : dict of str to dtype
        Where inputs are not float32.
    grad_names : list of str
        Arguments whose gradients are wanted. Default: of a symbol all, of a block its Parameters
        with a gradient.
    **shapes
        Shapes of the inputs by name; of a block ``data`` (or ``data0``, ``data1``...).

    Returns
    -------
    MemoryPlan

    Raises
    ------
    ValueError
        When no choice fits (the message names the least possible bytes) or shapes cannot be
        inferred.

    Examples
    --------
    >>> net = mx.gluon.nn.HybridSequential()
    >>> for _ in range(4):
    ...     net.add(mx.gluon.nn.Conv2D(8, 3, padding=1), mx.gluon.nn.Activation('relu'))
    >>> net.initialize()
    >>> net.hybridize(static_alloc=True, static_shape=True)
    >>> found = mx.memory.plan(net, data=(4, 3, 16, 16))
    >>> found.planned_bytes <= found.kept_bytes
    True
    """
    from .gluon.block import Block
    from .gluon.hybrid_block import HybridBlock
    from .symbol import Symbol
    limit = _bytes(budget)
    ctx = current_context() if ctx is None else Context(ctx)
    block, symbol = None, symbol_or_block
    types = {k: _dtypes.number(v) for k, v in (type_dict or {}).items()}
    for name, shape in shapes.items():
        if not isinstance(shape, (tuple, list)) or not all(isinstance(d, numbers.Integral) for d in shape):
            raise TypeError(f"[memory] {name}={shape!r}; accepted: a shape, as a tuple of integers")
    if isinstance(symbol_or_block, HybridBlock):
        block = symbol_or_block
        symbol, grad_names, shapes, types = _of_block(block, ctx, grad_names, shapes, types)
    elif isinstance(symbol_or_block, Block) or not isinstance(symbol_or_block, Symbol):
        raise TypeError(f"[memory] got a {type(symbol_or_block).__name__}; a Symbol or a HybridBlock is accepted")
    names, dims, index = list(shapes), [], [0]
    for name in names:
        dims.extend(int(d) for d in shapes[name])
        index.append(len(dims))
    grad_names = list(grad_names or [])
    handle, num_bytes, costs = SymbolHandle(), (ctypes.c_uint64 * 3)(), (ctypes.c_double * 4)()
    count, out_names = ctypes.c_uint(), ctypes.POINTER(ctypes.c_char_p)()
    check_call(_LIB.MXSymbolPlanMemory(
        symbol.handle, ctypes.c_int(ctx.device_typeid), ctypes.c_int(ctx.device_id), ctypes.c_uint(len(names)), c_str_array(names),
        (ctypes.c_int64 * len(dims))(*dims), (ctypes.c_uint * len(index))(*index), ctypes.c_uint(len(types)), c_str_array(list(types)),
        (ctypes.c_int * len(types))(*types.values()), ctypes.c_uint(len(grad_names)), c_str_array(grad_names), ctypes.c_uint64(limit),
        ctypes.byref(handle), num_bytes, costs, ctypes.byref(count), ctypes.byref(out_names)))
    return MemoryPlan(Symbol(handle), block, list(num_bytes), list(costs), [py_str(out_names[i]) for i in range(count.value)])


def _of_block(block, ctx, grad_names, shapes, types):
    """(graph, names of Parameters with gradients, shapes, dtypes) of a block for inputs of these
    shapes."""
    from . import nd
    given = list(shapes)
    expected = ["data"] if len(given) == 1 else [f"data{i}" for i in range(len(given))]
    if not given or given != expected:
        raise ValueError(f"[memory] shapes of {given or 'nothing'} given for the inputs of a "
                         f"block; accepted: data=..., or data0=..., data1=... for several")
    arrays = [nd.zeros(shapes[n], ctx=ctx, dtype=_dtypes.NAMES[types.get(n, 0)]) for n in given]
    if block._has_deferred():
        block._finish_deferred(*arrays)
    _, symbol = block._get_graph(*arrays)
    used = set(symbol.list_inputs())
    params = [p for p in block.collect_params().values() if p.name in used]
    shapes = {n: s for n, s in shapes.items() if n in used}
    shapes.update({p.name: p.shape for p in params})
    types = dict(types, **{p.name: _dtypes.number(p.dtype) for p in params})
    types = {n: t for n, t in types.items() if n in used}
    if grad_names is None:
        arguments = set(symbol.list_arguments())
        grad_names = [p.name for p in params if p.grad_req != "null" and p.name in arguments]
    return symbol, grad_names, shapes, types
