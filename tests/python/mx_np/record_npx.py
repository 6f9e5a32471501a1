"""Writes tests/python/data/npx.npz: what MXNet 2.0 gives for npx_cases.py, and gradients of the
first results, weighted. Run it with the Python of MXNet 2.0:

    ORACLE/bin/python tests/python/mx_np/record_npx.py
"""
import os

import mxnet as mx
import numpy as onp
from mxnet import np, npx

from npx_cases import CASES

npx.set_np()


def function(name):
    space = npx
    for part in name.split('.'):
        space = getattr(space, part)
    return space


def record(name):
    short, arrays, params = CASES[name]
    arrays = [np.array(a, dtype=a.dtype) for a in arrays]
    out = function(short)(*arrays, **params)
    out = [out] if isinstance(out, np.ndarray) else [out[i] for i in range(len(out))]   # 2.0 has lists of several kinds
    found = {f'{name}|{i}': o.asnumpy() for i, o in enumerate(out)}
    try:
        if arrays[0].dtype != onp.float32 or out[0].dtype != onp.float32:
            return found
        arrays[0].attach_grad()
        with mx.autograd.record(train_mode=False):
            first = function(short)(*arrays, **params)
            first = first if isinstance(first, np.ndarray) else first[0]
            total = (first * np.array(onp.cos(onp.arange(first.size)).reshape(first.shape), dtype='float32')).sum()
        total.backward()
        found[f'{name}|grad'] = arrays[0].grad.asnumpy()
    except Exception as e:   # pylint: disable=broad-except
        print(name, 'has no gradient:', str(e).strip().split('\n')[-1])
    return found


def main():
    found = {}
    for name in CASES:
        try:
            found.update(record(name))
        except Exception as e:   # pylint: disable=broad-except
            print(name, 'fails:', type(e).__name__, str(e).strip().split('\n')[-1])
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'data', 'npx.npz')
    onp.savez_compressed(path, **found)
    print(len(found), 'arrays of', len(CASES), 'cases')


if __name__ == '__main__':
    main()
