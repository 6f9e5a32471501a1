"""Weights that depend on their names alone, and numbers that programs print of arrays."""
import zlib

import mxnet as mx
import numpy as np
from mxnet import gluon


def fill(net, scale=0.1):
    """Give every weight of a Block values that depend on its name, behind the prefix, alone."""
    for name, weight in net.collect_params().items():
        if weight._data is None or isinstance(weight, gluon.Constant):
            continue
        state = np.random.RandomState(zlib.crc32(name.split("_", 1)[-1].encode()) % 2**31)
        if name.endswith(("running_var", "moving_var", "gamma")):
            values = state.uniform(0.5, 1.5, weight.shape)
        else:
            fan = np.prod(weight.shape[1:]) if len(weight.shape) > 2 else 1
            values = state.normal(0, scale if fan == 1 else fan**-0.5, weight.shape)
        make = mx.np if mx.util.is_np_array() else mx.nd
        weight.set_data(make.array(values, dtype=weight.dtype))


def flat(arrays):
    if isinstance(arrays, (list, tuple)):
        return [x for part in arrays for x in flat(part)]
    return [arrays]


def show(title, *arrays):
    """Print the shapes, mean magnitudes and deviations of arrays; other values as they are."""
    for x in flat(arrays):
        if hasattr(x, "asnumpy"):
            values = x.asnumpy().astype("float64")
            print(title, tuple(x.shape), f"{np.abs(values).mean():.5g} {values.std():.5g}")
        else:
            print(title, x)


def show_gradients(title, net):
    weights = [w for w in net.collect_params().values()
               if w.grad_req != "null" and w._data is not None and w._grad_stype == "default"]
    sums = [np.abs(w.grad().asnumpy().astype("float64")).sum() for w in weights]
    print(title, len(sums), f"{sum(sums):.5g}")
