#!/usr/bin/env python3
"""A short training whose loss curve and costs are printed as JSON. variants.py runs it under
different exported variables."""
import json
import time

import numpy as np

import mxnet as mx
from mxnet import autograd, gluon
from mxnet import storage

import digits


def main():
    rng = digits.seed()
    train_x, train_y, _, _ = digits.load()
    net = digits.network()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.05, "momentum": 0.9})
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    curve = []
    started = time.time()
    pushed = mx.engine.stats()["pushed"]
    for begin in range(0, 20 * 64, 64):
        x = mx.nd.array(digits.augment(train_x[begin:begin + 64], rng))
        with autograd.record():
            loss = loss_of(net(x), mx.nd.array(train_y[begin:begin + 64]))
        loss.backward()
        trainer.step(64)
        curve.append(float(loss.mean().asscalar()))
    mx.nd.waitall()
    stats = storage.stats(mx.cpu(0))
    print(json.dumps({"curve": np.round(curve, 6).tolist(), "seconds": time.time() - started, "peak": stats.peak_bytes,
                      "pushed": mx.engine.stats()["pushed"] - pushed, "pool": storage.pool_name(mx.cpu(0))}))


if __name__ == "__main__":
    main()
