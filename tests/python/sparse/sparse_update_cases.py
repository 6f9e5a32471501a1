"""Calls of update operators and steps of optimizers with row_sparse gradients, for mxnet 1.9.1 and
for this library alike.

``/work/oracle/bin/python sparse_update_cases.py`` writes what 1.9.1 makes of them to
``../data/sparse_updates_1.9.1.json``.
"""
import itertools
import json
import os

import numpy as np

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "sparse_updates_1.9.1.json")

WEIGHT = np.array([[.1, .2], [.3, .4], [.5, .6], [.7, .8], [.9, 1.]], "float32")
GRAD = np.zeros((5, 2), "float32")
GRAD[1] = .5, -1
GRAD[3] = 2, .25
STATE = np.array([[.1, 0], [.2, .1], [.05, .05], [.1, .1], [.03, .04]], "float32")

_CLIPPED = {"lr": .1, "clip_gradient": .3, "rescale_grad": .5}
_DECAYED = {"lr": .1, "wd": .1}
_ALL = dict(_CLIPPED, wd=.1, lazy_update=False)

# operator: number of states, keyword arguments
OPERATORS = {
    "sgd_update": (0, [_DECAYED, _ALL, dict(_CLIPPED, wd=.1)]),
    "sgd_mom_update": (1, [dict(o, momentum=.9) for o in (_DECAYED, _ALL, dict(_CLIPPED, wd=.1))]),
    "adam_update": (2, [_DECAYED, _ALL, dict(_CLIPPED, wd=.1)]),
    "ftrl_update": (2, [dict(_CLIPPED, wd=.1), {"lr": .1, "lamda1": .001}]),
    "adagrad_update": (1, [_CLIPPED, {"lr": .1}]),
    "group_adagrad_update": (1, [_CLIPPED, {"lr": .1}]),
    "rmsprop_update": (1, [_DECAYED]),
    "signum_update": (1, [dict(_DECAYED, momentum=.9)]),
    "signsgd_update": (0, [_DECAYED]),
    "nag_mom_update": (1, [dict(_DECAYED, momentum=.9)]),
}
STORAGES = ("default", "row_sparse")


def cases():
    """(operator, keyword arguments, storages of weight and states) of all calls."""
    for name, (states, calls) in OPERATORS.items():
        for options, weight, state in itertools.product(calls, STORAGES, STORAGES):
            alike = name in ("adagrad_update", "group_adagrad_update")
            if not states and state != "default" or alike and weight != state:
                continue
            yield name, options, weight, state


def stored(mx, array, storage):
    return mx.nd.cast_storage(mx.nd.array(array), stype=storage)


def call(mx, name, options, weight_storage, state_storage, weight=WEIGHT, grad=GRAD, state=STATE):
    """Weight and states after the call, as NumPy arrays, and their storages."""
    count = OPERATORS[name][0]
    place = {"adagrad_update": mx.nd.sparse, "group_adagrad_update": mx.nd.contrib}.get(name, mx.nd)
    state = state[:, :1] if name == "group_adagrad_update" else state
    weight = stored(mx, weight, weight_storage)
    states = [stored(mx, state * (i + 1), state_storage) for i in range(count)]
    getattr(place, name)(weight, stored(mx, grad, "row_sparse"), *states, out=weight, **options)
    arrays = [weight] + states
    return [mx.nd.cast_storage(a, stype="default").asnumpy() for a in arrays], [a.stype for a in arrays]


# class: keyword arguments of several optimizers
OPTIMIZERS = {
    "SGD": [{}, {"momentum": .9, "wd": .1}, {"momentum": .9, "wd": .1, "lazy_update": False}, {"momentum": .9, "multi_precision": True}],
    "Adam": [{"wd": .1}, {"wd": .1, "lazy_update": False}, {"multi_precision": True}],
    "AdaGrad": [{"clip_gradient": .5}],
    "Ftrl": [{"wd": .1}],
    "GroupAdaGrad": [{}],
    "RMSProp": [{"wd": .1}, {"centered": True}],
    "Signum": [{"wd": .1}],
    "NAG": [{"momentum": .9, "wd": .1}],
    "AdaDelta": [{}],
    "Nadam": [{}],
    "FTML": [{}],
    "DCASGD": [{}],
    "LARS": [{"momentum": .9}],
    "LBSGD": [{"momentum": .9, "wd": .1}, {"momentum": .9, "warmup_strategy": "lars"}],
    "LAMB": [{}],
}


def trainings():
    """(class, keyword arguments, storage of the weight)"""
    for name, calls in OPTIMIZERS.items():
        for options, weight in itertools.product(calls, STORAGES):
            yield name, options, weight


def _storages(state):
    if isinstance(state, (list, tuple)):
        return [s for part in state for s in _storages(part)]
    return [] if state is None else [state.stype]


def train(mx, name, options, storage):
    """The weight after steps by gradients of other rows, and the storages of weight and state."""
    dtype = "float16" if options.get("multi_precision") else "float32"
    weight = mx.nd.cast_storage(mx.nd.array(WEIGHT, dtype=dtype), stype=storage)
    update = mx.optimizer.get_updater(mx.optimizer.create(name, learning_rate=.1, rescale_grad=.5, **options))
    for rows in ([1, 3], [0, 3], [], [1], [0, 1, 2, 3, 4]):
        grad = np.zeros_like(WEIGHT)
        grad[rows] = GRAD[[1, 3]].mean(axis=0) * (1 + np.array(rows)).reshape(-1, 1)
        update(0, mx.nd.cast_storage(mx.nd.array(grad, dtype=dtype), stype="row_sparse"), weight)
    return (mx.nd.cast_storage(weight, stype="default").asnumpy().astype("float32"),
            [weight.stype] + _storages(update.states[0]))


def record():
    import mxnet as mx
    found = {"operators": [], "optimizers": []}
    for case in cases():
        arrays, storages = call(mx, *case)
        found["operators"].append([list(case), [a.tolist() for a in arrays], storages])
    for case in trainings():
        weight, storages = train(mx, *case)
        found["optimizers"].append([list(case), weight.tolist(), storages])
    parts = [f'"{part}": [\n' + ",\n".join(map(json.dumps, rows)) + "\n]" for part, rows in found.items()]
    with open(DATA, "w", encoding="utf-8") as f:
        f.write("{" + ",\n".join(parts) + "}\n")


if __name__ == "__main__":
    record()
