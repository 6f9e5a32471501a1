"""The table that Block.summary prints."""
import importlib

from ..ndarray import NDArray
from ..symbol import SymbolBase

_WIDTH = 80
_ROW = '{:>20}  {:>42} {:>15}'


def _shapes(value):
    """The shapes of NDArrays in nested lists, as text; the outermost list has no brackets."""
    def walk(v):
        if isinstance(v, NDArray):
            return v.shape
        return [walk(x) for x in v] if isinstance(v, (list, tuple)) else v
    text = str(walk(value))
    return text[1:-1] if isinstance(value, (list, tuple)) else text


def _holds_symbols(value):
    return any(map(_holds_symbols, value)) if isinstance(value, (list, tuple)) else isinstance(value, SymbolBase)


def _count(params):
    total = trainable = 0
    for p in params:
        size = p.data(p.list_ctx()[0]).size if p.stype == 'default' else int(_product(p.shape))
        total += size
        trainable += size if p.grad_req != 'null' else 0
    return total, trainable


def _product(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def print_summary(net, inputs):
    """Run `inputs` through `net` with a hook on every block, then print. Compiled blocks run
    operator by operator meanwhile, because their children do not run one by one otherwise."""
    rows, handles, seen, number = [], [], {}, [0]
    totals = dict(total=0, trainable=0, shared=0)

    def watch(block):
        if block._is_sequence:
            return

        def hook(blk, _, outputs):
            if _holds_symbols(outputs):    # shapes of parameters are being inferred
                return
            number[0] += 1
            params = blk._reg_params.values()
            total, trainable = _count(params)
            totals['total'] += total
            totals['trainable'] += trainable
            totals['shared'] += _count([p for p in params if id(p) in seen])[0]
            seen.update((id(p), p) for p in params)
            rows.append((f'{type(blk).__name__}-{number[0]}', _shapes(outputs), total))
        handles.append(block.register_forward_hook(hook))

    try:
        net.apply(watch)
        importlib.import_module('mxnet.gluon._trace').run_plainly(net, inputs, {})    # which stands on this module
    finally:
        for handle in handles:
            handle.detach()
    print('-' * _WIDTH)
    print(_ROW.format('Layer (type)', 'Output Shape', 'Param #'))
    print('=' * _WIDTH)
    print(_ROW.format('Input', _shapes(list(inputs)), 0))
    for row in rows:
        print(_ROW.format(*row))
    print('=' * _WIDTH)
    print('Parameters in forward computation graph, duplicate included')
    print(f'   Total params: {totals["total"]}')
    print(f'   Trainable params: {totals["trainable"]}')
    print(f'   Non-trainable params: {totals["total"] - totals["trainable"]}')
    print(f'Shared params in forward computation graph: {totals["shared"]}')
    print(f'Unique parameters in model: {_count(seen.values())[0]}')
    print('-' * _WIDTH)
